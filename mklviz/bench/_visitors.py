"""Visitors without a browser, and the server that they come to: what pages and classes cost it (Linux).

A visitor asks for a page, opens its websocket, takes the whole document over and answers each frame and sign of life as
a browser does that paints it; one of a class presses the space bar, at full speed, and stays until its race has ended.
Nothing is drawn, so that one machine can be both class and server.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Self, TypeVar

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

T = TypeVar("T")

PAINT = 0.03  # seconds from a frame to its acknowledgement
PATIENCE = 600.0  # seconds for all races
_TOKEN = re.compile(r'"token":"([^"]+)"')
_SEQ, _BEAT = (re.compile(rf'"attr":"{name}","new":(\d+)') for name in ("seq", "beat"))
_ENDED = re.compile(r"ha(?:s|ve) finished")
_READY = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}


class Visitor:
    """One page without a browser; `query`: the end of its address; `cookies`: sent; `messages`: how many have come."""

    def __init__(self, port: int, query: str = "?pace=0", cookies: str = "") -> None:
        self._address, self._query, self._headers = f"localhost:{port}/explorer", query, {"Cookie": cookies}
        self._socket: WebSocketClientConnection
        self._sent = self.messages = 0
        self._token = ""
        self._parts: list[Any] = []  # of the message that is being read
        self.document: Any = None
        self._heart = self._pulse = ""  # the models whose acknowledgements and signs of life the server waits for

    async def visit(self) -> tuple[float, float]:
        """Open the page and race; return seconds until the page was there, and until the race had ended."""
        begun = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            await self.open()
            there = time.perf_counter() - begun
            if not self._heart:
                raise ValueError("The page has no heartbeat.")
            await self._press_space()
            while not _ENDED.search(await self._answer()):
                pass
        self.leave()
        return there, time.perf_counter() - begun

    async def open(self) -> Self:
        """Open the page."""
        asked = HTTPRequest(f"http://{self._address}{self._query}", headers=self._headers, request_timeout=PATIENCE)
        fetched = await AsyncHTTPClient().fetch(asked)
        token = _TOKEN.search(fetched.body.decode())
        if token is None:
            raise ValueError("The page names no session.")
        self._token = token[1]
        self.document = json.loads(await self._connect())
        self._heart, self._pulse = (_model(self.document, name) for name in ("Heartbeat", "Reconnect"))
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": _READY})
        return self

    async def stay(self, seconds: float) -> None:
        """Answer what comes for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._answer()

    def leave(self) -> None:
        """Close the page as a browser does that goes elsewhere: without this code the server waits for its return."""
        self._socket.close(1001)

    async def _connect(self) -> str:
        """Open the page's socket, and return the document that the server sends."""
        request = HTTPRequest(f"ws://{self._address}/ws", headers=self._headers, request_timeout=PATIENCE)
        self._socket = await websocket_connect(request, subprotocols=["bokeh", self._token], max_message_size=1 << 28)
        await self._read()  # the server's greeting
        await self._send("PULL-DOC-REQ", {})
        while (read := await self._read())[0] != "PULL-DOC-REPLY":
            pass
        return read[1]

    async def _press_space(self) -> None:
        await self._patch(turn(self._heart, "key", " "), turn(self._heart, "presses", 1))

    async def _answer(self) -> str:
        """Answer the next message as a browser does, and return what it says."""
        _, content = await self._read()
        self.messages += 1
        if (frames := _SEQ.findall(content)) and self._heart:
            await asyncio.sleep(PAINT)
            await self._patch(turn(self._heart, "ack", int(frames[-1])))
        if beats := _BEAT.findall(content):
            await self._patch(turn(self._pulse, "heard", int(beats[-1])))
        return content

    async def _patch(self, *events: dict[str, Any]) -> None:
        await self._send("PATCH-DOC", {"events": events})

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        self._sent += 1
        for part in ({"msgid": str(self._sent), "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def _read(self) -> tuple[str, str]:
        """Return the kind and the content of the next message; one whose reading was cut short is read on."""
        parts = self._parts
        while len(parts) < 3 or len(parts) < 3 + 2 * json.loads(parts[0]).get("num_buffers", 0):
            parts.append(await self._part())
        self._parts = []
        return json.loads(parts[0])["msgtype"], str(parts[2])

    async def _part(self) -> Any:
        part = await self._socket.read_message()
        if part is None:
            raise ConnectionError("The server has closed the connection.")
        return part


def turn(model: str, name: str, value: Any) -> dict[str, Any]:
    return {"kind": "ModelChanged", "model": {"id": model}, "attr": name, "new": value}


def _model(node: Any, name: str) -> str:
    """Return the id of the component of that class, "" where there is none below `node`."""
    if isinstance(node, dict):
        if "id" in node and str(node.get("name")).startswith(name):  # the class that Panel makes for its Params
            return str(node["id"])
        node = list(node.values())
    if isinstance(node, list):
        return next(filter(None, (_model(each, name) for each in node)), "")
    return ""


class Server:
    """`mklviz serve` in processes of its own."""

    def __init__(self, processes: int = 1) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._processes = processes
        self._store = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # for the races of visitors
        own = ["--port", str(self.port), "--num-procs", str(processes)]
        command = [sys.executable, "-m", "mklviz", "serve", "--no-show", *own]
        env = {**os.environ, "MKLVIZ_STORE": self._store.name}
        self._process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        """Wait until it answers."""
        while True:
            with suppress(OSError), socket.create_connection(("localhost", self.port)):
                return
            time.sleep(0.1)

    async def begin(self) -> None:
        """Wait until it answers, and race in each process, so that all is compiled and the banks are built."""
        self.wait()
        await asyncio.gather(*(Visitor(self.port).visit() for _ in range(self._processes)))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        ticks = 0
        for member in _members(self.pid):
            fields = Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()
        self._store.cleanup()


def _members(pid: int) -> list[str]:
    return [str(pid), *Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _memory(pid: int) -> float:
    """Return the resident megabytes of a process and its children."""
    pages = sum(int(Path(f"/proc/{member}/statm").read_text().split()[1]) for member in _members(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Asks the server for something small again and again, in a process of its own, and keeps the longest wait."""

    def __init__(self, server: Server) -> None:
        context = multiprocessing.get_context("spawn")
        self._ready, self._over = context.Event(), context.Event()
        self._counts = context.Array("d", 2)
        arguments = (server.port, server.pid, self._ready, self._over, self._counts)
        self._process = context.Process(target=_look, args=arguments, daemon=True)
        self._process.start()
        self._ready.wait(PATIENCE)

    def end(self) -> tuple[float, float]:
        """Stop looking; return the longest wait in seconds, and the most memory of the server in megabytes."""
        self._over.set()
        self._process.join(PATIENCE)
        return self._counts[0], self._counts[1]


def _look(port: int, pid: int, ready: Event, over: Event, worst: Any) -> None:
    while not over.wait(0.05):
        begun = time.perf_counter()
        with socket.create_connection(("localhost", port), PATIENCE) as asked:
            asked.sendall(b"GET /favicon.ico HTTP/1.0\r\nHost: localhost\r\n\r\n")
            asked.recv(1)
        ready.set()
        worst[0] = max(worst[0], time.perf_counter() - begun)
        worst[1] = max(worst[1], _memory(pid))


@dataclass(frozen=True)
class Crowd:
    """What visitors cost who all came at once and pressed Run."""

    pages: list[float]  # seconds until each had its page
    races: list[float]  # and until its race had ended
    stall: float  # the longest that the event loop left a small request waiting, in seconds
    cpu: float  # seconds that the server spent
    megabytes: float  # that it grew by for each visitor


async def crowd(server: Server, visitors: int) -> Crowd:
    """Let so many visitors come at once, and return what they cost."""
    watch, cpu, memory = Watch(server), server.cpu, _memory(server.pid)
    visits = await asyncio.gather(*(Visitor(server.port).visit() for _ in range(visitors)))
    stall, most = watch.end()
    pages, races = (list(seconds) for seconds in zip(*visits, strict=True))
    return Crowd(pages, races, stall, server.cpu - cpu, max(most - memory, 0.0) / visitors)


async def to_open(server: Server, query: str, settled: float) -> float:
    """Open a page and leave it; return the CPU seconds of the server until it has been open for `settled` seconds."""
    before, visitor = server.cpu, await Visitor(server.port, query).open()
    await visitor.stay(settled)
    spent = server.cpu - before
    visitor.leave()
    return spent


async def left_alone(server: Server, query: str, pages: int, settled: float, seconds: float) -> tuple[float, float]:
    """Return the share of a core that a page takes on which nothing happens, and that of all when they are closed."""
    visitors = [await Visitor(server.port, query).open() for _ in range(pages)]
    await asyncio.gather(*(visitor.stay(settled) for visitor in visitors))
    before = server.cpu
    await asyncio.gather(*(visitor.stay(seconds) for visitor in visitors))
    idle = (server.cpu - before) / seconds / pages
    for visitor in visitors:
        visitor.leave()
    await asyncio.sleep(settled)
    before = server.cpu
    await asyncio.sleep(seconds)
    return idle, (server.cpu - before) / seconds


def on_a_server(processes: int, measure: Callable[[Server], Awaitable[T]]) -> T:
    """Return what is measured on a server of its own, on which everything is compiled."""
    AsyncHTTPClient.configure("tornado.simple_httpclient.SimpleAsyncHTTPClient", max_clients=1000)

    async def run() -> T:
        server = Server(processes)
        try:
            await server.begin()
            return await measure(server)
        finally:
            server.end()

    return asyncio.run(run())
