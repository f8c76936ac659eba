"""Connections whose requests have not come: so many places, and the clock; who has most of them gives up the oldest."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest
from _waits import next_round, soon

from mklviz.server import connections
from mklviz.server.connections import LONGEST_REQUEST, Acceptor, is_whole, party

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


def test_a_request_is_whole_when_its_body_has_come_or_nobody_would_read_it() -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n"
    assert is_whole(REQUEST)
    assert not is_whole(REQUEST[:-1])
    assert is_whole(b"GET / HTTP/1.0\n\n")
    assert is_whole(head % 2 + b"ab")
    assert not is_whole(head % 3 + b"ab")
    assert is_whole(head % LONGEST_REQUEST)
    assert is_whole(b"x" * LONGEST_REQUEST)
    assert is_whole(b"POST / HTTP/1.1\r\n\r\nContent-Length: 9\r\n")  # what a body says is no length


def test_addresses_of_a_network_of_ipv6_count_together() -> None:
    assert party("192.0.2.1") == "192.0.2.1" == party("::ffff:192.0.2.1")
    assert party("2001:db8::1") == party("2001:db8::ffff:2") != party("2001:db8:0:1::1")
    assert party("fe80::1%eth0") == party("fe80::2")
