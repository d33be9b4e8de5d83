"""What to write to whoever runs a client that calls retired names: short, plain, and safe Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from service.analysis.cure_texts import RECONNECT, count
from service.analysis.evidence import WORDS, Word
from service.analysis.known import Client
from service.analysis.markdown import code

NAMES_SHOWN = 30
"""Names that a message lists; the table of it has all."""
VERSIONS_SHOWN = 4
GAPS_SHOWN = 3
RECENT_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One retired name that the client calls. Times are local texts; `since` is when it was retired."""

    server: str
    name: str
    word: Word
    replaced_by: tuple[str, ...]
    """What to call instead, none of which is retired itself."""
    no_replacement: bool
    """Whether it is said that nothing replaces it."""
    last_release: str | None
    since: str | None
    """None where nobody knows, or it was called before."""
    told: bool
    """Whether somebody told when it was retired; else that is its first known call."""
    calls: int
    days: int
    last: str
    fixed: str | None
    """When it was said to be fixed, where calls came since."""
    gone: bool = False
    """Whether it stopped or probably stopped, by all that was heard since."""
    recent: bool = False
    """Whether the last call was in the last 30 days."""
    asked: str | None = None
    """When somebody wrote to them before, where they went on for long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """How much of the range a server's log covers; `gaps` are the last, as local texts."""

    server: str
    covered_hours: int
    hours: int
    gaps: tuple[tuple[str, str], ...]
    gap_count: int
    began: str | None = None
    """When the log began, where that is within the range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that a message is about; `called` in the order in which it is listed."""

    client: str
    known: Client | None
    via: tuple[str, ...]
    versions: tuple[str, ...]
    called: tuple[Called, ...]
    heard: tuple[Heard, ...]
    first_day: str
    last_day: str
    last: str
    """The last call of all."""
    tz: str


def recipient(case: Case) -> str:
    """
    Whom the message is for.

    >>> case = Case(client="x", known=None, via=(), versions=(), called=(), heard=(), first_day="",
    ...             last_day="", last="", tz="UTC")
    >>> recipient(case)
    'Whoever runs x'
    """
    known = case.known
    if known is not None and known.kind == "product":
        maker = f", by {known.vendor}" if known.vendor else ""
        return f"Whoever uses {known.product}{maker} ({case.client})"
    return f"Whoever runs {case.client}"


def subject(case: Case) -> str:
    """A line for its head; plain text, without line breaks."""
    client = " ".join(case.client.split())
    servers = ", ".join(dict.fromkeys(each.server for each in case.called))
    return f"{client} called retired tools of {servers}" if case.called else client


def message(case: Case) -> str:
    """The message, as Markdown. It asks for nothing where nothing is called."""
    if not case.called:
        return (
            f"Hello,\n\nbetween {case.first_day} and {case.last_day} ({case.tz}) we saw no call by "
            f"{code(case.client)} to a retired tool that would need doing anything about. Thank you!\n"
        )
    live = [each for each in case.called if not each.gone]
    gone = [each for each in case.called if each.gone]
    parts = [_opening(case), *_lists(live, gone), *_advice(case, live), *_caveats(case.heard)]
    parts.append("Thank you!")
    return "Hello,\n\n" + "\n\n".join(parts) + "\n"


def _opening(case: Case) -> str:
    servers = list(dict.fromkeys(each.server for each in case.called))
    where = " and ".join([", ".join(map(code, servers[:-1])), code(servers[-1])][-len(servers) :])
    calls = sum(each.calls for each in case.called)
    one = len(servers) == 1
    tools = (
        f"{count(len(case.called), 'retired tool')} of our {'server' if one else 'servers'} {where}"
    )
    span = f"between {case.first_day} and {case.last_day} ({case.tz})"
    recent = sum(each.recent for each in case.called)
    lately = (
        f", {_of_them(recent, len(case.called))} in the last {RECENT_DAYS} days" if recent else ""
    )
    lines = [
        f"your MCP client {code(case.client)} called {tools} {span}{lately}.",
        f"We counted {count(calls, 'such call')}, the last on {case.last}.",
    ]
    if case.versions:
        kept = ", ".join(map(code, case.versions[:VERSIONS_SHOWN]))
        more = len(case.versions) - VERSIONS_SHOWN
        word = "version" if len(case.versions) == 1 else "versions"
        lines.append(f"They came from {word} {kept}{f' and {more} more' if more > 0 else ''}.")
    if case.via:
        via = " and ".join(map(code, case.via))
        lines.append(f"It comes through {via}, which may have to be restarted, too.")
    return " ".join(lines)


def _of_them(number: int, every: int) -> str:
    """
    So many of them.

    >>> _of_them(1, 1), _of_them(2, 2), _of_them(2, 7)
    ('also', 'all of them', '2 of them')
    """
    if number < every:
        return f"{number:,} of them"
    return "also" if every == 1 else "all of them"


