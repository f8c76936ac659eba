"""One component of the page that draws any number of parts: it sends them as one text, of which the browser redraws
what differs."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any, ClassVar

import param

from mklviz.views.form.parts import FormPart, Group
from mklviz.views.host.beside import KEEP_HOLD, LET_GO, beside
from mklviz.views.host.component import ScriptedComponent

__all__ = ["Form"]


class Form(ScriptedComponent):
    """Parts one below the other.

    `parts`: they may come, go and change at any time; `drawn`: what the browser draws, as JSON: the parts that are
    visible, and how many answers of a person were read.
    """

    drawn = param.String(default="")

    _esm = LET_GO + KEEP_HOLD + beside(__file__, "kinds.js") + beside(__file__, "form.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "form.css")]

    def __init__(self, *parts: FormPart, **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", "margin": 0, **params})
        self.root = Group(*parts)
        self._watched: dict[int, tuple[FormPart, Any]] = {}
        self._locked: set[int] = set()  # keys of parts that are read-only
        self._due, self._answers = False, 0
        self.refresh()

    def refresh(self) -> None:
        """Describe the parts anew."""
        self._due = False
        self._watch_all()
        parts = [part.describe() for part in self.root.inner if part.visible]
        self.drawn = json.dumps({"answers": self._answers, "parts": parts})

    def _watch_all(self) -> None:
        """Notice changes of all parts that are there now, and of no others."""
        there = {part.key: part for part in self.root.every()}
        for key in set(self._watched) - set(there):
            part, watcher = self._watched.pop(key)
            part.param.unwatch(watcher)
        for key in set(there) - set(self._watched):
            part = there[key]
            self._watched[key] = part, part.param.watch(self._changed, list(part.param))
        groups = [part for part in self.root.every() if isinstance(part, Group) and part.locked]
        self._locked = {part.key for group in groups for part in group.every()}

    def _changed(self, *_: Any) -> None:
        """Send changes when their cause is done, as one change often brings others."""
        if self._due:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.refresh()
            return
        self._due = True
        loop.call_soon(self.refresh)

    def receive(self, message: Any) -> None:
        """Hand a person's action to its part, if that part is still visible."""
        self._answers += 1
        part, _ = self._watched.get(message.get("key"), (None, None))
        try:
            if part is not None and part.visible and part.key not in self._locked:
                part.answer(message)
        finally:
            self._changed()  # even without a change, as the browser may show a refused value

    def hand_over(self, name: str, content: bytes) -> None:
        """Let the browser save a file."""
        self.send({"name": name, "content": base64.b64encode(content).decode()})

    def before_page(self) -> None:
        """Describe the parts anew, if that is due."""
        if self._due:
            self.refresh()
