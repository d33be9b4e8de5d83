"""Serve the app: where it may listen, and what is said at start."""

import gc
import resource
import socket

import uvicorn

from service import log, terminal
from service.access import open_access
from service.app import create_app
from service.connection import Connection
from service.doctor import refuse_shared_names
from service.errors import UnsafeSetup
from service.settings import Settings, is_every_address, is_loopback

BACKLOG = 2_048
"""Connections that may wait to be taken, as uvicorn has it."""


def refuse_open_doors(settings: Settings, *, asks: bool) -> None:
    """
    Refuse to listen where others can come, while nobody is asked for a token.

    Raises:
        UnsafeSetup: The address is not a loopback one, and no token was ever made.
    """
    if not is_loopback(settings.host) and not asks:
        raise UnsafeSetup(
            f"will not listen on {settings.host}: there is no token yet, so anybody who reaches the port could "
            "read and write everything. Make one first (`lastcall tokens add NAME --scope admin`), or listen on "
            "127.0.0.1"
        )


def listen(host: str, port: int) -> socket.socket:
    """
    Open the listening socket.

    Raises:
        UnsafeSetup: The address is taken, or none of this machine's.
    """
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


def said_at_start(settings: Settings, port: int, *, asks: bool) -> list[str]:
    """Where the service is, who may come in, and by which names it may be asked for."""
    everywhere = is_every_address(settings.host)
    # what all addresses are written as is none that anybody can ask for
    host = ("::1" if settings.host == "::" else "127.0.0.1") if everywhere else settings.host
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{settings.root_path}"
    said = [
        f"Last Call listens on {url}"
        + (" and this machine's other addresses" if everywhere else ""),
        "  closed: it asks everybody for a token; log in at " + url + "/login"
        if asks
        else "  open: there are no tokens yet, so every program of this machine may read and write "
        "everything; `lastcall tokens add NAME --scope admin` makes the first one, and closes it",
    ]
    if everywhere and not settings.allowed_hosts.strip(" ,"):
        said.append(
            "  asked for by any other name or address it refuses, until LASTCALL_ALLOWED_HOSTS names those by which "
            "others ask for it, such as LASTCALL_ALLOWED_HOSTS=calls.example,192.0.2.1"
        )
    said.append(f"  names {url}/   API {url}/docs   log lines to {url}/ingest")
    return [*said, "  stop with Ctrl-C"]


def serve(settings: Settings) -> None:
    """Serve until stopped. The database is made ready first, so a problem shows before the port opens."""
    refuse_shared_names()
    _open_many_files()
    with open_access(settings) as access:
        asks = access.asks()
    refuse_open_doors(settings, asks=asks)
    app = create_app(settings)
    opened = listen(settings.host, settings.port)
    for line in said_at_start(settings, opened.getsockname()[1], asks=asks):
        terminal.say(line)
    log.configure()
    # What is there by now stays. Left out of the collector's count, it no longer lets the refuse of
    # thousands of connections pile up before a full collection is thought worth its while.
    gc.collect()
    gc.freeze()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        backlog=BACKLOG,
        proxy_headers=True,
        forwarded_allow_ips=settings.forwarded_allow_ips,
        log_config=None,
        log_level="warning",
        access_log=False,
    )
    with opened:
        uvicorn.Server(config).run(sockets=[opened])
