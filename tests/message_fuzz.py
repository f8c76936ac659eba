"""Messages no browser sends, by the thousand, to a server of its own: does it live, stay small, and answer others?

    python tests/message_fuzz.py [--messages 20000] [--seed 0]

One visitor opens the page as a browser does and then sends mutated messages: every property of every model with values
of other types, long, deep and huge ones, arrays and packed bytes, events of all names, answers of forms, many events at
once, parts of messages, files in pieces. A bystander, who has a page too, asks for a small thing again and again, on
the page's socket and beside it. What it waits for counts in CPU time of the server's event loop, so that a busy machine
changes nothing.
"""

import argparse
import asyncio
import base64
import contextlib
import gzip
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from _browser import Program
from _waits import soon
from bokeh.events import _CONCRETE_EVENT_CLASSES
from bokeh.model import Model
from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import WebSocketClosedError

import mklviz.views.explorer.explorer  # noqa: F401, whose models are asked for their properties
from mklviz.bench._visitors import Visitor, turn

__all__ = ["Outcome", "fuzz"]

PATIENCE = 120.0  # seconds for a single answer, on a machine that may be busy
LOOK = 0.02  # seconds between two questions of the bystander
PACKED = base64.b64encode(gzip.compress(bytes(20 * 10**6))).decode()
PLAIN = (None, True, False, 0, -1, 3, 1e308, -1e308, 5e-324, 10**20, 10**30, "", "a", "é", "\ud800", "\x1b[2J\r\n\0")
LARGE = ("x" * 60_000, [0] * 20_000, ["a"] * 10_000, [[[[[[[[1]]]]]]]], [{"a": 1}] * 3000, "A" * 900_000)
TYPED: tuple[dict[str, Any], ...] = (
    {"type": "number", "value": "nan"},
    {"type": "number", "value": "-inf"},
    {"type": "number", "value": []},
    {"type": "bytes", "data": PACKED},
    {"type": "bytes", "data": {"id": "b1"}},
    {"type": "ndarray", "array": ["a"] * 4, "dtype": "S250000000", "order": "little", "shape": [4]},
    {"type": "ndarray", "array": {"type": "bytes", "data": PACKED}, "dtype": "uint8", "order": "little", "shape": [1]},
    {"type": "typed_array", "array": [1], "dtype": "float64", "order": "big"},
    {"type": "object", "name": "Figure", "id": "new", "attributes": {}},
    {"type": "object", "name": "CustomJS", "id": "new2", "attributes": {"code": "1"}},
    {"type": "map", "entries": [["x", [1, 2]], ["y", "z"]]},
    {"type": "map", "entries": [[[], []]]},
    {"type": "map", "entries": 3},
    {"type": "slice", "start": 0, "stop": 10**9, "step": 1},
    {"type": "value", "value": 3},
    {"type": "field", "field": "nowhere"},
    {"type": "expr", "expr": 3},
    {"type": ["map"]},
    {"id": "nowhere"},
)
HEADER = '{"msgid": "f", "msgtype": "PATCH-DOC"}'
CLOSING: tuple[tuple[str | bytes, ...], ...] = (
    (b"\0" * 100,),
    ("x" * 10**6,),
    (HEADER, "{}", "[" * 60_000),
    (HEADER, "{}", '{"events": ' + "9" * 60_000 + "}"),
    (HEADER, "{}", json.dumps({"events": ["x" * 100] * 9000})),
    (HEADER, "{}", "null"),
    ('{"msgid": "f", "msgtype": "PATCH-DOC", "num_buffers": 1000000000}', "{}", '{"events": []}'),
    ('{"msgid": "f", "msgtype": "PUSH-DOC"}', "{}", '{"doc": {"roots": []}}'),
    ('{"msgid": ["f"], "msgtype": "PATCH-DOC"}', "{}", "{}"),
    ("{}", "{}", "{}"),
    ("3", "{}", "{}"),
)