def _lists(live: Sequence[Called], gone: Sequence[Called]) -> Iterator[str]:
    """What was called; apart what was not called since, as it seems for good."""
    if live:
        yield _list(live[:NAMES_SHOWN], len(live) - NAMES_SHOWN)
    kept = gone[: max(NAMES_SHOWN - len(live), 0)]
    if gone:
        yield f"Not seen since, so that it may have stopped:\n\n{_list(kept, len(gone) - len(kept))}"


def _list(shown: Sequence[Called], more: int) -> str:
    lines = [_line(each) for each in shown]
    return "\n".join([*lines, *([f"- and {count(more, 'name')} more"] if more > 0 else [])])


def _line(each: Called) -> str:
    release = f"last in release {code(each.last_release)}" if each.last_release else ""
    since = (
        f"{'retired' if each.told else 'known as retired'} since {each.since}" if each.since else ""
    )
    when = f"since {each.fixed}, when we took it for fixed" if each.fixed else ""
    when = when or f"on {count(each.days, 'day')}"
    calls = f"{count(each.calls, 'call')} {when}, the last on {each.last}"
    if each.asked:
        calls += f", although we wrote about it on {each.asked}"
    use = "Nothing replaces it." if each.no_replacement else "No replacement is named."
    if each.replaced_by:
        use = f"Please call {' or '.join(map(code, each.replaced_by[:NAMES_SHOWN]))} instead."
    facts = "; ".join(filter(None, (since, release)))
    return f"- {code(each.name)}{f' ({facts})' if facts else ''}: {calls}. {use}"


def _advice(case: Case, called: Sequence[Called]) -> Iterator[str]:
    """How to stop, a paragraph for each kind of cure of what is *called* still."""
    words = [word for word in WORDS if any(each.word == word for each in called)]
    if not words:
        yield "As far as we can tell it has stopped. If it calls again, we shall write again."
    for word in words:
        mine = [each for each in called if each.word == word]
        about = f"About {_few([each.name for each in mine])}: " if len(words) > 1 else ""
        yield about + _what_to_do(word, case.known, mine)


def _few(names: Sequence[str]) -> str:
    kept = [code(name) for name in names[:5]]
    if len(names) > len(kept):
        kept.append(f"{len(names) - len(kept)} more")
    return " and ".join([", ".join(kept[:-1]), kept[-1]][-len(kept) :])


def _what_to_do(word: Word, known: Client | None, called: Sequence[Called]) -> str:
    refresh = None if known is None else known.refresh
    if word == "gateway":
        return (
            "Its name is a gateway's. Please let the gateway fetch the list of tools again, and tell "
            "those who call through it. If it can pass their own names on, please let it do so."
        )
    if word == "exclude":
        return "It looks like a probe or a test. If so, please drop the names there, or tell us, and we leave it out."
    if word == "hard_coded":
        return (
            "The names seem to be written down somewhere. Please look in scripts, workflows, prompts "
            f"and permission entries, and {_edit(called)}."
        )
    if word == "rescan":
        return f"Your client keeps a copy of the list of tools until somebody renews it. {refresh or RECONNECT}"
    if word == "client_fault":
        meanwhile = f" This may help: {refresh}" if refresh else ""
        maker = None if known is None or known.kind != "product" else known.vendor or known.product
        return (
            "Your client fetched a list without the old names, and called them all the same. Please "
            "look for them in prompts, instruction files and permission lists. If they are in none, it "
            f"is likely a fault of the client, worth telling {maker or 'its makers'}.{meanwhile}"
        )
    if word == "refresh":
        return f"It seems that your client goes on with a list of tools from before. {refresh or RECONNECT}"
    return (
        "We cannot tell whether the names are written down somewhere or come from an old list. Please "
        f"look in scripts, prompts and permission entries. If they are in none: {refresh or RECONNECT}"
    )


def _edit(called: Sequence[Called]) -> str:
    """What to do about names that are written down."""
    one = len(called) == 1
    if all(each.replaced_by for each in called):
        return f"write the new {'name' if one else 'names'} there"
    if any(each.replaced_by for each in called):
        return "write the new names there; take out those that have none"
    return f"take {'it' if one else 'them'} out"


def _caveats(heard: Iterable[Heard]) -> Iterator[str]:
    """What the log did not cover."""
    parts = []
    for each in heard:
        if not each.gap_count and not each.began:
            continue
        gaps = [f"from {start} to {end}" for start, end in each.gaps]
        before = each.gap_count - len(gaps)
        more = f", and {count(before, 'gap')} before" if before else ""
        why = [f"it began on {each.began}"] if each.began else []
        why += [f"nothing {', '.join(gaps)}{more}"] if gaps else []
        parts.append(
            f"that of {code(each.server)} covers {each.covered_hours:,} of {each.hours:,} hours "
            f"({'; '.join(why)})"
        )
    if parts:
        told = "; ".join(parts)
        yield f"There may be more calls, since our log does not cover all of that time: {told}."
