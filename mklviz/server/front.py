"""``mklviz serve``: where it listens, who may come in, and how many processes answer.

Where several workers serve one port, this process accepts connections and hands each to the worker that has the page
asked for, which gets the socket itself and answers on it. Connections that ask for a new page go to one worker after
the other. This process loads no page, no Panel and no NumPy.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any
from urllib.parse import parse_qs

from mklviz.errors import MklvizError
from mklviz.limits import LIMITS, PROCESSES, usable_cores
from mklviz.quoting import MOST_NAME, quote
from mklviz.server.access import (
    LOCAL,
    check_code,
    frame_origin,
    is_local,
    known_names,
    listen,
    new_code,
    own_addresses,
)
from mklviz.server.connections import LOOK_AGAIN, PATIENCE, Acceptor
from mklviz.server.logs import log_to_stderr
from mklviz.views.links import FOLLOW, RACE_KEY, WORKER, process_of

MOST, MOST_BY_ITSELF = 32, 4
PAUSE = 2.0  # seconds until a worker is started in place of one that broke down
LOOK_EVERY = 0.5  # seconds between looks at whether a worker has ended
_NAMES = ("session", "bokeh-session-id", RACE_KEY, FOLLOW)
_TOKEN = b"sec-websocket-protocol:"

_log = logging.getLogger(__name__)


def check_processes(processes: int) -> None:
    """Raise `MklvizError` if so many processes cannot serve one port."""
    if not 1 <= processes <= MOST:
        raise MklvizError(f"--num-procs takes a number from 1 to {MOST}, not {processes}.")
    if processes > 1 and not hasattr(socket, "send_fds"):
        raise MklvizError("Several processes can serve one port on Linux and macOS only: leave --num-procs out.")


def check_prefix(prefix: str) -> str:
    """Return the prefix of all paths as /lab/mkl, "" for none, or raise `MklvizError`."""
    parts = [part for part in prefix.split("/") if part]
    if all(re.fullmatch(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*", part) for part in parts) and len(prefix) <= MOST_NAME:
        return "".join(f"/{part}" for part in parts)
    raise MklvizError(
        f"--prefix {quote(prefix)} is no path: write letters, digits and - . _ ~ between slashes, as in /lab/mkl."
    )


def processes_for(classroom: bool) -> int:
    """Return how many processes serve by default: for a class one per core, up to four."""
    return min(usable_cores(), MOST_BY_ITSELF) if classroom and hasattr(socket, "send_fds") else 1


def destination(head: bytes, processes: int) -> int | None:
    """Return the number of the worker whose page a request asks for, or None if any will do."""
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
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):  # not made here: any worker refuses it
        return None


class _Worker:
    """A process, and the socket that hands it connections; a process that breaks down is started again."""

    def __init__(self, number: int, processes: int, asked: Mapping[str, Any]) -> None:
        self._environment = {**os.environ, PROCESSES: str(processes), WORKER: str(number)}
        self._asked = asked
        self._start()

    def _start(self) -> None:
        self.socket, theirs = socket.socketpair()
        self.socket.setblocking(False)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mklviz.server.serving"],
                stdin=subprocess.PIPE,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the dispatcher, which ends the workers
            )
            assert self.process.stdin is not None
            with self.process.stdin as settings:  # not among the arguments, which others may read
                settings.write(json.dumps({**self._asked, "socket": theirs.fileno()}).encode())

    async def hand_over(self, connection: socket.socket) -> None:
        """Let the process answer on a connection."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    socket.send_fds(self.socket, [b"c"], [connection.fileno()])
                    return
                except BlockingIOError:  # the worker is busy, and many connections wait for it
                    await asyncio.sleep(LOOK_AGAIN)

    async def restart_when_ended(self) -> None:
        """Start the process again whenever it has ended."""
        while True:
            while (code := self.process.poll()) is None:
                await asyncio.sleep(LOOK_EVERY)
            _log.error("A process of the dashboard broke down (%s); another takes its place.", code)
            self.socket.close()
            await asyncio.sleep(PAUSE)
            try:
                self._start()
            except OSError as error:  # such as no memory; tried again a little later
                _log.error("No process could take its place (%s).", error.strerror)


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has ended, and kill it if that takes longer."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve_from_processes(
    processes: int, listening: Sequence[socket.socket], asked: Mapping[str, Any], begun: Callable[[], object]
) -> None:
    """Serve from several processes, each with `asked` for `make_server`, until this one ends; `begun`: called first."""

    async def hand_over(connection: socket.socket, request: bytes) -> None:
        number = destination(request, processes)
        await workers[next(turns) if number is None else number].hand_over(connection)

    async def until_signal() -> None:
        ends, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ends.set)
        acceptor = Acceptor(hand_over)
        tasks = [asyncio.create_task(acceptor.receive(each)) for each in listening]
        tasks += [asyncio.create_task(worker.restart_when_ended()) for worker in workers]
        begun()
        await ends.wait()
        for task in tasks:
            task.cancel()

    workers, turns = [_Worker(number, processes, asked) for number in range(processes)], cycle(range(processes))
    try:
        asyncio.run(until_signal())
    finally:
        for each in listening:
            each.close()
        for worker in workers:
            worker.socket.close()  # whereupon its process ends
        for worker in workers:
            end(worker.process, PATIENCE)


