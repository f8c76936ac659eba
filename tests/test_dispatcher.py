"""Several processes behind one port, which end together, and connections whose requests have not come."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from _browser import free_port
from _waits import alive, next_round, soon, wait_for
from bokeh.util.token import generate_jwt_token, generate_session_id, get_session_id

from mklviz.errors import MklvizError
from mklviz.limits import PROCESSES
from mklviz.server import connections
from mklviz.server.connections import LONGEST_REQUEST, Acceptor, is_whole, party
from mklviz.server.front import MOST_BY_ITSELF, check_processes, destination, processes_for
from mklviz.views.links import WORKER, name_of_this_process, process_of

PATIENCE = 90.0


def head(target: str, *lines: str) -> bytes:
    return "\r\n".join((f"GET {target} HTTP/1.1", "Host: localhost", *lines, "", "")).encode()


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whatever_asks_for_a_page_again_finds_its_process(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(signed: bool) -> str:
        return name_of_this_process(lambda: generate_session_id(secret_key=b"secret", signed=signed))

    monkeypatch.setenv(WORKER, str(place))
    monkeypatch.setenv(PROCESSES, "3")
    name = name_of_this_process(lambda: generate_session_id(signed=False))
    for asked in (f"?race={name}", f"?follow={name}&pace=0", f"/alive?session={name}"):
        assert destination(head(f"/explorer{asked}"), 3) == place
    for signed in (False, True):
        token = generate_jwt_token(mine(signed), secret_key=b"secret", signed=signed, extra_payload={"headers": {}})
        assert destination(head("/explorer/ws", f"Sec-WebSocket-Protocol: bokeh, {token}"), 3) == place
    assert process_of(mine(signed=True), 3) == place


@pytest.mark.parametrize(
    "request_head",
    [
        head("/explorer"),
        head("/static/js/bokeh.min.js?v=1"),
        head("/explorer/ws", "Sec-WebSocket-Protocol: bokeh, no-token"),
        head("/explorer/ws", "Sec-WebSocket-Protocol: bokeh, W10="),
        head("/explorer/ws", f"Sec-WebSocket-Protocol: bokeh, {encoded('[' * 40_000)}"),
        head("/explorer/ws", "Sec-WebSocket-Protocol: bokeh, " + encoded(r'{"session_id": "\ud800"}')),
        head("/explorer/ws", "Sec-WebSocket-Protocol: \xff\xfe"),
        head("//[explorer?race"),
        head("/explorer?" + "&=%zz" * 1000),
        b"",
        b"nonsense",
        b"GET  HTTP/1.1\r\n\r\n",
    ],
)
def test_anything_else_goes_to_any(request_head: bytes) -> None:
    assert destination(request_head, 2) is None


def test_a_class_gets_a_process_per_core_and_nobody_too_many() -> None:
    assert processes_for(classroom=False) == 1
    assert processes_for(classroom=True) == min(len(os.sched_getaffinity(0)), MOST_BY_ITSELF)
    for wrong in (0, 1000):
        with pytest.raises(MklvizError, match="--num-procs takes a number from 1 to 32"):
            check_processes(wrong)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = [sys.executable, "-m", "mklviz", "serve", "--no-show", "--num-procs", "2", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    yield process, port
    process.kill()
    process.wait()


def desks(process: subprocess.Popen[bytes]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


@pytest.mark.full
def test_the_first_page_of_a_fresh_class_gets_its_scripts_from_every_process(
    served: tuple[subprocess.Popen[bytes], int],
) -> None:
    _, port = served
    page = first_page(port).decode()
    scripts = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
    assert len(scripts) >= 8
    for script in (*scripts, "static/extensions/panel-material-ui/panel-material-ui.bundle.js"):
        for _ in range(4):  # some of each process
            with urllib.request.urlopen(f"http://localhost:{port}/{script}", timeout=PATIENCE) as answer:
                assert answer.status == 200


@pytest.mark.full
def test_a_page_is_served_by_the_process_that_built_it_and_one_that_breaks_down_is_replaced(
    served: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, port = served
    places = set()
    for _ in range(4):
        session = opened(port)
        places.add(process_of(session, 2))
        with urllib.request.urlopen(f"http://localhost:{port}/explorer/alive?session={session}") as answer:
            assert answer.status == 204  # where it was built, and nowhere else
    assert places == {0, 1}
    lost = desks(process)[0]
    os.kill(lost, signal.SIGKILL)
    wait_for(lambda: len(desks(process)) == 2 and lost not in desks(process), "another process")
    for _ in range(2):  # one of each
        opened(port)
    children = desks(process)
    process.send_signal(signal.SIGINT)  # which ends all
    assert process.wait(PATIENCE) == 0
    assert not any(alive(child) for child in children)


@pytest.mark.full
@pytest.mark.parametrize(
    ("processes", "told"), [pytest.param(1, signal.SIGTERM, marks=pytest.mark.product), (2, signal.SIGKILL)]
)
def test_a_server_without_standard_streams_serves_all_the_same_and_its_processes_end_with_it(
    processes: int, told: signal.Signals
) -> None:
    port = free_port()
    words = f"{sys.executable} -m mklviz serve --no-show --num-procs {processes} --port {port}"
    process = subprocess.Popen(["sh", "-c", f"exec {words} <&- >&- 2>&-"])
    try:
        assert b"mklviz" in first_page(port)
        assert process.poll() is None
        children = desks(process)
        process.send_signal(told)  # killed, as by a machine that is short of memory, it can tell its processes nothing
        assert process.wait(PATIENCE) == (-told if told == signal.SIGKILL else 0)
        wait_for(lambda: not any(alive(child) for child in children), "the end of the processes")
    finally:
        process.kill()
        process.wait()


def opened(port: int) -> str:
    """Open a page as a browser does that waits for the server; return its session without the signature."""
    (token,) = re.findall(r'"token":"([^"]+)"', first_page(port).decode())
    return get_session_id(token).partition(".")[0]


def first_page(port: int) -> bytes:
    """Return a page of a server that may not have begun to listen."""

    def content() -> bytes:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://localhost:{port}/explorer", timeout=PATIENCE) as page,
        ):
            assert page.headers["Connection"] == "close"
            return bytes(page.read())
        return b""

    return wait_for(content, "the page")


# Connections: so many places, and the clock; who has most of them gives up the oldest


REQUEST = b"GET /explorer HTTP/1.1\r\nHost: localhost\r\n\r\n"
FOR_EVER = 1e6  # seconds
Connect = Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


def through(
    visit: Callable[[Connect, list[bytes]], Awaitable[None]], most: int = 4, patience: float = FOR_EVER
) -> None:
    """Let `visit` connect to a reception that answers "yes"; it is given what has been handed over, too."""

    async def run() -> None:
        handed: list[bytes] = []

        async def hand_over(connection: socket.socket, request: bytes) -> None:
            handed.append(connection.recv(len(request)))
            connection.send(b"yes")

        async def connect(host: str = "127.0.0.1") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_connection(*listening.getsockname(), local_addr=(host, 0))

        with socket.create_server(("127.0.0.1", 0)) as listening:
            receiving = asyncio.create_task(Acceptor(hand_over, most, patience).receive(listening))
            await visit(connect, handed)
            receiving.cancel()

    asyncio.run(run())


async def rest(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the connection is closed."""
    try:
        return await reader.read()
    except ConnectionResetError:  # what was sent had not been read
        return b""


