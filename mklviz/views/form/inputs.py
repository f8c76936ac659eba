"""The parts of a form that hold a value a person may change. Values that the control cannot produce are ignored."""

from __future__ import annotations

import io
import json
import zipfile
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, ClassVar

import param

from mklviz.quoting import MOST_NAME
from mklviz.views.form.parts import FormPart

LONGEST_TEXT = 10_000  # characters
MOST_FILES = 1000


class TextBox(FormPart):
    """One line of text, its label at the left; `helper_text` stands below and says what is wrong with it."""

    kind, shown = "text", ("label", "value", "placeholder", "description", "helper_text")
    value = param.String(default="")
    placeholder = param.String(default="")
    helper_text = param.String(default="")

    def answer(self, message: Mapping[str, Any]) -> None:
        text = message.get("value")
        if isinstance(text, str) and len(text) <= LONGEST_TEXT:
            self.value = text


class _Choice(FormPart):
    """One of several options; `options` are values by what is shown for them."""

    options = param.Dict(default={})
    value = param.Parameter(default=None)

    @property
    def offered(self) -> dict[str, Any]:
        """All values by their labels."""
        return dict(self.options)

    def offer(self, options: Mapping[str, Any]) -> None:
        """Offer other options; the first is chosen where the one chosen before is not among them."""
        values = list(options.values())
        self.param.update(options=dict(options), value=self.value if self.value in values else next(iter(values), ""))

    def describe(self) -> dict[str, Any]:
        """Name the option chosen; values stay here."""
        chosen = next((label for label, value in self.offered.items() if value == self.value), "")
        return {**super().describe(), "options": list(self.options), "value": chosen}

    def answer(self, message: Mapping[str, Any]) -> None:
        offered = self.offered
        if message.get("value") in offered:
            self.value = offered[message["value"]]


class Select(_Choice):
    """A drop-down list, its label at the left; a bare one shows its value alone, and tells screen readers its label."""

    kind, shown = "select", ("label", "bare", "description", "width")
    groups = param.Dict(default={}, doc="Options under headings, instead of `options`")
    bare = param.Boolean(default=False)
    width = param.Integer(default=None, allow_None=True)

    @property
    def offered(self) -> dict[str, Any]:
        """All values by their labels."""
        return {**self.options, **{label: value for group in self.groups.values() for label, value in group.items()}}

    def describe(self) -> dict[str, Any]:
        """Name groups as well."""
        return {**super().describe(), "groups": [[name, list(group)] for name, group in self.groups.items()]}


class Segments(_Choice):
    """A row of buttons, of which one is pressed."""

    kind, shown = "segments", ("label",)


class Choices(_Choice):
    """Answers, of which one may be chosen until the `right` one is known; `counts`: how many of a class chose each."""

    kind, shown = "choices", ("label", "right", "counts")
    right = param.String(default="")
    counts = param.List(default=[])

    def describe(self) -> dict[str, Any]:
        """Name the right one by its label."""
        return super().describe() | {"right": next((one for one, it in self.options.items() if it == self.right), "")}

    def answer(self, message: Mapping[str, Any]) -> None:
        if not self.right:
            super().answer(message)


class Switch(FormPart):
    """Something that is on or off."""

    kind = "switch"
    shown: ClassVar[tuple[str, ...]] = ("label", "value", "description")
    value = param.Boolean(default=False)

    def answer(self, message: Mapping[str, Any]) -> None:
        if isinstance(message.get("value"), bool):
            self.value = message["value"]


class Checkbox(Switch):
    """Something that is on or off, as a box to tick."""

    kind = "checkbox"


class Chip(Switch):
    """A coloured button that stays pressed; what is disabled says why in its description."""

    kind = "chip"
    shown: ClassVar[tuple[str, ...]] = ("label", "value", "description", "disabled", "colour")
    disabled = param.Boolean(default=False)
    colour = param.String(default="")

    def answer(self, message: Mapping[str, Any]) -> None:
        if not self.disabled:
            super().answer(message)


