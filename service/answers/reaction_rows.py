"""The shapes that reactions are answered in. All frozen."""

from dataclasses import dataclass
from typing import Literal

from service.answers.query import ABSENT, Absent

Channel = Literal["logged", "unknown"]
Era = Literal["stateful", "stateless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """
    What became of some episodes, and how sure that is.

    `labels` counts each label; they add up to the episodes. `measured` is how many a share can be of:
    those with a channel, as far as is known, and with their refresh window over. `refreshed` of them listed
    within it: `share`, from `share_low` to `share_high` (Wilson, 95 %), None where it would be of one
    episode or of one client only.

    `background_listed` of `background_n` times the clients listed in as long a window when nobody had
    told them (`background_share`): at earlier connects where their hello triggered the notification, else
    at the same hour 7, 14, … days earlier. `excess` is (share - background) / (1 - background), with
    its 95 % interval (MOVER), which may reach beyond 1: who listed because of the notification.

    `median_s` is the Kaplan–Meier median of the seconds from the first notification to the listing, over
    `watched` episodes; None where it is not reached, `median_low_s` and `median_high_s` its 95 % interval.
    """

    labels: dict[str, int]
    measured: int
    refreshed: int
    share: float | None
    share_low: float | None
    share_high: float | None
    background_n: int
    background_listed: int
    background_share: float | None
    excess: float | None
    excess_low: float | None
    excess_high: float | None
    watched: int
    median_s: float | None
    median_low_s: float | None
    median_high_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRow:
    """
    What one client of one server did after notifications; `client` is None for those whose session
    names no client. With `by=version` or `by=era` it is what one version of it did (None: none is known),
    or its sessions of one era of the protocol: `stateful` before 2026-07-28, `stateless` since.

    Notifications to a session with gaps of at most the refresh window are one of the `episodes`;
    those without a session are taken as one session of their client. It is `answered` by a listing of
    the session from the first notification to the refresh window after the last, else `ignored`.
    `stale_before` and `stale_after` are the client's stale calls in the compare window up to the first
    notification, and after the last, summed over its episodes. `change_pct` is None when nothing came
    before.

    `outcome` describes and does not judge: before and after, not adjusted, not a cause. `answered_…`,
    `ignored_…` or `mixed_…` (all, none, some of the episodes), then `…_reduced`, `…_no_effect` or
    `…_increased`; `no_stale_calls` where none came before or after; `too_early` while the windows of
    an episode are not over.

    `in_flight` are stale calls at most 120 s after a notification, which may have been on their way.
    `listed_elsewhere` is of how many episodes that their session did not answer the client listed in
    another session before its next episode: at a connect, most likely. `versions` is how many versions
    the episodes are of, `eras` what is known of their protocol. `channel` is `logged` where the server's
    log tells which sessions had a stream open that could carry a notification, else `unknown`.
    """

    server: str
    client: str | None
    notifications: int
    episodes: int
    answered: int
    ignored: int
    stale_before: int
    stale_after: int
    change_pct: float | None
    outcome: str
    in_flight: int
    listed_elsewhere: int
    versions: int
    eras: tuple[str, ...]
    channel: Channel
    shares: Shares
    version: str | Absent | None = ABSENT
    era: str | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionTotals:
    """All episodes of the question together. `clients` leaves those out that name none."""

    clients: int
    notifications: int
    episodes: int
    in_flight: int
    listed_elsewhere: int
    shares: Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRow:
    """
    One step of the time to listing (Kaplan–Meier): after `after_s` seconds `listed` (0 to 1) had listed,
    from `listed_low` to `listed_high` (95 %, log-log Greenwood; None where all had). `at_risk` were
    watched until then and had not listed before; `events` of them listed then.
    """

    after_s: float
    at_risk: int
    events: int
    listed: float
    listed_low: float | None
    listed_high: float | None
