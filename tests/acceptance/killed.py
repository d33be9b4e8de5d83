"""
Run `lastcall` and kill this very process with signal 9 at a chosen point.

    python -m tests.acceptance.killed POINT ARGUMENTS…

POINT is `write:N` (when the n-th INSERT, UPDATE, DELETE or COPY begins, so after the one before it),
`before-commit:N` or `after-commit:N` (of the n-th transaction that wrote), or `answer:N` (when the
n-th answer is about to be given). The product knows nothing of this: the database drivers and the two
entry points are watched from outside.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg

from service import app as app_module
from service import cli, intake, serving


class Fuse:
    """Kills the process when its point is reached."""

    def __init__(self, point: str) -> None:
        word, number = point.split(":")
        self.word, self.left = word, int(number)
        self.wrote = False

    def burn(self, word: str) -> None:
        if word == self.word:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def install(fuse: Fuse) -> None:
    def begins(statement: Any) -> None:
        if str(statement).lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "COPY")):
            fuse.wrote = True
            fuse.burn("write")

    class Connection(sqlite3.Connection):
        def commit(self) -> None:
            commits(super().commit)

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connecting(*args, **{"factory": Connection, **kwargs})
        opened.set_trace_callback(begins)
        return opened

    connecting: Any = sqlite3.connect
    for module in (sqlite3, sqlite3.dbapi2):
        setattr(module, "connect", connect)  # noqa: B010 - a function of another module

    for name in ("execute", "executemany", "copy"):
        watch_psycopg(name, begins)
    committing = psycopg.Connection.commit
    setattr(  # noqa: B010 - a method of another module's class
        psycopg.Connection, "commit", lambda self: commits(partial(committing, self))
    )

    def commits(commit: Callable[[], None]) -> None:
        wrote, fuse.wrote = fuse.wrote, False
        if wrote:
            fuse.burn("before-commit")
        commit()
        if wrote:
            fuse.burn("after-commit")

    read, create = intake.read, app_module.create_app

    def reading(*args: Any, **kwargs: Any) -> Any:
        done = read(*args, **kwargs)
        fuse.burn("answer")
        return done

    def creating(*args: Any, **kwargs: Any) -> Any:
        return Watched(create(*args, **kwargs), fuse)

    intake.read = reading
    setattr(serving, "create_app", creating)  # noqa: B010 - a name that serving does not export


def watch_psycopg(name: str, begins: Any) -> None:
    original = getattr(psycopg.Cursor, name)

    def called(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        begins(query)
        return original(self, query, *args, **kwargs)

    setattr(psycopg.Cursor, name, called)


class Watched:
    """An ASGI app whose answers to `/ingest` burn the fuse."""

    def __init__(self, app: Any, fuse: Fuse) -> None:
        self.app, self.fuse = app, fuse

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start" and scope["path"] == "/ingest":
                self.fuse.burn("answer")
            await send(message)

        await self.app(scope, receive, sending)


if __name__ == "__main__":
    install(Fuse(sys.argv[1]))
    sys.argv = ["lastcall", *sys.argv[2:]]
    cli.main()
