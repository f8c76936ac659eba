"""The parts of a form that hold no value: words, buttons, boxes around other parts; and `Form`, which draws them."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, ClassVar

import param
from bokeh.core.property.descriptors import UnsetValueError

from mklviz.limits import ADDRESS
from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.components import ScriptedComponent

_KEYS = count()


class FormPart(param.Parameterized):
    """Something a form draws; `key` tells this part from all others."""

    kind: ClassVar[str] = ""  # which function of ``form.js`` draws it
    shown: ClassVar[tuple[str, ...]] = ()  # the Params that function reads, unless they are empty or off
    visible = param.Boolean(default=True)
    label = param.String(default="")
    description = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.key = next(_KEYS)

    @property
    def inner(self) -> Sequence[FormPart]:
        """The parts within this one."""
        return ()

    def every(self) -> Iterator[FormPart]:
        """Yield this part and all within it, hidden ones too."""
        yield self
        for part in self.inner:
            yield from part.every()

    def describe(self) -> dict[str, Any]:
        """Return what the browser needs to draw this part, as far as it is visible."""
        values = {name: value for name in self.shown if (value := getattr(self, name)) not in (None, "", False)}
        if self.inner:
            values["inner"] = [part.describe() for part in self.inner if part.visible]
        return {"key": self.key, "kind": self.kind, **values}

    def answer(self, message: Mapping[str, Any]) -> None:
        """Apply what a person did to this part."""


class Heading(FormPart):
    """The heading of a section."""

    kind, shown = "heading", ("object",)
    object = param.String(default="")


class Note(FormPart):
    """A line of small grey text; `strong` text is that of a title, `spoken` text is news that screen readers tell."""

    kind, shown = "note", ("object", "small", "strong", "spoken")
    object = param.String(default="")
    small = param.Boolean(default=False)
    strong = param.Boolean(default=False)
    spoken = param.Boolean(default=False)


class Link(FormPart):
    """A link with a button that copies it; `reach`: for others, where its address means this machine everywhere."""

    kind, shown = "link", ("label", "address", "reach")
    address = param.String(default="")
    reach = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(reach=os.environ.get(ADDRESS, ""), **params)


class Code(FormPart):
    """A program, with a button that copies it."""

    kind, shown = "code", ("label", "object")
    object = param.String(default="")


class Alert(FormPart):
    """A sentence on what went wrong ("error"), or may ("warning")."""

    kind, shown = "alert", ("object", "severity", "closeable")
    object = param.String(default="")
    severity = param.Selector(default="error", objects=["error", "warning"])
    closeable = param.Boolean(default=False)

    def answer(self, message: Mapping[str, Any]) -> None:
        if message.get("close"):
            self.visible = False


class Reasons(FormPart):
    """A list of sentences under a summary, which opens it."""

    kind, shown = "reasons", ("summary", "items")
    summary = param.String(default="")
    items = param.List(default=[])


class TableHead(FormPart):
    """The first rows of a table, under heads that say what each column became and offer something else.

    `heads`: for each column its name, the kind that colours it, what it became, and what a person may ask of it;
    `asked`: the last such wish, a column's name and what is wanted of it.
    """

    kind, shown = "table", ("label", "heads", "rows")
    heads = param.List(default=[])
    rows = param.List(default=[])
    asked = param.Tuple(default=("", ""), length=2)

    def answer(self, message: Mapping[str, Any]) -> None:
        name, wish = message.get("column"), message.get("wish")
        if any(name == head[0] and wish in head[3:] for head in self.heads):
            self.param.update(asked=(name, wish))
            self.asked = ("", "")


class ProgressBar(FormPart):
    """How far something is, from 0 to 100."""

    kind, shown = "progress", ("value", "label")
    value = param.Integer(default=0, bounds=(0, 100))


class Button(FormPart):
    """A button; its `description` is seen while it has pointer or focus, also where it is disabled."""

    kind, shown = "button", ("label", "variant", "description", "disabled", "width", "wide")
    variant = param.Selector(default="outlined", objects=["outlined", "contained", "text"])
    disabled = param.Boolean(default=False)
    width = param.Integer(default=None, allow_None=True)
    wide = param.Boolean(default=False, doc="Whether it takes the width that others leave")
    clicks = param.Integer(default=0)

    def __init__(self, click: Callable[..., Any] | None = None, **params: Any) -> None:
        super().__init__(**params)
        if click is not None:
            self.param.watch(click, "clicks")

    def answer(self, message: Mapping[str, Any]) -> None:
        if message.get("click") and not self.disabled:
            self.clicks += 1


class Menu(FormPart):
    """A button that opens a list of names, of which one may be pressed."""

    kind, shown = "menu", ("label", "items")
    items = param.List(default=[])

    def __init__(self, press: Callable[[str], Any], **params: Any) -> None:
        super().__init__(**params)
        self._press = press

    def answer(self, message: Mapping[str, Any]) -> None:
        if message.get("value") in self.items:
            self._press(str(message["value"]))


class Group(FormPart):
    """Parts one below the other; those of a locked group can be seen and not changed. A steady one keeps its height."""

    kind = "group"
    shown: ClassVar[tuple[str, ...]] = ("locked", "steady")
    locked = param.Boolean(default=False)
    steady = param.Boolean(default=False)
    objects = param.List(default=[])

    def __init__(self, *objects: FormPart, **params: Any) -> None:
        super().__init__(objects=list(objects), **params)

    @property
    def inner(self) -> Sequence[FormPart]:
        return tuple(self.objects)


class FormRow(Group):
    """Parts side by side; a row that wraps goes on in the next line."""

    kind = "row"
    shown: ClassVar[tuple[str, ...]] = ("locked", "wrap")
    wrap = param.Boolean(default=False)


class Expander(Group):
    """Parts under a title, which opens and closes it; it begins closed."""

    kind = "expander"
    shown: ClassVar[tuple[str, ...]] = ("locked", "title")
    title = param.String(default="")


class Form(ScriptedComponent):
    """Parts one below the other, which come and go; `drawn`: those seen, as JSON, and how many answers were read."""

    drawn = param.String(default="")

    _esm = CONTROLS + beside(__file__, "kinds.js") + beside(__file__, "form.js")
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
        with suppress(UnsetValueError):  # by models of a page that Bokeh is discarding just now
            self.drawn = json.dumps({"answers": self._answers, "parts": self.root.describe().get("inner", [])})

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
            asyncio.get_running_loop().call_soon(self.refresh)
            self._due = True
        except RuntimeError:
            self.refresh()

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
