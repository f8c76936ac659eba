"""A file of one's own: read in a thread, with progress that can be stopped, and choices of how its table is read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import param

from mklviz.datasets import NOTHING, TASK_CHOICES, DataError, Dataset, TableOptions, TableSummary, read_dataset_bytes
from mklviz.datasets._formats import suffixes
from mklviz.engine.task import ProgressReport, Task
from mklviz.limits import LIMITS
from mklviz.recipe.choices import TABLE_OPTIONS, digest
from mklviz.views.form import Button, Expander, FormRow, Group, ProgressBar, Reasons, Select, Switch, TableHead, TextBox
from mklviz.views.sidebar.controls import note, say

UPLOAD_LIMIT = LIMITS.upload_bytes
ACCEPTED = ",".join((".csv,.tsv,.txt,.data,.dat,.xlsx,.parquet", *suffixes(), ".gz,.bz2,.xz,.zip"))
LOOK_SECONDS = 0.05  # between looks whether the file has been read
PREDICT, LEAVE, USE = "predict it", "leave it out", "use it"
MOST_SHOWN = 40  # columns
WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "task": ("the target holds", {choice: choice for choice in TASK_CHOICES}),
    "sep": ("between columns", {word: word for word in ("commas", "semicolons", "tabs", "bars", "blanks", "widths")}),
    "decimal": ("decimal sign", {"point": ".", "comma": ","}),
    "thousands": ("between thousands", {"point": ".", "comma": ",", "blank": " "}),
    "encoding": (
        "letters",
        {"UTF-8": "utf-8", "UTF-16": "utf-16", "Western": "cp1252", "Cyrillic": "cp1251", "GBK": "gb18030",
         "Shift-JIS": "cp932"},
    ),
    "sheet": ("sheet", {}),
    "test": ("rows to test", {}),
    "missing_view": ("missing in a view", {"leave the samples out": "leave-out", "mean of other kernels": "average"}),
}  # fmt: skip
_NAMING = ("sep", "encoding", "sheet")  # choices that may give columns other names
_FILLING = "Fill in: the median of numbers, the most frequent of words."


class TableChoices(param.Parameterized):
    """What a person may choose of a table that was read, and the table itself; `asked` counts these choices.

    `renamed`: whether one of them since the table was last shown may have given columns other names.
    """

    asked = param.Integer(default=0)

    def __init__(self) -> None:
        super().__init__()
        self._showing, self._read, self.renamed = False, TableOptions(), False
        self.dialect = note()
        self.head = TableHead(label="The first rows of the table")
        self.target = Select(label="target", description="The column that is predicted")
        self.header = Switch(label="First row holds column names")
        self.missing = Select(label="missing values", visible=False)
        self.filling, self.done = note(_FILLING), Reasons(visible=False)
        self.written = {
            name: Select(label=label, options={"automatic": None, **choices})
            for name, (label, choices) in WRITTEN.items()
        }
        self.na = TextBox(label="missing words", placeholder="none, 999", description="Words that mean a missing value")
        *written, test, missing_view = self.written.values()
        self.how = Expander(*written, self.na, title="How the file is written")
        self.body = Group(
            self.dialect, self.head, self.target, self.header, test, self.missing, self.filling, missing_view, self.how,
            self.done, visible=False,
        )  # fmt: skip
        self.header.param.watch(self._other_names, "value")
        self.head.param.watch(self._of_a_column, "asked")
        for control in (self.target, self.missing, self.na, *self.written.values()):
            control.param.watch(self._ask, "value")

    def show(self, summary: TableSummary | None) -> None:
        """Show how a table was read and what was done to it; nothing where there is none."""
        self.renamed = False
        self.body.visible = summary is not None
        if summary is None:
            return
        self._showing, self._read = True, summary.options
        read = summary.options
        try:
            self.target.param.update(options={name: name for name in (*summary.targets, NOTHING)}, value=read.target)
            self.header.param.update(value=read.header is not False, visible=not summary.named)
            rows = "1 row" if summary.gaps == 1 else f"{summary.gaps:,} rows"
            choices = {f"leave out {rows}": "leave-out", f"fill in, {rows}": "fill"}
            self.missing.param.update(options=choices, value=read.missing, visible=read.missing is not None)
            for name, options in (("sheet", summary.sheets), ("test", summary.tests)):
                self.written[name].options = {"automatic": None, **{each: each for each in options}}
            some = {
                "sheet": len(summary.sheets) > 1, "test": bool(summary.tests),
                "missing_view": summary.absent > 0 or read.missing_view is not None,
            }  # fmt: skip
            self._show_written(read, {name for name in WRITTEN if some.get(name, name in summary.heeded)})
        finally:
            self._showing = False
        self.filling.visible, self.head.visible = self.missing.visible, True
        say(self.dialect, summary.dialect)
        heads = [
            [name, kind, became, *_wishes(name, kind, read)] for name, kind, became in summary.columns[:MOST_SHOWN]
        ]
        self.head.param.update(heads=heads, rows=list(summary.first))
        summed = f"What was done to the table ({len(summary.done)})"
        self.done.param.update(summary=summed, items=list(summary.done), visible=bool(summary.done))

    def refused(self, columns: Sequence[str], heeded: Sequence[str], options: TableOptions) -> None:
        """Offer another target, and how the file is written, where a table was refused as it was read."""
        self._showing, self._read, self.renamed = True, options, False
        for part in self.body.inner:
            part.visible = part is self.how or (part is self.target and bool(columns))
        offered = {"automatic": None, **{name: name for name in (*columns, NOTHING)}}
        known = options.target if options.target in offered.values() else None
        self.target.param.update(options=offered, value=known)
        self.missing.value = options.missing
        self._show_written(options, {*heeded} - {"sheet", "test", "missing_view"})  # which a table that is read tells
        self.body.visible, self._showing = True, False

    def _show_written(self, options: TableOptions, visible: Collection[str]) -> None:
        self.na.value = ", ".join(options.na)
        for name, control in self.written.items():
            offered, value = control.options, getattr(options, name)
            if value not in offered.values():
                control.options = {**offered, str(value): value}
            control.param.update(value=value, visible=name in visible)

    @property
    def options(self) -> TableOptions:
        """How the table is to be read."""
        given = self._read.header
        header = given if (given is not False) == self.header.value else self.header.value
        written: dict[str, Any] = {name: control.value for name, control in self.written.items()}
        return replace(
            self._read, target=self.target.value, missing=self.missing.value,
            header=header if self.header.visible else None, **written,
            na=tuple(filter(None, map(str.strip, self.na.value.split(",")))),
        )  # fmt: skip

    def _other_names(self, *_: Any) -> None:
        """Read the table anew without a target, whose name is then another one."""
        if not self._showing:
            self._read = replace(self._read, leave_out=())
            self.target.value = None

    def _of_a_column(self, event: Any) -> None:
        name, wish = event.new
        if wish == PREDICT and name in self.target.options.values():
            self.target.value = name
        elif wish in (LEAVE, USE, PREDICT):
            others = tuple(column for column in self._read.leave_out if column != name)
            self._read = replace(self._read, leave_out=(*others, name) if wish == LEAVE else others)
            if wish == PREDICT or (wish == LEAVE and name == self.target.value):
                with param.parameterized.discard_events(self.target):
                    self.target.value = name if wish == PREDICT else None
            self._ask()

    def _ask(self, *events: Any) -> None:
        if not self._showing:
            self.renamed |= any(event.obj is self.written[name] for event in events for name in _NAMING)
            self.asked += 1


def _wishes(name: str, kind: str, read: TableOptions) -> list[str]:
    """Return what a person may ask of a column."""
    other = [USE] if name in read.leave_out else [LEAVE] if kind in ("target", "numbers", "words") else []
    return other if kind == "target" else [PREDICT, *other]


class FileReading:
    """One file at a time; `fault` says why the last could not be read, or that it was stopped."""

    def __init__(self) -> None:
        self.task, self.patience = Task[Dataset](), 0.3  # seconds before progress is shown
        self.fault, self.refused = "", DataError()  # of the file that was refused
        self.bar = ProgressBar(label="Reading the file")
        self.stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", width=80)
        self.body = Group(FormRow(note("Reading the file"), self.stop), self.bar, visible=False)

    async def read(self, content: bytes, name: str, options: TableOptions, renamed: bool = False) -> Dataset | None:
        """Return what a file holds; None if it cannot be read, was stopped, or another one was asked for meanwhile.

        Where columns may have been `renamed`, and it cannot be read with those chosen, it is read without.
        """
        key, begun, task = object(), time.monotonic(), self.task
        self.fault, self.refused = "", DataError()

        def compute(report: ProgressReport) -> Dataset:
            for tried in (options, replace(options, target=None, leave_out=()))[: 1 + renamed]:
                try:
                    return read_file(content, name, tried, report)
                except DataError as error:
                    self.refused = error
            raise self.refused

        task.ask(key, compute, f"{name} could not be read")
        while task.key is key and not task.ended:
            self.bar.value = round(100 * task.fraction)
            self.body.visible = time.monotonic() - begun > self.patience
            await asyncio.sleep(LOOK_SECONDS)
        if task.key is not key:
            return None
        self.body.visible = False
        own = task.take()
        self.fault = task.fault
        return own


def read_file(content: bytes, name: str, options: TableOptions, report: ProgressReport | None = None) -> Dataset:
    """Return what an uploaded file holds, its digest computed; raise `DataError` where it cannot be used."""
    own = read_dataset_bytes(content, name, progress=report, **{key: getattr(options, key) for key in TABLE_OPTIONS})
    digest(own)  # in this thread rather than on the event loop
    return own


def check_size(name: str, size: int) -> None:
    """Raise `DataError` where an uploaded file is empty or too large to have been sent."""
    if size == 0:
        raise DataError(f"{name} is empty: choose a file with rows of values.")
    if size > UPLOAD_LIMIT:
        raise DataError(f"{name} has {size / 2**20:.0f} MB, but at most {UPLOAD_LIMIT // 2**20} MB are read: zip it.")
