"""The three large scenarios beside a fixed piece of work in plain numpy, done just before on the same machine.

The yardstick reads and computes, as they do: products of 400 MB of float32 with vectors, from either side, and
exponentials of 200 million numbers. A change that makes a scenario slower shows as a ratio, on whatever machine; steps
and SVMs no machine changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from measure.report import Row, parser, print_rows
from mklviz.context.blas import one_blas_thread
from mklviz.engine import solve
from mklviz.scenarios import load_scenario

SCENARIOS = ("sonar-million", "letter-product", "half-a-million")
SHAPE, PRODUCTS, EXPONENTIALS = (100_000, 1000), 10, 200
MOST_SECONDS = 300.0  # of CPU, before a solve counts as lost


def large_scenarios() -> Iterator[Row]:
    """Solve what each scenario asks for, by each of its solvers, once: a run takes up to a minute and more."""
    for name in SCENARIOS:
        recipe = load_scenario(name).recipe
        problem, stop = recipe.prepare().problem, recipe.stop
        for choice in recipe.solvers:
            other, made = yardstick(), choice.make()
            rules = {"gap": stop.gap, "max_iter": stop.max_iter, "projected_gradient": stop.projected_gradient}
            trace = solve(problem, made, max_seconds=MOST_SECONDS, **rules)  # type: ignore[arg-type]
            row: Row = {"scenario": name, "solver": made.label, "seconds": trace.last_seconds, "yardstick": other}
            row |= {"ratio": other / trace.last_seconds, "objective": trace.best.objective, "steps": len(trace) - 1}
            yield row | {"svms": trace.final.svm_solves, "status": trace.status}


def yardstick() -> float:
    """Return the CPU seconds of the fixed work."""
    rows = np.full(SHAPE, 0.5, np.float32)
    columns, samples = np.ones(SHAPE[1], np.float32), np.ones(SHAPE[0], np.float32)
    numbers = np.linspace(-5.0, 0.0, 1_000_000)
    begun = time.process_time()
    for _ in range(PRODUCTS):
        rows @ columns
        samples @ rows
    for _ in range(EXPONENTIALS):
        np.exp(numbers)
    return time.process_time() - begun


def main(arguments: Sequence[str]) -> None:
    """Print a row for each solver of each scenario."""
    parser("large", __doc__).parse_args(arguments)
    with one_blas_thread():
        print_rows(large_scenarios())
