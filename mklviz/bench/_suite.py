"""What a benchmark suite measures: ratios of two things timed in alternation.

    ratio = time of the other / time of ours

so more is better in every row, and a goal is always "at least". In each round everything that a row compares runs once
(or as often as a tick of the clock asks), in an order that turns from round to round, in one process with BLAS on one
thread; CPU time is taken, so that other work on the machine weighs on all alike. Median and extremes are those of the
rounds' own ratios.

A suite is a module of this package that says ``SUITE = Suite(...)`` and stands in `SUITES`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mklviz.context.blas import one_blas_thread
from mklviz.errors import MklvizError, UnknownName
from mklviz.numbers import number_text
from mklviz.typing import Array
from mklviz.views.host.environment import missing, need_screen

SUITES = ("learn", "screen", "svm")
TICK = 2e-3  # seconds that a measurement lasts at least
MOST_RUNS = 2000  # in one measurement


@dataclass(frozen=True)
class Row:
    """One ratio."""

    name: str  # what was computed, such as "sonar, mean kernel"; rows of one name belong together
    ours: str  # the two that were timed
    other: str
    n: int  # samples and kernels; 0 where there are none
    m: int
    ours_ms: float  # milliseconds of CPU, medians over the rounds
    other_ms: float
    ratio: float  # time of the other over ours, median over the rounds, and extremes; nan where it was not measured
    least: float
    most: float
    goal: float | None = None  # ratio to reach
    note: str = ""  # how good the two answers are, or why there is no ratio

    @classmethod
    def of(
        cls,
        name: str,
        ours: tuple[str, Array],
        other: tuple[str, Array],
        n: int = 0,
        m: int = 0,
        goal: float | None = None,
        note: str = "",
    ) -> Row:
        """Return the row of two labels with their seconds per round, (rounds,) each."""
        ratios = other[1] / ours[1]
        ours_ms, other_ms = (1e3 * float(np.median(seconds)) for _, seconds in (ours, other))
        spread = (float(np.median(ratios)), float(ratios.min()), float(ratios.max()))
        return cls(name, ours[0], other[0], n, m, ours_ms, other_ms, *spread, goal, note)

    @classmethod
    def missing(cls, name: str, ours: str, other: str, reason: str, n: int = 0) -> Row:
        """Return the row of a ratio that could not be measured."""
        return cls(name, ours, other, n, 0, *(math.nan,) * 5, note=reason)

    @classmethod
    def median(cls, name: str, rows: Sequence[Row]) -> Row:
        """Return the medians of rows that compare the same two; the extremes are those of their ratios."""
        ratios, ours, other = np.array([(row.ratio, row.ours_ms, row.other_ms) for row in rows]).T
        medians = (float(np.median(ours)), float(np.median(other)), float(np.median(ratios)))
        return cls(name, rows[0].ours, rows[0].other, 0, 0, *medians, ratios.min(), ratios.max())

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal or a ratio."""
        return None if self.goal is None or math.isnan(self.ratio) else self.ratio >= self.goal


@dataclass
class Bench:
    """How to measure."""

    quick: bool = False  # fewer and smaller cases
    repeats: int | None = None  # rounds; each suite's own number by default
    say: Callable[[str], None] = lambda words: None  # takes, in a few words, what is being measured

    def alternate(self, things: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, Array]:
        """Return the CPU seconds per run of all `things`, (rounds,) each, run in turn after one run each."""
        rounds = self.repeats or (min(rounds, 3) if self.quick else rounds)
        runs = {name: _runs(run) for name, run in things.items()}
        seconds = {name: np.empty(rounds) for name in things}
        order = list(things)
        for turn in range(rounds):
            for name in order[turn % len(order) :] + order[: turn % len(order)]:
                seconds[name][turn] = _cpu(things[name], runs[name])
        return seconds


def _runs(run: Callable[[], object]) -> int:
    """Run twice at least, and return how many runs a measurement needs."""
    run()
    return min(MOST_RUNS, math.ceil(TICK / max(_cpu(run, 1), 1e-9)))