def test_who_opens_many_silent_connections_closes_their_own_and_shuts_nobody_out() -> None:
    async def visit(connect: Connect, handed: list[bytes]) -> None:
        neighbour, kept = await connect("127.0.0.2")
        silent = [await connect() for _ in range(3 * 4)]
        for reader, _ in silent[:-3]:
            assert await rest(reader) == b""  # closed by the reception, which would wait for ever
        for host in ("127.0.0.1", "127.0.0.3"):
            reader, writer = await connect(host)
            writer.write(REQUEST)
            assert await reader.read() == b"yes"
        kept.write(REQUEST)
        assert await neighbour.read() == b"yes"
        assert handed == 3 * [REQUEST]

    through(visit)


@pytest.mark.parametrize(
    "begun", [b"", b"GET /explorer HT", REQUEST[:-2], b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab"]
)
def test_a_request_that_does_not_come_is_closed_by_the_clock_and_nobody_is_bothered_with_it(begun: bytes) -> None:
    async def visit(connect: Connect, handed: list[bytes]) -> None:
        reader, writer = await connect()
        writer.write(begun)
        assert await rest(reader) == b""
        assert handed == []

    through(visit, patience=0.3)


@pytest.mark.full
def test_a_request_that_came_while_the_server_was_busy_is_answered_however_late_it_is_seen() -> None:
    async def visit(connect: Connect, handed: list[bytes]) -> None:
        reader, writer = await connect()
        for _ in range(20):  # it is accepted, and waits
            await next_round()
        writer.write(REQUEST)
        time.sleep(1.2)  # as where a page is built
        assert await rest(reader) == b"yes"

    through(visit, patience=1.0)


@pytest.mark.full
def test_a_request_that_comes_in_parts_is_handed_over_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(connections, "is_whole", lambda request: read.append(request) or is_whole(request))
    sent = b"POST /explorer HTTP/1.1\r\nCONTENT-LENGTH: 11\r\n\r\ncode=secret"

    async def visit(connect: Connect, handed: list[bytes]) -> None:
        reader, writer = await connect()
        for begin in range(0, len(sent), 7):
            writer.write(sent[begin : begin + 7])
            await soon(lambda: read and read[-1] == sent[: begin + 7], "the part to be read")  # noqa: B023  # at once
        assert await reader.read() == b"yes"
        assert handed == [sent]

    through(visit)


def test_a_request_is_whole_when_its_body_has_come_and_addresses_of_a_network_of_ipv6_count_together() -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n"
    assert is_whole(REQUEST)
    assert not is_whole(REQUEST[:-1])
    assert is_whole(b"GET / HTTP/1.0\n\n")
    assert is_whole(head % 2 + b"ab")
    assert not is_whole(head % 3 + b"ab")
    assert is_whole(head % LONGEST_REQUEST)
    assert is_whole(b"x" * LONGEST_REQUEST)
    assert is_whole(b"POST / HTTP/1.1\r\n\r\nContent-Length: 9\r\n")  # what a body says is no length
    assert party("192.0.2.1") == "192.0.2.1" == party("::ffff:192.0.2.1")
    assert party("2001:db8::1") == party("2001:db8::ffff:2") != party("2001:db8:0:1::1")
    assert party("fe80::1%eth0") == party("fe80::2")
