"""Serve the app: where it may listen, and what is said at start."""

import gc
import ipaddress
import resource
import socket

import uvicorn

from service import log, terminal
from service.app import create_app
from service.connection import Connection
from service.doctor import refuse_shared_names
from service.errors import UnsafeSetup
from service.settings import Settings

BACKLOG = 2_048
"""Connections that may wait to be taken, as uvicorn has it."""


def is_loopback(host: str) -> bool:
    """Whether every address that `host` stands for is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """
    Open the listening socket.

    Raises:
        UnsafeSetup: the address is not a loopback one, or is taken.
    """
    if not is_loopback(host):
        raise UnsafeSetup(
            f"will not listen on {host}: there are no tokens yet, so anybody who reaches the port could "
            "read and write everything. Use 127.0.0.1, and put a reverse proxy with authentication in front"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Told that it is TCP, asyncio sends each piece of an answer at once, and not 40 ms later.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen(
            BACKLOG
        )  # before the address is said: whoever connects at once waits, and gets in
    except OSError as error:
        opened.close()
        raise UnsafeSetup(
            f"cannot listen on {host}:{port}: {error.strerror}. Choose another with --port, or 0 for a free one"
        ) from error
    return opened


def _open_many_files() -> None:
    """Let a connection be open for every sender, where the system would allow fewer at first."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * BACKLOG if most == resource.RLIM_INFINITY else min(2 * BACKLOG, most)
    if few != resource.RLIM_INFINITY and few < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def serve(settings: Settings) -> None:
    """Serve until stopped. The database is made ready first, so a problem shows before the port opens."""
    refuse_shared_names()
    _open_many_files()
    app = create_app(settings)
    opened = listen(settings.host, settings.port)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{opened.getsockname()[1]}"
    terminal.say(f"Last Call listens on {url} (this machine only: there are no tokens yet)")
    terminal.say(f"  names {url}/   API {url}/docs   log lines to {url}/ingest")
    terminal.say("  stop with Ctrl-C")
    log.configure()
    # What is there by now stays. Left out of the collector's count, it no longer lets the refuse of
    # thousands of connections pile up before a full collection is thought worth its while.
    gc.collect()
    gc.freeze()
    config = uvicorn.Config(
        app,
        http=Connection,
        backlog=BACKLOG,
        log_config=None,
        log_level="warning",
        access_log=False,
    )
    with opened:
        uvicorn.Server(config).run(sockets=[opened])
