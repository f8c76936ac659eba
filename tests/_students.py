"""A class without browsers, behind a room's code: who leads a lesson, and who follows and answers its question."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any

from tornado.httpclient import AsyncHTTPClient

from mklviz.bench._visitors import Visitor
from mklviz.views.explorer.follower import COUNTED
from mklviz.views.links import FOLLOW

CODE, LESSON = "blackboard", "silp-is-fine"


async def cookies_at(port: int, browser: str = "") -> str:
    """Return the cookies of a browser that has given the code; `browser` are those that it had before."""
    page = f"http://localhost:{port}/explorer?code={CODE}"
    given = await AsyncHTTPClient().fetch(page, follow_redirects=False, raise_error=False)
    return "; ".join(filter(None, [given.headers["Set-Cookie"].partition(";")[0], browser]))


class Teacher(Visitor):
    """Leads the lesson; `said`: all that its page was told."""

    def __init__(self, port: int, cookies: str, more: str = "") -> None:
        super().__init__(port, f"?scenario={LESSON}&lesson=on&pace=0{more}", cookies)
        self.said = ""

    async def until(self, pattern: str) -> str:
        """Wait until the page was told what the pattern says, and return its first group."""
        while (found := re.search(pattern, self.said)) is None:
            self.said += await self._answer()
        return found[1]


class Student(Visitor):
    """Follows the room and answers."""

    def __init__(self, port: int, cookies: str, room: str) -> None:
        super().__init__(port, f"?{FOLLOW}={room}", cookies)

    async def answer(self, number: int) -> None:
        """Choose the answer of that number, and wait until the page says that it is counted."""
        form, question = next(_questions(self.document))
        options = question["options"]
        said = [["key", question["key"]], ["value", options[number % len(options)]]]
        entries = [["model", {"id": form}], ["data", {"type": "map", "entries": said}]]
        event = {"type": "event", "name": "data_event", "values": {"type": "map", "entries": entries}}
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event})
        while COUNTED not in await self._answer():
            pass


def _questions(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each question of a document, with the model that hears its answers."""
    if isinstance(node, dict):
        data = node.get("attributes", {}).get("data")
        drawn = data.get("attributes", {}).get("drawn") if isinstance(data, dict) else None
        if drawn:
            yield from ((node["id"], part) for part in _parts(json.loads(drawn)["parts"]) if part["kind"] == "choices")
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _questions(inner)


def _parts(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for part in parts:
        yield part
        yield from _parts(part.get("inner", []))


async def class_answers(teacher: Teacher, port: int, cookies: str, students: int) -> tuple[float, float]:
    """Let so many come at once and then answer at once.

    Return the seconds until all have their pages, and from the first answer until the page that leads counts all.
    """
    room = await teacher.until(rf"\?{FOLLOW}=([\w-]{{16}})")
    begun = time.perf_counter()
    there = await asyncio.gather(*(Student(port, cookies, room).open() for _ in range(students)))
    opened = time.perf_counter()
    counted = teacher.until(rf"({students}) answers")
    await asyncio.gather(counted, *(student.answer(k) for k, student in enumerate(there)))
    ended = time.perf_counter()
    for student in there:
        student.leave()
    return opened - begun, ended - opened
