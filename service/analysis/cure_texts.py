"""The sentences of a cure: why, in numbers, and what to do."""

from collections.abc import Iterator

from service.analysis.evidence import Evidence, Word
from service.analysis.fixed_times import LEAST_DAYS, WINDOW_MIN, Pattern, clock
from service.analysis.known.behaviour import SAID

_GAPS_MATTER = ("hard_coded", "refresh", "cannot_tell")
NAME_IT = (
    "Log the client's name with each call: `clientInfo.name` of `initialize`, kept for the session, or "
    'since 2026-07-28 `_meta["io.modelcontextprotocol/clientInfo"]` of the request. Until then the '
    "principal, address or User-Agent says who to ask."
)
EXCLUDE_IT = "Exclude it, so that its calls stand beside those of real callers; whoever runs it can drop the name."
LOG_LISTINGS = (
    "Log each tools/list (message `Tools listed`) with its session and client: then it shows whether the "
    "list is fetched again."
)
THEN_LOOK = (
    "Other sessions of this client list the tools, these do not: they hold an old copy, or have the name written "
    "down. If the calls go on after a refresh, look for it in scripts and permission lists."
)
LOG_SESSIONS = (
    "Log the session id with calls and listings: then it shows whether whoever calls the name has "
    "fetched the list since."
)
WAIT = (
    "Wait, and log greetings (`Client initialized`) and listings: a session that is logged from its "
    "greeting on, or calls on three days without a listing, tell a name that is written down from a list "
    "that was kept."
)
STOP_LISTING = (
    "Take the name out of the server's list of tools first, or read the list again "
    "(`lastcall catalogue snapshot`): while it is listed, whoever fetches the list may call it."
)
RECONNECT = "Have it reconnected or restarted, so that it fetches the list again."


