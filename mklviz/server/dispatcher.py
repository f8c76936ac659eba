"""One port, served by several processes: this one takes connections and hands each to the process it belongs to.

Whoever has the page asked for gets the socket itself and answers on it, so that nothing passes through here twice.
Connections without a page of their own go round, so that pages spread evenly.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from tornado.netutil import bind_sockets

from mklviz.errors import MklvizError
from mklviz.limits import PROCESSES
from mklviz.server.connections import LOOK_AGAIN, PATIENCE, Acceptor
from mklviz.views.host.process_of import PROCESS, process_of
from mklviz.views.links.link import FOLLOW, ROOM

__all__ = ["check_processes", "destination", "processes_for", "serve_from_processes"]

MOST, MOST_BY_ITSELF = 32, 4
PAUSE = 2.0  # seconds until another process takes the place of one that broke down
LOOK_FOR = 0.5  # seconds between looks at whether a process has ended
_NAMES = ("session", "bokeh-session-id", ROOM, FOLLOW)
_TOKEN = b"sec-websocket-protocol:"

_log = logging.getLogger(__name__)


def check_processes(processes: int) -> None:
    """Raise `MklvizError` where a port cannot be served by so many processes."""
    if not 1 <= processes <= MOST:
        raise MklvizError(f"--num-procs takes a number from 1 to {MOST}, not {processes}.")
    if processes > 1 and not hasattr(socket, "send_fds"):
        raise MklvizError("Several processes can serve one port on Linux and macOS only: leave --num-procs out.")


def processes_for(classroom: bool) -> int:
    """Return how many processes serve where nobody says: for a class one per core, but not many."""
    if not classroom or not hasattr(socket, "send_fds"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_BY_ITSELF)


def destination(head: bytes, processes: int) -> int | None:
    """Return the number of the process that has the page which the head of a request asks for, None if any will do."""
    request, *lines = head.split(b"\r\n")
    for line in lines:
        if line.lower().startswith(_TOKEN):
            return _of_token(line[len(_TOKEN) :].rpartition(b",")[2].strip(), processes)
    target = request.split(b" ")[1:2]
    query = parse_qs(target[0].decode("latin-1").partition("?")[2]) if target else {}
    return next((process_of(query[name][-1], processes) for name in _NAMES if name in query), None)


def _of_token(token: bytes, processes: int) -> int | None:
    text = token.partition(b".")[0]
    try:
        session = json.loads(base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)))["session_id"]
        return process_of(str(session), processes)
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):  # none of ours: any process refuses it
        return None


class _Worker:
    """A process, and the line over which it is handed connections; where it breaks down another takes its place."""

    def __init__(self, place: int, processes: int, asked: Mapping[str, Any]) -> None:
        self._environment = {**os.environ, PROCESSES: str(processes), PROCESS: str(place)}
        self._asked = asked
        self._begin()

    def _begin(self) -> None:
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mklviz.server.worker"],
                stdin=subprocess.PIPE,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the one in front, who tells the others
            )
            assert self._process.stdin is not None
            with self._process.stdin as told:  # not among the arguments, which others may read
                told.write(json.dumps({**self._asked, "line": theirs.fileno()}).encode())

    async def hand_over(self, connection: socket.socket) -> None:
        """Let the process answer on a connection."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    socket.send_fds(self._line, [b"c"], [connection.fileno()])
                    return
                except BlockingIOError:  # it is busy, and has many waiting
                    await asyncio.sleep(LOOK_AGAIN)

    async def keep(self) -> None:
        """Start another process whenever this one has ended."""
        while True:
            while (code := self._process.poll()) is None:
                await asyncio.sleep(LOOK_FOR)
            _log.error("A process of the dashboard broke down (%s); another takes its place.", code)
            self._line.close()
            await asyncio.sleep(PAUSE)
            try:
                self._begin()
            except OSError as error:  # such as no memory; once more a little later
                _log.error("No process could take its place (%s).", error.strerror)

    def tell_end(self) -> None:
        """Let the process end."""
        self._line.close()

    def end(self) -> None:
        """Wait until the process has ended, and end it for good where that takes too long."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Spread:
    """Hands each connection to the process that has the page asked for, and the others to one after the other."""

    def __init__(self, desks: list[_Worker]) -> None:
        self._desks, self._turns = desks, count()

    async def hand_over(self, connection: socket.socket, request: bytes) -> None:
        place = destination(request, len(self._desks))
        if place is None:
            place = next(self._turns) % len(self._desks)
        await self._desks[place].hand_over(connection)


def serve_from_processes(processes: int, asked: Mapping[str, Any], begun: Callable[[], object]) -> None:
    """Serve the dashboard from several processes until this one is told to end, and end them with it.

    Parameters
    ----------
    processes : int
    asked : mapping
        What `mklviz.server.serving.make_server` is to be given.
    begun : callable
        Called when connections are received.
    """

    async def until_told() -> None:
        told, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told.set)
        reception = Acceptor(_Spread(desks).hand_over)
        work = [asyncio.create_task(reception.receive(each)) for each in listening]
        work += [asyncio.create_task(desk.keep()) for desk in desks]
        begun()
        await told.wait()
        for task in work:
            task.cancel()

    listening = bind_sockets(asked["port"], asked["address"])
    desks = [_Worker(place, processes, asked) for place in range(processes)]
    try:
        asyncio.run(until_told())
    finally:
        for each in listening:
            each.close()
        for desk in desks:
            desk.tell_end()
        for desk in desks:
            desk.end()