def _cpu(run: Callable[[], object], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        run()
    return max(time.process_time() - begun, 1e-9) / times


@dataclass(frozen=True)
class Suite:
    """One part of the benchmark: its title, a sentence on how to read it, and what measures it."""

    title: str
    about: str
    measure: Callable[[Bench], Iterator[Row]]


def rival(name: str) -> tuple[ModuleType | None, str]:
    """Return a module that may not be installed, and the reason where it cannot be used."""
    try:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            return None, f"{name.split('.')[0]} is not installed"
        return importlib.import_module(name), ""
    except Exception as error:  # a broken installation may raise anything
        return None, f"{name} cannot be imported ({type(error).__name__})"


def load_suites(names: Sequence[str] = ()) -> dict[str, Suite]:
    """Return the suites of these names, all of them by default."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        raise UnknownName(f"There is no benchmark suite {unknown[0]!r}; there are {', '.join(SUITES)}.")
    if "screen" in names:
        need_screen()
    chosen = names or [name for name in SUITES if name != "screen" or not missing()]
    return {name: importlib.import_module(f"mklviz.bench.{name}").SUITE for name in chosen}


# Benchmark rows as a table on the terminal and as JSON in a file.

FORMAT = 1
_DIGITS = ",.3g"
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "daqp", "MKLpy")


def goal_words(result: Row) -> str:
    """Say what the goal is and whether it is reached, in a few words."""
    if result.goal is None:
        return ""
    return f"goal {result.goal:g}×" + ("" if result.met is None else ": reached" if result.met else ": missed")


def lines(result: Row, before: Row | None) -> list[str]:
    """Return what to print for one row that follows another."""
    heading = [] if before is not None and before.name == result.name else [_heading(result)]
    pair = f"  {result.ours} / {result.other}"
    if math.isnan(result.ratio):
        return [*heading, f"{pair:<52} not measured: {result.note}"]
    ours, other = (number_text(spent, _DIGITS, " ms") for spent in (result.ours_ms, result.other_ms))
    ratio, least, most = (number_text(value, _DIGITS) for value in (result.ratio, result.least, result.most))
    text = f"{pair:<52}{ours:>11} {other:>11} {ratio:>6}× {f'({least} to {most})':<17} {goal_words(result):<20}"
    return [*heading, text.rstrip(), *([f"      {result.note}"] if result.note else [])]


def _heading(row: Row) -> str:
    sizes = [f"{letter} = {value:,}" for letter, value in (("n", row.n), ("m", row.m)) if value]
    return row.name + (f" ({', '.join(sizes)})" if sizes else "")


def summary(results: Sequence[Row]) -> str:
    """Say how many goals were reached and what was not measured."""
    goals = [one for one in results if one.met is not None]
    reached = sum(bool(one.met) for one in goals)
    missing = sum(math.isnan(one.ratio) for one in results)
    text = f"{reached} of {len(goals)} goals reached" if goals else "no goals"
    return text + (f", {missing} rows not measured" if missing else "")


def machine() -> dict[str, Any]:
    """Return what the numbers depend on: versions and the number of processors; no names of hosts, users or paths."""
    installed = {package.name: package.version for package in importlib.metadata.distributions()}
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "versions": {name: installed.get(name) for name in PACKAGES},
    }


def write_json(path: Path, suites: Mapping[str, tuple[Suite, Sequence[Row]]], complete: bool) -> None:
    """Write everything measured; null stands for what is not a number."""
    plain = {
        name: {"title": suite.title, "ratios": [_plain(one) for one in results]}
        for name, (suite, results) in suites.items()
    }
    document = {"format": FORMAT, "complete": complete, **machine(), "suites": plain}
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _plain(result: Row) -> dict[str, object]:
    values = asdict(result) | {"met": result.met}
    return {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in values.items()}


# ``mklviz bench``: run suites, print their rows as they come, keep what was measured.


def run_suites(
    names: Sequence[str] = (), quick: bool = False, repeats: int | None = None, json: Path | None = None
) -> bool:
    """Measure and print; return False if Ctrl-C ended it; the measurements until then are kept.

    `names`: suites; all by default; `quick`: fewer and smaller cases; `repeats`: rounds of every comparison; each suite
    has its own number by default; `json`: where to write the numbers.
    """
    if json is not None and not json.absolute().parent.is_dir():
        raise MklvizError(f"There is no folder {json.absolute().parent} to write {json.name} into.")
    suites = load_suites(names)
    results: dict[str, tuple[Suite, list[Row]]] = {}
    complete = False
    try:
        with one_blas_thread():
            for name, suite in suites.items():
                rows: list[Row] = []
                results[name] = suite, rows
                print(f"\n{suite.title}  [{name}]\n{suite.about}\n", flush=True)
                for one in suite.measure(Bench(quick, repeats, partial(_say, name))):
                    _say()
                    print("\n".join(lines(one, rows[-1] if rows else None)), flush=True)
                    rows.append(one)
                _say()
        complete = True
    except KeyboardInterrupt:
        print("\nStopped; what was measured until here is kept.", flush=True)
    finally:  # a suite that breaks down loses no measurements
        for name, (_, rows) in results.items():
            print(f"{name}: {summary(rows)}")
        if json is not None:
            write_json(json, results, complete)
    return complete


def _say(*words: str) -> None:
    """Say on a terminal what is being measured, in place of what was said before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{': '.join(words)}{' ...' if words else ''}", end="", file=sys.stderr, flush=True)
