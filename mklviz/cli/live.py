"""A race in the terminal: one line per solver while it runs, one table at the end.

A terminal gets lines redrawn in place; a file or a pipe gets a plain line per solver now and then.
"""

from __future__ import annotations

import math
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from mklviz.contract import Iterate, Solver
from mklviz.engine import Race, Run
from mklviz.engine.compiling import few_steps, miniatures
from mklviz.numbers import score_text
from mklviz.problem import Problem
from mklviz.quoting import one_line
from mklviz.recipe.prepared import Prepared
from mklviz.record.run_facts import number, shares_text
from mklviz.record.summary import COLUMNS, label, summarize
from mklviz.streams import PLAIN_SECONDS, ProgressLine, redraws

REFRESH_SECONDS = 0.2
PATIENCE_SECONDS = 2.0  # before a word of explanation
COMPILING = "mklviz: compiling the solvers; this happens once after an installation."
STOP_SECONDS = 10.0  # a compiled chunk ends long before this


def warm_up(problem: Problem, solvers: Sequence[Solver]) -> None:
    """Let the solvers take a few steps on small problems of this kind, so that no clock counts what is compiled."""
    notice = threading.Timer(PATIENCE_SECONDS, print, [COMPILING], {"file": sys.stderr})
    notice.start()
    try:
        for small in miniatures(problem):
            for solver in solvers:
                few_steps(small, solver)
    finally:
        notice.cancel()


def watch(race: Race, keep_up: Callable[[Race], None]) -> bool:
    """Start `race`, show its progress, call `keep_up` now and then, and return whether no Ctrl-C has ended it."""
    show = _InPlace(sys.stderr) if redraws(sys.stderr) else _StatusLines(sys.stderr)
    try:
        with asked_to_stop() as asked:
            race.start()
            while not race.wait(REFRESH_SECONDS):
                if asked.is_set():
                    raise KeyboardInterrupt
                show.update(race)
                keep_up(race)
        return True
    except KeyboardInterrupt:
        race.cancel()
        race.wait(STOP_SECONDS)
        return False
    finally:
        show.finish(race)


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """Note the first Ctrl-C, or request to end, without raising it, which could leave a lock held."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # where Python allows no handler
        yield asked
        return
    before = {asking: signal.getsignal(asking) for asking in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for asking, handler in before.items():
            signal.signal(asking, handler)

    def note(*_: object) -> None:
        asked.set()
        restore()

    for asking in before:
        signal.signal(asking, note)
    try:
        yield asked
    finally:
        restore()


def result_table(race: Race, prepared: Prepared) -> str:
    """Return the results as an aligned table, below it how each run ended, and what it spent its time on."""
    rows: list[Sequence[str]] = [(*COLUMNS, prepared.score_label)]
    for key, run in race.runs.items():
        summary = summarize(key, run.status, run.trace)
        rows.append((*summary, scored(prepared, run.trace.best) if len(run.trace) else "–"))
    sentences = [f"{label(key, run.trace)}: {run.reason}" for key, run in race.runs.items()]
    if race.precision:
        sentences += ["", race.precision]
    spent = [(f"{label(key, run.trace)}:", shares_text(run.trace.shares)) for key, run in race.runs.items()]
    width = max(len(name) for name, _ in spent)
    shares = [f"  {name:<{width}} {text}" for name, text in spent if text]
    heading = ["", "CPU time was spent on"] if shares else []
    return "\n".join([*aligned(rows), "", *sentences, *heading, *shares])


def scored(prepared: Prepared, iterate: Iterate) -> str:
    """Return the score on the test part: per cent of classes, or R²."""
    return score_text(prepared.score(iterate), prepared.score_label)


def aligned(rows: Sequence[Sequence[str]], words: int = 2) -> list[str]:
    """Return a table as lines: header, rule and rows; so many columns at first are words, the others numbers."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(w) if j < words else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return [lines[0].rstrip(), "  ".join("-" * w for w in widths), *(line.rstrip() for line in lines[1:])]


def _progress(key: str, run: Run) -> str:
    status, steps = run.status, len(run.trace)
    line = f"{label(key, run.trace):<12.12} {status:<9}"
    doing = run.doing
    if not steps:
        return f"{line} {doing or 'starting'}"
    trace, last = run.trace, run.trace[steps - 1]
    return (
        f"{line} {steps - 1:>6,} steps  {last.svm_solves:>7,} SVMs  {trace.last_seconds:>7.2f} s"
        f"  {_distance(last, trace.gap_at(steps - 1)):<11}{f'  {doing}' if doing else ''}"
        f"  objective {trace.best.objective:.6g}"
    )


def _distance(last: Iterate, gap: float) -> str:
    """Say how far a run is from the optimum, or its last iterate from a stationary point where there is no gap."""
    slope = last.facts.projected_gradient
    if math.isnan(gap) and not math.isnan(slope) and last.objective:
        return f"projected gradient {number(slope / abs(last.objective), '.2g')}"
    return f"gap {number(gap, '.2g')}"


class Building:
    """Reports on the error stream how many kernels are built, once building takes noticeably long."""

    def __init__(self) -> None:
        self._line = ProgressLine(PATIENCE_SECONDS)

    def __call__(self, fraction: float) -> None:
        if fraction < 1.0:
            self._line.update(lambda: f"building the kernels: {100 * fraction:.0f} %")
        elif self._line.drawn:
            self._line.finish("building the kernels: 100 %")


def _fitted(line: str, width: int) -> str:
    """Return as many whole parts of a line as fit; two spaces separate the parts."""
    return line if len(line) <= width else line[: width + 2].rpartition("  ")[0].rstrip() or line[:width]


class _InPlace:
    """Lines that are drawn over their predecessors."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.drawn = stream, 0

    def update(self, race: Race) -> None:
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self.drawn}A" if self.drawn else ""
        lines = [_fitted(_progress(key, run), width) for key, run in race.runs.items()]
        self.stream.write(up + "".join(f"\x1b[2K{line}\n" for line in lines))
        self.stream.flush()
        self.drawn = len(lines)

    def finish(self, race: Race) -> None:
        self.update(race)


class _StatusLines:
    """A line per run every few seconds, and one as each run ends."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.due = stream, time.monotonic() + PLAIN_SECONDS
        self.ended: set[str] = set()

    def update(self, race: Race) -> None:
        due = time.monotonic() >= self.due
        if due:
            self.due = time.monotonic() + PLAIN_SECONDS
        for key, run in race.runs.items():
            finished = run.finished
            if key not in self.ended and (due or finished):
                print(_progress(key, run), file=self.stream, flush=True)
            if finished:
                self.ended.add(key)

    def finish(self, race: Race) -> None:
        self.due = math.inf
        self.update(race)
