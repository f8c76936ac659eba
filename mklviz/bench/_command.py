"""``mklviz bench``: run suites, print their rows as they come, keep what was measured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mklviz.bench._suite import Bench, Row, Suite, lines, load_suites, summary, write_json
from mklviz.context.blas import one_blas_thread
from mklviz.errors import MklvizError

_CLEAR = "\r\x1b[K"


def run_suites(
    names: Sequence[str] = (),
    quick: bool = False,
    repeats: int | None = None,
    json: Path | None = None,
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
                _print_suite(name, suite, rows, Bench(quick, repeats, _progress(name)))
        complete = True
    except KeyboardInterrupt:
        print("\nStopped; what was measured until here is kept.", flush=True)
    finally:  # a suite that breaks down loses no measurements
        for name, (_, rows) in results.items():
            print(f"{name}: {summary(rows)}")
        if json is not None:
            write_json(json, results, complete)
    return complete


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
