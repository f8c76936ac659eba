"""``mklviz bench``: run suites, print their rows as they come, keep what was measured."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mklviz.bench._suite import Bench, Row, Suite, load_suites
from mklviz.context.blas import one_blas_thread
from mklviz.errors import MklvizError

__all__ = ["figure", "goal_words", "lines", "machine", "run_suites", "summary", "time_words", "write_json"]

_CLEAR = "\r\x1b[K"


def run_suites(
    names: Sequence[str] = (),
    quick: bool = False,
    repeats: int | None = None,
    json: Path | None = None,
    plot: Path | None = None,
) -> bool:
    """Measure and print; return False if Ctrl-C ended it; the measurements until then are kept.

    `names`: suites; all by default; `quick`: fewer and smaller cases; `repeats`: rounds of every comparison; each suite
    has its own number by default; `json`, `plot`: where to write the numbers, and a picture of them (.html or .svg).
    Raises `MklvizError` if there is no such suite, or a file cannot be written there.
    """
    _check_files(json, plot)
    suites = load_suites(names)
    results: dict[str, tuple[Suite, list[Row]]] = {}
    complete = False
    try:
        with one_blas_thread():
            for name, suite in suites.items():
                rows: list[Row] = []
                results[name] = suite, rows
                _print_suite(name, suite, rows, Bench(quick, repeats, _progress(name)))
        complete = True
    except KeyboardInterrupt:
        print("\nStopped; what was measured until here is kept.", flush=True)
    finally:  # a suite that breaks down loses no measurements
        for name, (_, rows) in results.items():
            print(f"{name}: {summary(rows)}")
        if json is not None:
            write_json(json, results, complete)
        if plot is not None:
            from mklviz.bench._picture import write_picture  # stands on the screen's packages

            write_picture(plot, results)
    return complete


def _check_files(*files: Path | None) -> None:
    for file in filter(None, files):
        if not file.absolute().parent.is_dir():
            raise MklvizError(f"There is no folder {file.absolute().parent} to write {file.name} into.")
    plot = files[-1]
    if plot is not None and plot.suffix not in (".html", ".svg"):
        raise MklvizError(f"A plot is written as .html or .svg, not as {plot.name}: give such a name.")


def _print_suite(name: str, suite: Suite, rows: list[Row], bench: Bench) -> None:
    print(f"\n{suite.title}  [{name}]\n{suite.about}\n", flush=True)
    for one in suite.measure(bench):
        _clear()
        print("\n".join(lines(one, rows[-1] if rows else None)), flush=True)
        rows.append(one)
    _clear()


def _progress(name: str) -> Callable[[str], None]:
    def say(words: str) -> None:
        if sys.stderr.isatty():
            print(f"{_CLEAR}{name}: {words} ...", end="", file=sys.stderr, flush=True)

    return say


def _clear() -> None:
    if sys.stderr.isatty():
        print(_CLEAR, end="", file=sys.stderr, flush=True)


# Benchmark rows as a table on the terminal and as JSON in a file.

FORMAT = 1
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "highspy", "daqp", "MKLpy", "xrfm")


def figure(value: float) -> str:
    """Return a positive number with two or three digits, or a dash for none."""
    if not math.isfinite(value):
        return "–"
    if value < 0.0995:
        return f"{value:.2g}"
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def time_words(milliseconds: float) -> str:
    """Return a time with its unit."""
    if not math.isfinite(milliseconds):
        return "–"
    if milliseconds < 0.9995:
        return f"{figure(1e3 * milliseconds)} µs"
    return f"{figure(milliseconds)} ms" if milliseconds < 999.5 else f"{figure(1e-3 * milliseconds)} s"


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
    times = f"{time_words(result.ours_ms):>9} {time_words(result.other_ms):>9}"
    spread = f"({figure(result.least)} to {figure(result.most)})"
    text = f"{pair:<52}{times} {figure(result.ratio):>6}× {spread:<17} {goal_words(result):<20}"
    return [*heading, text.rstrip(), *([f"      {result.note}"] if result.note else [])]


def _heading(row: Row) -> str:
    sizes = [f"{letter} = {value:,}" for letter, value in (("n", row.n), ("m", row.m)) if value]
    return row.name + (f" ({', '.join(sizes)})" if sizes else "")


def summary(results: Sequence[Row]) -> str:
    """Say how many goals were reached and what was not measured."""
    goals = [one for one in results if one.met is not None]
    reached = sum(bool(one.met) for one in goals)
    missing = sum(math.isnan(one.ratio) for one in results)
    said = f"{reached} of {len(goals)} goals reached" if goals else "no goals"
    return said + (f", {missing} rows not measured" if missing else "")


def machine() -> dict[str, Any]:
    """Return what the numbers depend on: versions and the number of processors; no names of hosts, users or paths."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "versions": versions,
    }


def write_json(path: Path, suites: Mapping[str, tuple[Suite, Sequence[Row]]], complete: bool) -> None:
    """Write everything measured; null stands for what is not a number."""
    plain = {
        name: {
            "title": suite.title,
            "ratios": [_plain(one) for one in results],
        }
        for name, (suite, results) in suites.items()
    }
    document = {"format": FORMAT, "complete": complete, **machine(), "suites": plain}
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _plain(result: Row) -> dict[str, object]:
    values = asdict(result) | {"met": result.met}
    return {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in values.items()}