class Slider(FormPart):
    """A whole number from `start` to `end`; `names` are shown instead of the numbers, one for each."""

    kind, shown = "slider", ("label", "value", "start", "end", "names")
    value = param.Integer(default=0)
    start = param.Integer(default=0)
    end = param.Integer(default=1)
    names = param.List(default=[])

    def answer(self, message: Mapping[str, Any]) -> None:
        number = message.get("value")
        if isinstance(number, int) and self.start <= number <= self.end:
            self.value = number


class File(FormPart):
    """A button to choose a file, which arrives in pieces; the announced sizes are not trusted.

    Several files arrive one after the other, and are packed. `value`: the file, when it is there as a whole; empty
    where it has more than `limit` bytes; `size`: bytes it has on the other side; `trouble`: why an upload failed whose
    messages contradict each other.
    """

    kind, shown = "file", ("label", "accept", "description", "limit", "wanted", "dropped", "several")
    accept = param.String(default="")
    limit = param.Integer(default=10 * 2**20)
    wanted = param.Integer(default=0, doc="How often the page was asked to bring the button into sight")
    dropped = param.Boolean(default=False, doc="Whether it may be dropped on the page, too, while the button is seen")
    several = param.Boolean(default=False, doc="Whether several files may be chosen together")
    value = param.Bytes(default=None, allow_None=True)
    filename = param.String(default="")
    size = param.Integer(default=0)
    trouble = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._pieces: list[bytes] = []
        self._announced: tuple[str, int] | None = None
        self._files: list[tuple[str, bytes]] = []  # that came before it, of several

    def answer(self, message: Mapping[str, Any]) -> None:
        name, given = message.get("name"), [message.get("size"), message.get("at", 0), message.get("of", 1)]
        counted = all(type(number) is int and number >= 0 for number in given)
        size, at, of = map(int, given) if counted else (0, 1, 0)
        if not isinstance(name, str) or not at < of <= (MOST_FILES if self.several else 1):
            self._give_up()
            return
        if message.get("begins") is True:
            self._pieces, self._announced = [], (name, size)
            self._files = self._files[:at]
            self.trouble = ""
        if self._announced is None:  # given up before
            return
        before = sum(len(content) for _, content in self._files)
        if self._announced == (name, size) and before + size > self.limit:
            self._arrived(b"", name, size)
            return
        piece = _decoded(message.get("piece"))
        arrived = sum(map(len, self._pieces)) + len(piece)
        if self._announced != (name, size) or arrived > size or len(self._files) != at or (size > 0 and not piece):
            self._give_up()
            return
        self._pieces.append(piece)
        if arrived == size:
            self._files.append((name, b"".join(self._pieces)))
            if len(self._files) == of:
                self._arrived(*_packed(self._files))

    def _give_up(self) -> None:
        self._pieces, self._announced, self._files = [], None, []
        self.trouble = "The upload could not be understood: choose the file again."

    def _arrived(self, content: bytes, name: str, size: int) -> None:
        self._pieces, self._announced, self._files = [], None, []
        self.param.update(value=None, filename=name, size=size)  # so that the same file once more is news
        self.value = content
        self.value = None


def _packed(files: list[tuple[str, bytes]]) -> tuple[bytes, str, int]:
    """Return the only file, or an archive of several, its name and its size."""
    if len(files) == 1:
        ((name, content),) = files
        return content, name, len(content)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files:
            archive.writestr(name.encode(errors="replace").decode()[-MOST_NAME:], content)
    names = ",".join(json.dumps(name, ensure_ascii=False) if "," in name else name for name, _ in files)
    short = names if len(names) <= MOST_NAME else f"{files[0][0]} and {len(files) - 1} others"
    return packed.getvalue(), short, sum(len(content) for _, content in files)


def _decoded(piece: Any) -> bytes:
    """Return the bytes of a piece, none where it is no base64 text."""
    try:
        return b64decode(piece, validate=True) if isinstance(piece, str) else b""
    except ValueError:
        return b""


def follow(part: param.Parameterized, owner: param.Parameterized, name: str, own: str = "value") -> None:
    """Keep the Param `own` of `part` and the Param `name` of `owner` the same; the owner's counts at first."""
    part.param.update(**{own: getattr(owner, name)})
    part.param.watch(lambda event: owner.param.update(**{name: event.new}), own)
    owner.param.watch(lambda event: part.param.update(**{own: event.new}), name)
