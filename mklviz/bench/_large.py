"""The three large scenarios beside a fixed piece of work in plain numpy, done just before on the same machine.

The yardstick reads and computes, as they do: products of 400 MB of float32 with vectors, from either side, and
exponentials of 200 million numbers. A change that makes a scenario slower shows as a ratio, on whatever machine; notes
count steps and SVMs, which no machine changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from mklviz.bench._suite import Bench, Row
from mklviz.engine import solve
from mklviz.errors import MklvizError
from mklviz.problem import Problem
from mklviz.recipe import SolverChoice, StopChoice
from mklviz.scenarios import load_scenario

__all__ = ["YARDSTICK", "large_scenarios", "row", "yardstick"]

SCENARIOS = ("sonar-million", "letter-product", "half-a-million")
YARDSTICK = "plain numpy's fixed work"
SHAPE, PRODUCTS, EXPONENTIALS = (100_000, 1000), 10, 200
MOST_SECONDS = 300.0  # of CPU, before a solve counts as lost


def large_scenarios(bench: Bench) -> Iterator[Row]:
    """Solve what each scenario asks for, by each of its solvers, once: a run takes up to a minute and more."""
    for name in SCENARIOS:
        recipe = load_scenario(name).recipe
        bench.say(f"kernels of {name}")
        problem = recipe.prepare().problem
        for solver in recipe.solvers:
            bench.say(f"{solver.name} on {name}")
            yield row(name, problem, solver, recipe.stop)


def row(name: str, problem: Problem, solver: SolverChoice, stop: StopChoice) -> Row:
    """Return the row of one solver, in CPU seconds without compiling, beside the yardstick's."""
    other = yardstick()
    made = solver.make()
    rules = {"gap": stop.gap, "max_iter": stop.max_iter, "projected_gradient": stop.projected_gradient}
    try:
        trace = solve(problem, made, max_seconds=MOST_SECONDS, **rules)  # type: ignore[arg-type]
    except MklvizError as error:
        return Row.missing(name, made.label, YARDSTICK, str(error), problem.n, problem.m)
    if not len(trace):
        return Row.missing(name, made.label, YARDSTICK, trace.reason, problem.n, problem.m)
    missed = "" if trace.status == "converged" else f", {trace.status}"
    note = f"objective {trace.best.objective:,.6g}, steps {len(trace) - 1}, SVMs {trace.final.svm_solves}{missed}"
    pair = (made.label, np.array([trace.last_seconds])), (YARDSTICK, np.array([other]))
    return Row.of(name, *pair, problem.n, problem.m, note=note)


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