PAGE, EVERYWHERE = "explorer", "0.0.0.0"


def serve(
    port: int,
    address: str | None = None,
    origins: Sequence[str] = (),
    code: str | None = None,
    frames: Sequence[str] = (),
    show: bool = False,
    classroom: bool = False,
    processes: int = 1,
    shared_runs: bool = False,
    prefix: str = "",
) -> None:
    """Serve the dashboard until the process is to end.

    `address`: where to listen; this machine only by default; `origins`: HOST:PORT under which browsers reach the
    server, besides the names it knows itself; `code`: what browsers must give; one is made up where others than this
    machine reach the address; `frames`: origins, such as https://lab.example.org, of pages that may frame the
    dashboard; `show`: whether to open it in a browser; `classroom`: whether everybody on the network may come in who
    has the code: at all addresses, unless `address` says which; `processes`: how many processes share the port, each
    with pages of its own; `shared_runs`: whether all browsers see all runs; else each sees its own, where others than
    this machine come in; `prefix`: of all paths, as a proxy in front keeps it, such as
    /lab/mkl.
    """
    where = address if address is not None else EVERYWHERE if classroom else LOCAL
    if classroom and is_local(where):
        raise MklvizError(f"--classroom at {quote(where)} lets no other machine in: leave --address out.")
    check_processes(processes)
    below = check_prefix(prefix)
    known_names(where, port, origins)  # so that a wrong name is reported here, and not by each process
    for origin in frames:
        frame_origin(origin)
    asked = check_code(code) if code is not None else "" if is_local(where) else new_code()
    listening = listen(where, port)  # browsers that connect wait until the server is ready
    own_runs = bool(asked or origins or processes > 1) and not shared_runs
    log_to_stderr()
    page = f"http://{own_addresses(where)[0]}:{port}{below}/{PAGE}"
    _announce(page, asked, classroom)

    def open_page() -> None:  # by that address, which is also the one that a class opens
        if show:
            webbrowser.open_new_tab(f"{page}?code={asked}" if asked else page)

    shared: dict[str, Any] = {"address": where, "port": port, "origins": list(origins), "code": asked}
    shared |= {"frames": list(frames), "own_runs": own_runs, "prefix": below}
    shared["found_at"] = "" if is_local(where) else page
    if processes > 1:
        secret = os.environ.get("BOKEH_SECRET_KEY") or secrets.token_urlsafe(32)
        serve_from_processes(processes, listening, {**shared, "secret": secret}, open_page)
        return
    from mklviz.server.serving import serve_here

    serve_here(listening, shared, open_page)


def _announce(page: str, code: str, classroom: bool) -> None:
    """Print how to come in; with `classroom` also what a class needs to know besides."""
    if not classroom:
        if code:
            print(f"mklviz: open {page}?code={code} (the code is {code})", flush=True)
        return
    print(
        f"mklviz: for the projector\n\n    {page}\n    code: {code}\n\n"
        f"{page.removesuffix(PAGE)}class shows both in large letters, and a picture for phones.\n"
        f"There is room for {LIMITS.sessions:,} pages; a solver has at most"
        f" {LIMITS.race_seconds / 60:,.0f} minutes of CPU time. A race that you run can be followed by all:\n"
        "hand on the link that stands under its buttons, and the class costs one solve.",
        flush=True,
    )
