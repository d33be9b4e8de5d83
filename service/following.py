"""`lastcall follow`: looks at files again and again until it is told to stop, or once."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from service import names, terminal
from service.errors import BadParameter, Busy
from service.events import Receipt
from service.follower import Follower
from service.ingest.follow import find
from service.ingest.sources import STDIN
from service.pipeline import Pipeline
from service.settings import Settings
from service.store.driver import Writer

LOOK_S: Final = 1.0
"""Between two looks at files that do not grow faster than they are read."""
PATIENCE_S: Final = 30.0
"""The longest wait between two tries to reach a database that is away."""


@dataclass(slots=True)
class Followed:
    """What came of it: the account, and why some files could not be read at the end."""

    receipt: Receipt = field(default_factory=Receipt)
    unread: list[str] = field(default_factory=list)


class Stop:
    """Whether somebody asked to stop; a signal handler may ask."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[None] = SimpleQueue()  # an Event could lock out its own handler

    def ask(self, *_: object) -> None:
        """Ask to stop as soon as the piece in hand is stored."""
        self._asked.put(None)

    def asked(self) -> bool:
        """Whether somebody asked."""
        return not self._asked.empty()

    def wait(self, seconds: float) -> None:
        """Wait so long, or until somebody asks."""
        try:
            self._asked.get(timeout=seconds)
        except Empty:
            return
        self._asked.put(None)


def follow(
    paths: Sequence[str],
    settings: Settings,
    *,
    server: str | None,
    source: str,
    once: bool,
) -> Followed:
    """
    Store what the files hold and, unless *once*, what is written to them from then on, until SIGTERM
    or SIGINT. A pattern may match files that come later.

    Raises:
        BadParameter: A path is standard input or a folder.
        Busy, StorageUnavailable: The database cannot be used at the start or, with *once*, later.
    """
    _refuse(paths)
    stop = Stop()
    with ExitStack() as opened:
        opened.enter_context(_asking(stop))
        writer = opened.enter_context(closing(Writer(settings.database_url)))
        writer.ensure_ready(settings.auto_upgrade)
        pipeline = opened.enter_context(closing(Pipeline(writer, settings)))
        follower = Follower(
            paths,
            pipeline,
            writer,
            settings,
            server=names.feed_name("--server", server),
            source=names.feed_name("--source", source) or "files",
            stopping=stop.asked,
        )
        opened.enter_context(closing(follower))
        if once:
            while follower.look() and not stop.asked():
                pass
        else:
            _keep_looking(follower, paths, stop)
        missing = [f"{path}: no file matches" for path in paths if once and not find([path])]
        return Followed(follower.receipt, [*missing, *follower.unreadable.values()])


def _keep_looking(follower: Follower, paths: Sequence[str], stop: Stop) -> None:
    """Look until asked to stop; a database that is away is waited for."""
    import structlog  # with rich, 0.1 s that a single look does not need

    from service import log

    terminal.say(f"following {', '.join(paths)}; stop with Ctrl-C")
    for path in paths:
        if not find([path]):
            terminal.say(f"no file yet at {path}; waiting")
    log.configure()
    logger, writing = structlog.get_logger(), log.Outages().writing
    said: dict[str, str] = {}
    wait = LOOK_S
    while not stop.asked():
        try:
            with writing.watching():
                more = follower.look()
        except Busy:
            stop.wait(wait)
            wait = min(2 * wait, PATIENCE_S)
            continue
        wait = LOOK_S
        for path, detail in follower.unreadable.items():
            if path not in said:
                logger.error("a file cannot be read", path=path, detail=detail)
        for path in said.keys() - follower.unreadable.keys():
            logger.warning("a file is read again, or gone", path=path)
        said = follower.unreadable
        if not more:
            stop.wait(LOOK_S)


def _refuse(paths: Sequence[str]) -> None:
    """Raise BadParameter for what cannot be followed."""
    for path in paths:
        if path == STDIN:
            raise BadParameter("PATH", "standard input has no place to go on from; use `ingest -`")
        if Path(path).is_dir():
            raise BadParameter(
                "PATH", f"{path} is a folder; name its files, such as {path.rstrip('/')}/*.log"
            )


@contextmanager
def _asking(stop: Stop) -> Iterator[None]:
    """Take SIGTERM and SIGINT for the wish to stop."""
    before = [(each, signal.signal(each, stop.ask)) for each in (signal.SIGTERM, signal.SIGINT)]
    try:
        yield
    finally:
        for each, handler in before:
            signal.signal(each, handler)
