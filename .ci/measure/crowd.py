"""What a class costs: visitors who all arrive at once and press Run, on a server of their own.

    python .ci/measure crowd [--visitors 1 5 10 30 50] [--num-procs 1]

A visitor asks for the page, at full speed, opens its websocket, takes the whole document over and presses the space
bar; then it acknowledges each frame, as a browser does that paints it, until the race has ended. Nothing is drawn, so
that one machine can be both class and server. Reported, for each size of the class:

- `half_s`, `pages_s`: seconds until half of the pages are there, and the last one; `half_ran_s`, `races_s`: until half
  of the races have ended, and the last one
- `stall_s`: the longest that the server's event loop left a small request waiting
- `cpu_s`, `MB_each`: seconds that the server spent, and megabytes that it grew by for each visitor
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from bokeh.util.token import get_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from measure.report import Row, parser, print_rows

PAINT = 0.03  # seconds from a frame to its acknowledgement
PATIENCE = 600.0  # seconds for all races
_TOKEN = re.compile(r'"token":"([^"]+)"')
_SEQ = re.compile(r'"attr":"seq","new":(\d+)')
_ENDED = re.compile(r"ha(?:s|ve) finished")
_READY = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}


class Visitor:
    """One page without a browser."""

    def __init__(self, port: int) -> None:
        self._address, self._query = f"localhost:{port}/explorer", "?pace=0"
        self._socket: WebSocketClientConnection
        self._messages = 0
        self._token = ""
        self._heart = ""  # the model whose acknowledgements the server waits for

    async def visit(self) -> tuple[float, float]:
        """Open the page and race; return seconds until the page was there, and until the race had ended."""
        begun = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            await self._open()
            there = time.perf_counter() - begun
            await self._press_space()
            await self._until_finished()
        self._socket.close()
        return there, time.perf_counter() - begun

    async def _open(self) -> None:
        fetched = await AsyncHTTPClient().fetch(f"http://{self._address}{self._query}", request_timeout=PATIENCE)
        self._token = self._token_of(fetched.body.decode())
        document = await self._connect()
        self._heart = _heart(json.loads(document))
        if not self._heart:
            raise ValueError("The page has no heartbeat.")
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": _READY})

    async def _connect(self) -> str:
        """Open the page's socket, and return the document that the server sends."""
        request = HTTPRequest(f"ws://{self._address}/ws", request_timeout=PATIENCE)
        self._socket = await websocket_connect(request, subprotocols=["bokeh", self._token], max_message_size=1 << 28)
        await self._read()  # the server's greeting
        await self._send("PULL-DOC-REQ", {})
        while (read := await self._read())[0] != "PULL-DOC-REPLY":
            pass
        return read[1]

    @staticmethod
    def _token_of(page: str) -> str:
        token = _TOKEN.search(page)
        if token is None:
            raise ValueError("The page names no session.")
        return token[1]

    @classmethod
    def session_of(cls, page: str) -> str:
        """Return the session that the text of a page names, without its signature."""
        return str(get_session_id(cls._token_of(page))).partition(".")[0]

    async def _press_space(self) -> None:
        await self._patch(self._turn("key", " "), self._turn("presses", 1))

    async def _until_finished(self) -> None:
        while True:
            _, content = await self._read()
            frames = _SEQ.findall(content)
            if frames:
                await asyncio.sleep(PAINT)
                await self._patch(self._turn("ack", int(frames[-1])))
            if _ENDED.search(content):
                return

    def _turn(self, name: str, value: Any) -> dict[str, Any]:
        return {"kind": "ModelChanged", "model": {"id": self._heart}, "attr": name, "new": value}

    async def _patch(self, *events: dict[str, Any]) -> None:
        await self._send("PATCH-DOC", {"events": events})

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        self._messages += 1
        for part in ({"msgid": str(self._messages), "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def _read(self) -> tuple[str, str]:
        """Return the kind and the content of the next message."""
        header = json.loads(await self._part())
        await self._part()
        content = await self._part()
        for _ in range(2 * header.get("num_buffers", 0)):
            await self._part()
        return header["msgtype"], str(content)

    async def _part(self) -> Any:
        part = await self._socket.read_message()
        if part is None:
            raise ConnectionError("The server has closed the connection.")
        return part


def _heart(node: Any) -> str:
    """Return the id of the model that counts frames, "" where there is none below `node`."""
    if isinstance(node, dict):
        if "id" in node and str(node.get("name")).startswith("Heartbeat"):  # the class that Panel makes for its Params
            return str(node["id"])
        node = list(node.values())
    if isinstance(node, list):
        return next(filter(None, map(_heart, node)), "")
    return ""


class Server:
    """`mklviz serve` in processes of its own."""

    def __init__(self, processes: int = 1) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._processes = processes
        own = ["--port", str(self.port), "--num-procs", str(processes)]
        command = [sys.executable, "-m", "mklviz", "serve", "--no-show", *own]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def begin(self) -> None:
        """Wait until it answers, and race in each process, so that all is compiled and the banks are built."""
        while True:
            try:
                _, writer = await asyncio.open_connection("localhost", self.port)
                break
            except OSError:
                await asyncio.sleep(0.1)
        writer.close()
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


def _members(pid: int) -> list[str]:
    return [str(pid), *Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _memory(pid: int) -> float:
    """Return the resident megabytes of a process and its children."""
    pages = sum(int(Path(f"/proc/{member}/statm").read_text().split()[1]) for member in _members(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Asks the server for something small again and again, and keeps the longest wait.

    It does so in a process of its own: in that of the visitors it would wait for them as well.
    """

    def __init__(self, server: Server) -> None:
        context = multiprocessing.get_context("spawn")
        self._ready, self._over = context.Event(), context.Event()
        self._found = context.Array("d", 2)
        arguments = (server.port, server.pid, self._ready, self._over, self._found)
        self._process = context.Process(target=_look, args=arguments, daemon=True)
        self._process.start()
        self._ready.wait(PATIENCE)

    def end(self) -> tuple[float, float]:
        """Stop looking; return the longest wait in seconds, and the most memory of the server in megabytes."""
        self._over.set()
        self._process.join(PATIENCE)
        return self._found[0], self._found[1]


def _look(port: int, pid: int, ready: Event, over: Event, worst: Any) -> None:
    while not over.wait(0.05):
        begun = time.perf_counter()
        with socket.create_connection(("localhost", port), PATIENCE) as asked:
            asked.sendall(b"GET /favicon.ico HTTP/1.0\r\nHost: localhost\r\n\r\n")
            asked.recv(1)
        ready.set()
        worst[0] = max(worst[0], time.perf_counter() - begun)
        worst[1] = max(worst[1], _memory(pid))


async def _measure(server: Server, visitors: int) -> Row:
    """Let so many visitors come at once, and return what they cost."""
    watch, cpu, memory = Watch(server), server.cpu, _memory(server.pid)
    visits = await asyncio.gather(*(Visitor(server.port).visit() for _ in range(visitors)))
    stall, most = watch.end()
    pages, races = zip(*visits, strict=True)
    return Row(
        visitors=visitors,
        half_s=statistics.median(pages),
        pages_s=max(pages),
        half_ran_s=statistics.median(races),
        races_s=max(races),
        stall_s=stall,
        cpu_s=server.cpu - cpu,
        MB_each=max(most - memory, 0.0) / visitors,
    )


def crowds(sizes: Sequence[int], processes: int = 1) -> Iterator[Row]:
    """Yield what each size of a class costs, each on a server of its own."""
    AsyncHTTPClient.configure("tornado.simple_httpclient.SimpleAsyncHTTPClient", max_clients=1000)

    async def one(size: int) -> Row:
        server = Server(processes)
        try:
            await server.begin()
            return await _measure(server, size)
        finally:
            server.end()

    for size in sizes:
        yield asyncio.run(one(size))


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    known = parser("crowd", __doc__)
    known.add_argument("--visitors", type=int, nargs="+", default=[1, 5, 10, 30, 50])
    known.add_argument("--num-procs", type=int, default=1, help="processes that serve (default: 1)")
    asked = known.parse_args(arguments)
    print_rows(crowds(asked.visitors, asked.num_procs))