@dataclass
class Outcome:
    """What came of it."""

    alive: bool = False  # whether the server still ran at the end
    answers: Counter[str] = field(default_factory=Counter)  # by kind; "closed" where the socket was closed instead
    texts: set[str] = field(default_factory=set)  # what answers said of mistakes
    peak: float = 0.0  # the largest resident memory of the server, in megabytes
    waits: list[float] = field(default_factory=list)  # CPU seconds of the event loop during each of a bystander's waits
    page: float = 0.0  # and those that it took to build a page
    logged: int = 0  # bytes in the server's log, which it filled in so many `minutes`
    minutes: int = 0
    dearest: tuple[float, str] = (0.0, "")  # what the dearest message cost in CPU seconds, and how it began

    def __str__(self) -> str:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.answers.most_common())
        return (
            f"{kinds}; the bystander asked {len(self.waits):,} times and waited {max(self.waits, default=0):.2f} s"
            f" of CPU time at most, a page takes {self.page:.2f} s; peak {self.peak:,.0f} MB;"
            f" log {self.logged / 1e3:,.0f} kB; alive: {self.alive}"
        )


class Fuzzer(Visitor):
    """A page's visitor that says what no browser says."""

    def __init__(self, port: int, seed: int, outcome: Outcome) -> None:
        super().__init__(port)
        self._random, self._outcome = random.Random(seed), outcome
        self._models: list[tuple[str, list[str]]] = []
        self._keys: list[int] = []

    async def open(self) -> Self:
        """Open a page as a browser does."""
        await super().open()
        await self._again()
        return self

    async def _again(self) -> None:
        """Come back to the page, and learn what models it has and which properties they have."""
        self._socket.close()
        document = await self._connect()
        found = {node["id"]: node for node in _objects(json.loads(document)) if "id" in node and "name" in node}
        self._models = [(name, sorted(_properties(node))) for name, node in found.items()]
        self._keys = sorted({int(key) for key in re.findall(r'\\"key\\": (\d+)', document)})

    async def say(self) -> str:
        """Send one message, and wait for its answer; return what it was."""
        if self._random.random() < 0.005:
            await self._break_off()
            return "a broken message"
        events = self._events()
        await self._say(events)
        return json.dumps(events)[:500]

    async def _say(self, events: list[Any]) -> None:
        try:
            await self._send("PATCH-DOC", {"events": events})
            while (read := await asyncio.wait_for(self._read(), PATIENCE))[0] not in ("OK", "ERROR"):
                pass
        except (ConnectionError, WebSocketClosedError):
            self._outcome.answers["closed"] += 1
            await self._again()
            return
        self._outcome.answers[read[0]] += 1
        if read[0] == "ERROR":
            self._outcome.texts.add(read[1])

    async def _break_off(self) -> None:
        """Send what cannot be answered, and open another page."""
        with contextlib.suppress(WebSocketClosedError):
            for part in self._random.choice(CLOSING):
                await self._socket.write_message(part, binary=isinstance(part, bytes))
        try:
            while True:
                await asyncio.wait_for(self._read(), PATIENCE)
        except ConnectionError:
            self._outcome.answers["closed"] += 1
        await self._again()

    def _events(self) -> list[Any]:
        draw = self._random.random()
        if draw < 0.55:
            return [self._change()]
        if draw < 0.6:
            return [self._change(1) for _ in range(self._random.choice((2, 20, 100, 101)))]
        if draw < 0.65:
            key = turn(self._heart, "key", self._random.choice(" sxr"))
            return [key, turn(self._heart, "presses", self._random.randrange(9))] * self._random.choice((1, 50))
        if draw < 0.7:
            return [self._value(0), {"kind": self._random.choice(("RootRemoved", "TitleChanged", "ColumnsStreamed"))}]
        if draw < 0.85:
            return [self._said()] * self._random.choice((1, 1, 1, 100))
        return [self._happened()]

    def _change(self, depth: int = 0) -> dict[str, Any]:
        name, properties = self._random.choice(self._models)
        attr = self._random.choice([*properties, "name", "tags", "nowhere"])
        return {"kind": "ModelChanged", "model": {"id": name}, "attr": attr, "new": self._value(depth)}

    def _said(self) -> dict[str, Any]:
        """Return what a control of a form would say."""
        said: list[list[Any]] = [["key", self._random.choice(self._keys)]] if self._keys else []
        for word in self._random.sample(("value", "name", "size", "begins", "piece", "close", "off"), 3):
            said.append([word, self._value(self._random.choice((0, 1)))])
        entries = [["model", {"id": self._random.choice(self._models)[0]}], ["data", {"type": "map", "entries": said}]]
        return _event("data_event", {"type": "map", "entries": entries})

    def _happened(self) -> dict[str, Any]:
        name = self._random.choice(sorted(_CONCRETE_EVENT_CLASSES))
        if name == "connection_lost":  # which the server says itself
            name = "nowhere"
        entries = [["model", {"id": self._random.choice(self._models)[0]}]]
        words = self._random.sample(("x", "y", "value", "geometry", "data", "x0"), self._random.randrange(4))
        entries += [[word, self._value(1)] for word in words]
        return _event(name, self._random.choice(({"type": "map", "entries": entries}, self._value(0))))

    def _value(self, depth: int) -> Any:
        draw = self._random.random()
        if draw < 0.7:
            return self._random.choice(PLAIN)
        if draw < 0.75 and depth == 0:
            return self._random.choice(LARGE)
        if draw < 0.8 or depth > 3:
            return self._random.choice((*TYPED, {"id": self._random.choice(self._models)[0]}))
        if draw < 0.9:
            return [self._value(depth + 1) for _ in range(self._random.randrange(4))]
        return {"type": "map", "entries": [[self._value(depth + 1), self._value(depth + 1)]]}


