"""A file of one's own: read in a thread, with progress that can be stopped, and choices of how its table is read."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import param

from mklviz.datasets import DataError, Dataset, TableOptions, TableSummary, read_dataset_bytes
from mklviz.engine.task import ProgressReport, Task
from mklviz.limits import LIMITS
from mklviz.recipe.choices import digest
from mklviz.views.form import Button, FormRow, Group, ProgressBar, Reasons, Select, Switch
from mklviz.views.sidebar.controls import note

__all__ = ["UPLOAD_LIMIT", "FileReading", "TableChoices", "check_size", "read_file"]

UPLOAD_LIMIT = LIMITS.upload_bytes
LOOK_SECONDS = 0.05  # between looks whether the file has been read
PATIENCE = 0.3  # seconds before progress is shown
_FILLING = "Fill in: the median of numbers, the most frequent of words."


class TableChoices(param.Parameterized):
    """What a person may choose of a table that was read; `asked` counts these choices."""

    asked = param.Integer(default=0)

    def __init__(self) -> None:
        super().__init__()
        self._showing = False
        self.target = Select(label="target", description="The column that is predicted")
        self.header = Switch(label="First row holds column names")
        self.missing = Select(label="missing values", visible=False)
        self.filling, self.done = note(_FILLING), Reasons(visible=False)
        self.body = Group(self.target, self.header, self.missing, self.filling, self.done, visible=False)
        self.header.param.watch(self._other_names, "value")
        for control in (self.target, self.missing):
            control.param.watch(self._ask, "value")

    def show(self, summary: TableSummary | None) -> None:
        """Show how a table was read and what was done to it; nothing where there is none."""
        self.body.visible = summary is not None
        if summary is None:
            return
        self._showing, read = True, summary.options
        try:
            self.target.param.update(options={name: name for name in summary.targets}, value=read.target)
            self.header.param.update(value=read.header is True, visible=not summary.named)
            rows = "1 row" if summary.gaps == 1 else f"{summary.gaps:,} rows"
            choices = {f"leave out {rows}": "leave-out", f"fill in, {rows}": "fill"}
            self.missing.param.update(options=choices, value=read.missing, visible=read.missing is not None)
        finally:
            self._showing = False
        self.filling.visible = self.missing.visible
        summed = f"What was done to the table ({len(summary.done)})"
        self.done.param.update(summary=summed, items=list(summary.done), visible=bool(summary.done))

    @property
    def options(self) -> TableOptions:
        """How the table is to be read."""
        header = self.header.value if self.header.visible else None
        return TableOptions(self.target.value, self.missing.value, header)

    def _other_names(self, *_: Any) -> None:
        """Read the table anew without a target, whose name is then another one."""
        if not self._showing:
            self.target.value = None

    def _ask(self, *_: Any) -> None:
        if not self._showing:
            self.asked += 1


class FileReading:
    """One file at a time; `fault` says why the last could not be read, or that it was stopped."""

    def __init__(self) -> None:
        self.task = Task[Dataset]()
        self.fault = ""
        self.bar = ProgressBar(label="Reading the file")
        self.stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", width=80)
        self.body = Group(FormRow(note("Reading the file"), self.stop), self.bar, visible=False)

    async def read(self, content: bytes, name: str, options: TableOptions) -> Dataset | None:
        """Return what a file holds; None if it cannot be read, was stopped, or another one was asked for meanwhile."""
        key, begun, task = object(), time.monotonic(), self.task
        self.fault = ""

        def compute(report: ProgressReport) -> Dataset:
            return read_file(content, name, options, report)

        task.ask(key, compute, f"{name} could not be read")
        while task.key is key and not task.ended:
            self.bar.value = round(100 * task.fraction)
            self.body.visible = time.monotonic() - begun > PATIENCE
            await asyncio.sleep(LOOK_SECONDS)
        if task.key is not key:
            return None
        self.body.visible = False
        own = task.take()
        self.fault = task.fault
        return own


def read_file(content: bytes, name: str, options: TableOptions, report: ProgressReport | None = None) -> Dataset:
    """Return what an uploaded file holds, its digest computed; raise `DataError` where it cannot be used."""
    own = read_dataset_bytes(content, name, options.target, options.missing, options.header, report)
    digest(own)  # in this thread rather than on the event loop
    return own


def check_size(name: str, size: int) -> None:
    """Raise `DataError` where an uploaded file is empty or too large to have been sent."""
    if size == 0:
        raise DataError(f"{name} is empty: choose a file with rows of values.")
    if size > UPLOAD_LIMIT:
        raise DataError(f"{name} has {size / 2**20:.0f} MB, but at most {UPLOAD_LIMIT // 2**20} MB are read.")
