"""Accept connections, and hand each over when its request is complete.

A connection costs a descriptor, and a process has few of them. So only a limited number of connections may wait for
their requests. When one too many comes, the address with the most connections loses the one that has waited longest:
a flood of silent connections closes its own. A request is looked at here, and read by its handler.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable

from tornado.ioloop import IOLoop

MOST_AT_ONCE = 400  # a process may usually have 1,024 files
PATIENCE = 10.0  # seconds for a request to come, all of it
LONGEST_REQUEST = 2**15  # bytes; what is longer is handed over as it is, and refused
LOOK_AGAIN, LOOK_AT_LEAST = 0.01, 0.5  # seconds between looks at a request that comes in parts, at first and at most
_HEAD_ENDS = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CHUNKS = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)


class Acceptor:
    """Accepts connections, keeps at most `most` while their requests come, and gives each to `hand_over`."""

    def __init__(
        self,
        hand_over: Callable[[socket.socket, bytes], Awaitable[None]],
        most: int = MOST_AT_ONCE,
        patience: float = PATIENCE,
    ) -> None:
        self._hand_over, self._most, self._patience = hand_over, most, patience
        self._waiting: dict[asyncio.Task[None], str] = {}  # the parties they come from, in the order of arrival

    async def receive(self, listening: socket.socket) -> None:
        """Receive connections for ever."""
        listening.setblocking(False)
        while True:
            try:
                connection, address = await asyncio.get_running_loop().sock_accept(listening)
            except OSError:  # the connection is gone already, or there is no descriptor left for it
                self._give_up_one()
                await asyncio.sleep(LOOK_AGAIN)
                continue
            if len(self._waiting) >= self._most:
                self._give_up_one()
            task = asyncio.create_task(self._wait_for(connection))
            self._waiting[task] = party(address[0])
            task.add_done_callback(lambda done: self._waiting.pop(done, None))

    def _give_up_one(self) -> None:
        """Close the connection that has waited longest, of the party that has the most."""
        if not self._waiting:
            return
        largest, _ = Counter(self._waiting.values()).most_common(1)[0]
        oldest = next(task for task, address in self._waiting.items() if address == largest)
        del self._waiting[oldest]
        oldest.cancel()

    async def _wait_for(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.setblocking(False)
                try:
                    async with asyncio.timeout(self._patience):
                        request = await _request(connection)
                except TimeoutError:  # a request may have come while the server was busy
                    request = _come(connection) or b""
                if request:
                    await self._hand_over(connection, request)
            except OSError:  # the request took too long, or one of both ends has gone; a browser asks again
                return


def party(address: str) -> str:
    """Return the party whose connections count together: an address, or in IPv6 its network, which has any number."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed) >> 64 << 64, 64)))


def is_whole(request: bytes) -> bool:
    """Return whether all of a request has come, or more of it than anybody reads."""
    end = _HEAD_ENDS.search(request)
    if end is None:
        return len(request) >= LONGEST_REQUEST
    length = _LENGTH.search(request, 0, end.end())
    whole = end.end() + (int(length[1]) if length else 0)
    return len(request) >= whole or whole > LONGEST_REQUEST


async def _request(connection: socket.socket) -> bytes:
    """Return a request once all of it has come; b"" if none comes, or one in chunks, which no browser sends."""
    pause = LOOK_AGAIN
    while True:
        await _readable(connection)
        request = _come(connection)
        if request is not None:
            return request
        await asyncio.sleep(pause)  # what has come can be read all the time
        pause = min(2 * pause, LOOK_AT_LEAST)


def _come(connection: socket.socket) -> bytes | None:
    """Return the request that has come, None while a part of it is under way."""
    request = connection.recv(LONGEST_REQUEST, socket.MSG_PEEK)
    if not request or _CHUNKS.search(request):
        return b""
    return request if is_whole(request) else None


async def _readable(connection: socket.socket) -> None:
    """Wait until there is something to read."""
    loop, heard = IOLoop.current(), asyncio.Event()
    loop.add_handler(connection, lambda *_: heard.set(), IOLoop.READ)
    try:
        await heard.wait()
    finally:
        loop.remove_handler(connection)