def _event(name: str, values: object) -> dict[str, Any]:
    data = {"type": "event", "name": name, "values": values}
    return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data}


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _objects(inner)


def _properties(node: dict[str, Any]) -> set[str]:
    """Return the properties that a model's class has, as far as it is known here, and those that the page names."""
    known = Model.model_class_reverse_map.get(node["name"])
    return {*node.get("attributes", {}), *(known.properties() if known is not None else ())}


class Bystander(Visitor):
    """Someone with a page, who asks for small things meanwhile."""

    def __init__(self, port: int, process: int, outcome: Outcome) -> None:
        super().__init__(port)
        self._port, self._process, self._outcome = port, process, outcome

    async def ask(self) -> None:
        """Ask until cancelled, on the page's socket and beside it."""
        await self.open()
        while True:
            begun = busy(self._process)
            await AsyncHTTPClient().fetch(f"http://localhost:{self._port}/favicon.ico", request_timeout=PATIENCE)
            between = busy(self._process)
            await self._send("SERVER-INFO-REQ", {})
            while (await asyncio.wait_for(self._read(), PATIENCE))[0] != "SERVER-INFO-REPLY":
                pass
            self._outcome.waits += [between - begun, busy(self._process) - between]
            await asyncio.sleep(LOOK)


def busy(process: int) -> float:
    """Return the CPU seconds of the thread in which a server answers, its first."""
    told = Path(f"/proc/{process}/task/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


async def _attack(port: int, process: int, messages: int, seed: int, outcome: Outcome) -> None:
    bystander = asyncio.create_task(Bystander(port, process, outcome).ask())
    await soon(lambda: outcome.waits or bystander.done())
    fuzzer = Fuzzer(port, seed, outcome)
    begun = busy(process)
    await fuzzer.open()
    outcome.page = busy(process) - begun
    outcome.waits.clear()  # the page was built meanwhile
    for _ in range(messages):
        begun = busy(process)
        said = await fuzzer.say()
        outcome.dearest = max(outcome.dearest, (busy(process) - begun, said))
        if bystander.done():
            break
    before = len(outcome.waits)
    await soon(lambda: len(outcome.waits) >= before + 2 or bystander.done())  # it is answered at the end as well
    bystander.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await bystander


def fuzz(messages: int, seed: int = 0) -> Outcome:
    """Send so many messages to a server of its own, and return what came of it."""
    outcome = Outcome()
    with TemporaryDirectory() as folder:
        server, begun = Program(Path(folder), "-m", "mklviz", "serve", "--no-show"), time.monotonic()
        try:
            asyncio.run(_attack(server.port, server.pid, messages, seed, outcome))
            outcome.peak = int(re.findall(r"VmHWM:\s*(\d+)", Path(f"/proc/{server.pid}/status").read_text())[0]) / 2**10
            outcome.alive = server.runs
        finally:
            server.close()
            outcome.logged, outcome.minutes = len(server.log.encode()), int(time.monotonic() - begun) // 60 + 1
    return outcome


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    begun = time.monotonic()
    outcome = fuzz(asked.messages, asked.seed)
    print(outcome, f"in {time.monotonic() - begun:.0f} s")
    print(f"  the dearest message, {outcome.dearest[0]:.2f} s: {outcome.dearest[1][:300]}")
    for text in sorted(outcome.texts):
        print(" ", text[:300])


if __name__ == "__main__":
    main()
