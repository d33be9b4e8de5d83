"""
What would make one client stop calling one retired name: evidence in, a word and a sentence to do out.

What the log shows goes before what is known of a product in general, and numbers stand beside each
word. The order of the rules and their thresholds: docs/adr/0018-cures.md.
"""

from dataclasses import dataclass

from service.analysis import cure_texts as texts
from service.analysis.evidence import Evidence, Word
from service.analysis.fixed_times import Pattern, pattern

LEAST_DAYS_UNSEEN = 3
"""On so many days a client must call without ever listing before that says something, where no greeting
of its sessions was logged: one long connection spans a day or two."""


@dataclass(frozen=True, slots=True)
class Cure:
    """
    What would help. `why` are sentences with numbers from the log; `reports` is what is known of the
    product, a sentence a report, and `refs` where it was reported.
    """

    word: Word
    why: tuple[str, ...]
    do: str
    reports: tuple[str, ...]
    refs: tuple[str, ...]


def cure(evidence: Evidence) -> Cure:
    """The word for one client, name and server, and what it rests on."""
    times = pattern(evidence.days)
    word = word_of(evidence, times)
    expected = evidence.expected
    return Cure(
        word=word,
        why=texts.why(evidence, word, times),
        do=texts.do(evidence, word),
        reports=tuple(row.sentence() for row in expected.rows),
        refs=expected.refs,
    )


def word_of(evidence: Evidence, times: Pattern) -> Word:
    """The first rule that holds."""
    kind = None if evidence.known is None else evidence.known.kind
    frozen = evidence.expected.does == "frozen"
    if evidence.client is None:
        return "unattributed"
    if kind == "probe":
        return "exclude"
    if kind == "gateway":
        return "gateway"
    if kind == "script":
        return "hard_coded"
    if evidence.still_listed:  # whoever fetches the list gets the name again
        return "cannot_tell"
    if frozen:  # whatever it fetches and whenever it calls, only a rescan renews its copy
        return "rescan"
    if times.is_evidence:
        return "hard_coded"
    most = max(evidence.again, evidence.old, evidence.unlisted)
    if evidence.again == most:
        return "client_fault"
    if evidence.old == most:
        return "refresh"
    return _without_listing(evidence)


def _without_listing(evidence: Evidence) -> Word:
    """The word where most calls come without a listing of their session before them."""
    keeps = evidence.is_product and evidence.expected.does != "unknown"
    if keeps:  # a known product has a list, and is known for how it gets another
        return "refresh"
    if evidence.listings + evidence.others_listings == 0:
        return "cannot_tell"
    if evidence.listings:
        # that others of its users listed since says nothing of those who call: they may hold a copy from
        # an earlier connection, or have the name written down
        return "cannot_tell" if evidence.listings_since else "refresh"
    # without a greeting in the log its connection, and a listing, may be older than the log
    seen = evidence.whole > 0 or len(evidence.days) >= LEAST_DAYS_UNSEEN
    return "hard_coded" if seen else "cannot_tell"