def count(number: int, noun: str) -> str:
    """
    A number with its noun.

    >>> count(1, "call"), count(1200, "session")
    ('1 call', '1,200 sessions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


Said = tuple[str, str]
"""What a sentence is about, and the sentence."""


def why(evidence: Evidence, word: Word, times: Pattern) -> tuple[str, ...]:
    """What the word rests on: how many calls, then what decided, then all else."""
    counted, *found = _calls(evidence)
    if word not in ("unattributed", "exclude", "gateway"):
        found += _lists(evidence)
    found += _times(evidence, word, times)
    found += _product(evidence, word)
    found += _gaps(evidence, word)
    decides = _decides(evidence, word, times)
    found.sort(key=lambda said: said[0] != decides)  # the others stay in their order
    return tuple(sentence for _, sentence in (counted, *found))


def _decides(evidence: Evidence, word: Word, times: Pattern) -> str:
    """What the sentence is about that the word rests on; the rules are those of `cures.word_of`."""
    kind = None if evidence.known is None else evidence.known.kind
    if word == "unattributed":
        return "nobody"
    if word == "cannot_tell" and evidence.still_listed:
        return "still_listed"
    if word in ("exclude", "gateway", "rescan") or kind == "script":
        return "product"
    if word == "hard_coded" and times.is_evidence:
        return "times"
    if word == "client_fault":
        return "again"
    if word == "refresh" and evidence.old == max(evidence.again, evidence.old, evidence.unlisted):
        return "old"
    known = evidence.is_product and evidence.expected.does != "unknown"
    if word == "refresh" and evidence.expected.does == "unreliable" and evidence.episodes:
        return "told"  # what its own log shows goes before reports that disagree
    return "product" if word == "refresh" and known else "listings"


def _calls(evidence: Evidence) -> Iterator[Said]:
    among = [count(evidence.calls, "call"), f"on {count(len(evidence.days), 'day')}"]
    among += [f"from {count(evidence.callers, 'caller')}"] if evidence.callers else []
    among += [f"in {count(evidence.sessions, 'session')}"] if evidence.sessions else []
    yield "calls", " ".join(among) + "."
    if evidence.client is None:
        yield "nobody", "None of them names a client, nor does the greeting of its session."
    if evidence.via:
        yield (
            "via",
            (
                f"It comes through {' and '.join(evidence.via)}, which passes its name on and may have to be "
                "restarted with it."
            ),
        )


def _lists(evidence: Evidence) -> Iterator[Said]:
    """What its calls have to do with listings."""
    if evidence.still_listed:
        yield "still_listed", "The server listed the name still when its tools were read last."
    if evidence.again:
        yield (
            "again",
            (
                f"{count(evidence.again, 'call')} in {count(evidence.again_sessions, 'session')} came after "
                "a listing of the same session that was fetched since the name is known as retired."
            ),
        )
    if evidence.old:
        yield (
            "old",
            (
                f"{count(evidence.old, 'call')} came in sessions whose last listing is from before the name "
                "was known as retired."
            ),
        )
    if evidence.whole:
        yield (
            "whole",
            (
                f"{count(evidence.whole, 'call')} came in sessions that were logged from their greeting on, "
                "without a listing before the call."
            ),
        )
    if evidence.cut:
        yield (
            "cut",
            (
                f"{count(evidence.cut, 'call')} came in sessions without a listing whose greeting was not "
                "logged: they may have listed before the log began."
            ),
        )
    if evidence.lone:
        yield (
            "lone",
            f"{count(evidence.lone, 'call')} came without a session, so that no listing belongs to them.",
        )
    if evidence.listings == 0 and evidence.others_listings:
        others = count(evidence.others_listings, "listing")
        yield "listings", f"It never lists, though {others} of others are logged."
    elif evidence.listings == 0 and not (evidence.again or evidence.old):
        yield (
            "listings",
            "The log holds no listing of anybody: no evidence of who fetches the list.",
        )
    elif evidence.unlisted and evidence.listings:
        since = evidence.listings_since
        yield (
            "listings",
            (
                f"It listed {evidence.listings:,} times in this range, "
                f"{since:,} of them since the name is known as retired."
            ),
        )
    if evidence.episodes and evidence.answered == evidence.episodes:
        yield "told", _listed_again(evidence)
    elif evidence.episodes:
        yield (
            "told",
            (
                f"It was sent {count(evidence.notifications, 'notification')} in "
                f"{count(evidence.episodes, 'episode')}, and answered {evidence.answered:,} of these with a "
                "listing."
            ),
        )


def _listed_again(evidence: Evidence) -> str:
    """Of a client that listed after each notification."""
    number = evidence.notifications
    every = "the notification" if number == 1 else f"all {count(number, 'notification')}"
    without = evidence.whole + evidence.cut
    calls = (
        f"; {count(without, 'call')} came in sessions that fetched no list first" if without else ""
    )
    return f"Your log: it listed again after {every}{calls}."


def _times(evidence: Evidence, word: Word, times: Pattern) -> Iterator[Said]:
    if times.is_evidence:
        start = clock(times.start)
        end = clock((times.start + WINDOW_MIN) % 1440)
        yield (
            "times",
            (
                f"On {times.inside:,} of {count(times.days, 'day')} all of its calls lie between {start} and "
                f"{end} ({evidence.tz}), at about the same time each day: a timed job."
            ),
        )
    elif word in ("hard_coded", "cannot_tell"):
        if times.days < LEAST_DAYS:
            days = count(times.days, "day")
            few = f"{days} with calls: too few for fixed times to show; the clock is no evidence."
            yield "times", few
        else:
            yield (
                "times",
                (
                    f"At most {times.inside:,} of {count(times.days, 'day')} lie within one half-hour: no "
                    "evidence of fixed times."
                ),
            )


def _product(evidence: Evidence, word: Word) -> Iterator[Said]:
    """What is known of it, and whether this log agrees."""
    known, expected = evidence.known, evidence.expected
    if known is None:
        if evidence.client is not None:
            yield "product", "Nothing is known of this client in general."
        return
    says = {
        "probe": "nobody waits for its answers",
        "gateway": "a gateway, which puts its own name in place of its users'",
        "script": "a script, by your own file of known clients",
        "sdk_default": "the name of a library, not of a product",
    }.get(known.kind)
    product = f"{known.product[0].upper()}{known.product[1:]}"
    if says is None and expected.does == "unreliable":
        yield "product", f"Public reports disagree whether {product} lists again."
    else:
        yield "product", f"{product}: {says or SAID[expected.does]}."
    if known.kind in ("product", "sdk_default") and not expected.compared:
        version = "no version" if evidence.version is None else f"version {evidence.version}"
        yield (
            "reports",
            f"It sends {version}, which compares with none, so that every report stands here.",
        )
    disagree = {
        "client_fault": expected.does in ("honours", "cached"),
        "hard_coded": known.kind == "product" and expected.does != "unknown",
    }
    if disagree.get(word):
        yield "reports", "This log shows otherwise, and goes first."
    if word == "rescan" and evidence.again:
        yield (
            "reports",
            "That it fetches the list, and calls the old name all the same, agrees with that.",
        )


def _gaps(evidence: Evidence, word: Word) -> Iterator[Said]:
    if evidence.gap_hours and word in _GAPS_MATTER:
        yield (
            "gaps",
            (
                f"The server was not heard in {evidence.gap_hours:,} of {evidence.hours:,} hours: a listing in "
                "them is not known."
            ),
        )


def do(evidence: Evidence, word: Word) -> str:
    """What to do, in one or two sentences."""
    known = evidence.known
    refresh = RECONNECT if known is None or known.refresh is None else known.refresh
    if word == "unattributed":
        return NAME_IT
    if word == "exclude":
        return EXCLUDE_IT
    if word == "gateway":
        product = "the gateway" if known is None else known.product
        asked = (
            f"Ask who runs {product} to pass the client's own name on, or to look its callers up."
        )
        return f"{asked} It has to fetch the list again, too."
    if word == "hard_coded":
        return _edit(evidence)
    if word == "client_fault":
        makers = (
            known.vendor or known.product if known is not None and evidence.is_product else None
        )
        meanwhile = "" if known is None or known.refresh is None else f" Meanwhile: {known.refresh}"
        return (
            f"Look for the name in prompts, instruction files and permission lists. Where it is in none, "
            f"file a fault with {makers or 'its makers'}: it fetched a list without the name and "
            f"called it; the events behind this row show it.{meanwhile}"
        )
    if word == "cannot_tell":
        return _telling(evidence)
    if word == "refresh" and evidence.expected.does == "honours" and not evidence.notifications:
        return f"{refresh} It lists again when told, and no notification was sent to it: send one."
    return refresh


def _edit(evidence: Evidence) -> str:
    where = f"Find the script, workflow, prompt or permission entry that names `{evidence.name}`"
    if evidence.replaced_by:
        return (
            f"{where}, and write {' or '.join(f'`{name}`' for name in evidence.replaced_by)} there."
        )
    known = "nothing replaces it" if evidence.no_replacement else "nothing is known to replace it"
    return f"{where}, and take it out: {known}."


def _telling(evidence: Evidence) -> str:
    """What would tell."""
    if evidence.still_listed:
        return STOP_LISTING
    if evidence.listings + evidence.others_listings == 0:
        return LOG_LISTINGS
    if evidence.listings_since and evidence.whole > evidence.cut + evidence.lone:
        known = evidence.known
        refresh = RECONNECT if known is None or known.refresh is None else known.refresh
        return f"{refresh} {THEN_LOOK}"
    return LOG_SESSIONS if evidence.listings else WAIT
