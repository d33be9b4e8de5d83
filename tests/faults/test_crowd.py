"""Many senders at once, and slow ones: memory stays bounded, nobody is shut out, nothing is lost."""

import asyncio
import gzip
import json
import resource
import socket
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.faults.programs import (
    FIRST,
    PATIENCE_S,
    Identity,
    Server,
    account_of,
    assert_stored_once,
    event_line,
    other_line,
    serving,
)

MEGABYTE = 1_000_000
ROOM = 64 * 1024 * 1024
EVENTS = 50
NOISE = b"".join(other_line(number) for number in range(MEGABYTE // len(other_line(1))))
HEAD = "POST /ingest?server=maps HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n"


def body_of(number: int) -> bytes:
    """A megabyte of lines, the first of which are events of this sender's own."""
    events = b"".join(event_line(f"sender-{number}", each) for each in range(EVENTS))
    return events + NOISE[: MEGABYTE - len(events)].rpartition(b"\n")[0] + b"\n"


def events_of(senders: int) -> set[Identity]:
    times = [
        (FIRST + timedelta(milliseconds=each))
        .replace(tzinfo=None)
        .isoformat(timespec="milliseconds")
        for each in range(EVENTS)
    ]
    return {(f"sender-{number}", f"{time}Z") for number in range(senders) for time in times}


async def deliver(port: int, number: int, statuses: Counter[int]) -> None:
    """Send one body until it is taken, waiting as long as the service asks for."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            body = body_of(number)
            writer.write(HEAD.format(len(body), "").encode())
            for start in range(0, len(body), 64 * 1024):
                writer.write(body[start : start + 64 * 1024])
                await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        finally:
            writer.close()
        status = int(head.split()[1])
        statuses[status] += 1
        if status != 503:
            return
        waits = [line for line in head.lower().splitlines() if line.startswith("retry-after:")]
        await asyncio.sleep(float(waits[0].split(":")[1]))


async def crowd(port: int, senders: int) -> Counter[int]:
    statuses: Counter[int] = Counter()
    await asyncio.gather(*(deliver(port, number, statuses) for number in range(senders)))
    return statuses


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize(
    "senders", [pytest.param(100, id="100"), pytest.param(1000, id="1000", marks=pytest.mark.slow)]
)
def test_a_crowd_of_large_bodies_fits_into_little_memory(
    senders: int, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """However many send a megabyte at once, the service grows by 64 MiB at most, and takes all."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(few, min(most, 4 * senders)), most))
    with serving(Server(make_url("sqlite"), tmp_path / "serve.log")) as server:
        idle = server.memory("VmRSS")
        statuses = asyncio.run(crowd(server.port, senders))
        peak = server.memory("VmHWM")

        assert set(statuses) <= {200, 503}
        assert statuses[200] == senders
        assert peak - idle < ROOM, f"{(peak - idle) / 2**20:.0f} MiB"
        assert_stored_once(server, events_of(senders))
        assert account_of(server.url)["accepted"] == senders * EVENTS


def test_senders_that_stop_in_the_middle_give_up_their_room(
    make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """They hold all the room there is, and get 503; who sends properly waits and is let in."""
    settings: dict[str, object] = {"body_wait_s": 2, "held_bytes": 3 * MEGABYTE}
    server = Server(make_url("sqlite"), tmp_path / "serve.log", settings)
    with serving(server), ExitStack() as opened:
        slow = []
        for _ in range(3):
            connection = opened.enter_context(
                closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S))
            )
            connection.sendall(HEAD.format(MEGABYTE, "").encode() + b"{")
            slow.append(connection)
        taken = until_taken(server, event_line("proper", 1))
        answers = [connection.recv(64 * 1024) for connection in slow]

        assert taken["accepted"] == 1
        assert [answer.split()[1] for answer in answers] == [b"503"] * 3
        assert all(b"retry-after" in answer.lower() for answer in answers)
        assert all(b"too slowly" in answer for answer in answers)
        assert_stored_once(server, {("proper", "2026-10-05T00:00:00.001Z")})


def until_taken(server: Server, body: bytes) -> dict[str, int]:
    """The receipt of a body, sent again while 503 is answered."""
    while True:
        answer = httpx.post(f"{server.url}/ingest?server=maps", content=body, timeout=PATIENCE_S)
        if answer.status_code != 503:
            receipt: dict[str, int] = answer.json()
            return receipt


def test_pages_are_answered_while_all_room_is_taken(
    make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """Questions have no body, so they wait for none."""
    settings: dict[str, object] = {"body_wait_s": 60, "held_bytes": MEGABYTE}
    server = Server(make_url("sqlite"), tmp_path / "serve.log", settings)
    with (
        serving(server),
        closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)) as slow,
    ):
        slow.sendall(HEAD.format(MEGABYTE, "").encode() + b"{")
        pages = [httpx.get(server.url + path) for path in ("/", "/api/v1/health")]

    assert [page.status_code for page in pages] == [200, 200]


def plain(body: bytes) -> bytes:
    return HEAD.format(len(body), "").encode() + body


def zipped(body: bytes) -> bytes:
    data = gzip.compress(body)
    return HEAD.format(len(data), "Content-Encoding: gzip\r\n").encode() + data


def chunked(body: bytes) -> bytes:
    head = HEAD.replace("Content-Length: {}", "Transfer-Encoding: chunked").format("")
    chunks = [body[start : start + 3000] for start in range(0, len(body), 3000)]
    return head.encode() + b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in [*chunks, b""])


def test_a_body_arrives_whole_however_it_is_cut(
    make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """In one piece or in many, of known length or not, also one after the other on a connection."""
    server = Server(make_url("sqlite"), tmp_path / "serve.log")
    with (
        serving(server),
        closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)) as connection,
    ):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = connection.makefile("rb")
        for write in (plain, zipped, chunked):
            for lines in (1, 40, 2_000, 20_000):
                request = write(b"".join(other_line(each) for each in range(lines)))
                for piece in (len(request) // 100 + 1, len(request)):
                    for start in range(0, len(request), piece):
                        connection.sendall(request[start : start + piece])
                    assert answers.readline().split()[1] == b"200"
                    length = 0
                    while (header := answers.readline().lower()) != b"\r\n":
                        if header.startswith(b"content-length:"):
                            length = int(header.split(b":")[1])
                    assert json.loads(answers.read(length))["received"] == lines
