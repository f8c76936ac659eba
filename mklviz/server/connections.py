"""Takes connections, and hands each over when all of its request has come.

A connection costs a descriptor, of which a process has few, so that there are places for so many whose requests have
not come yet. Where all are taken, the address that has the most gives up the one that has waited longest: who opens
thousands of silent connections closes their own. Requests are looked at and not read: who answers reads them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable

from tornado.ioloop import IOLoop

__all__ = ["LONGEST_REQUEST", "LOOK_AGAIN", "PATIENCE", "Acceptor", "is_whole", "party"]

MOST_AT_ONCE = 400  # a process may usually have 1,024 files
PATIENCE = 10.0  # seconds for a request to come, all of it
LONGEST_REQUEST = 2**15  # bytes; what is longer is handed over as it is, and refused
LOOK_AGAIN, LOOK_AT_LEAST = 0.01, 0.5  # seconds between looks at a request that comes in parts, at first and at most
_HEAD_ENDS = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CHUNKS = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)


class Acceptor:
    """Places for connections that wait.

    Parameters
    ----------
    hand_over : callable
        Is given a connection and its request; whatever it does not keep is closed when it returns.
    most : int
        How many may wait.
    patience : float
        Seconds for a request to come.
    """

    def __init__(
        self,
        hand_over: Callable[[socket.socket, bytes], Awaitable[None]],
        most: int = MOST_AT_ONCE,
        patience: float = PATIENCE,
    ) -> None:
        self._hand_over, self._most, self._patience = hand_over, most, patience
        self._waiting: dict[asyncio.Task[None], str] = {}  # whose they are, in the order in which they came

    async def receive(self, listening: socket.socket) -> None:
        """Receive connections for ever."""
        listening.setblocking(False)
        while True:
            try:
                connection, address = await asyncio.get_running_loop().sock_accept(listening)
            except OSError:  # it is gone already, or there is no descriptor left for it
                self._give_up_one()
                await asyncio.sleep(LOOK_AGAIN)
                continue
            if len(self._waiting) >= self._most:
                self._give_up_one()
            task = asyncio.create_task(self._wait_for(connection))
            self._waiting[task] = party(address[0])
            task.add_done_callback(lambda done: self._waiting.pop(done, None))

    def _give_up_one(self) -> None:
        """Close whichever waits longest of those whose address has the most."""
        if not self._waiting:
            return
        whose, _ = Counter(self._waiting.values()).most_common(1)[0]
        oldest = next(task for task, address in self._waiting.items() if address == whose)
        del self._waiting[oldest]
        oldest.cancel()

    async def _wait_for(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.setblocking(False)
                async with asyncio.timeout(self._patience):
                    request = await _request(connection)
                if request:
                    await self._hand_over(connection, request)
            except OSError:  # it took too long, or whoever asked or answers has gone; a browser asks again
                return


def party(address: str) -> str:
    """Return whose connections count together: an address's, and those of its network where it is one of IPv6.

    A machine has as many addresses of IPv6 as it likes.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found) >> 64 << 64, 64)))


def is_whole(request: bytes) -> bool:
    """Whether all of a request has come, or more of it than anybody reads."""
    end = _HEAD_ENDS.search(request)
    if end is None:
        return len(request) >= LONGEST_REQUEST
    length = _LENGTH.search(request, 0, end.end())
    whole = end.end() + (int(length[1]) if length else 0)
    return len(request) >= whole or whole > LONGEST_REQUEST


async def _request(connection: socket.socket) -> bytes:
    """Return a request once all of it has come, b"" where none comes, or one in chunks, as browsers send none."""
    pause = LOOK_AGAIN
    while True:
        await _readable(connection)
        request = connection.recv(LONGEST_REQUEST, socket.MSG_PEEK)
        if not request or _CHUNKS.search(request):
            return b""
        if is_whole(request):
            return request
        await asyncio.sleep(pause)  # what has come can be read all the time
        pause = min(2 * pause, LOOK_AT_LEAST)


async def _readable(connection: socket.socket) -> None:
    """Wait until there is something to read."""
    loop, heard = IOLoop.current(), asyncio.Event()
    loop.add_handler(connection, lambda *_: heard.set(), IOLoop.READ)
    try:
        await heard.wait()
    finally:
        loop.remove_handler(connection)
