"""What the answers of lessons may ask of a race: one function for each, given the `Outcome` and a run's key or label.

The number of a step may follow the run; without, a number is that of the end, an objective that of the solution.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.errors import ProblemError
from mklviz.record import Trace
from mklviz.scenarios._scenario import Outcome, best_of, trials

__all__ = ["FUNCTIONS"]

LAST = -1  # step
MOST_BETWEEN = 20  # signs between two numbers of a list


def run(outcome: Outcome, name: str) -> Trace:
    """Return the run of that key, or else label."""
    labelled = (trace for trace in outcome.traces.values() if trace.label == name)
    trace = outcome.traces.get(name) or next(labelled, None)
    if trace is None:
        raise ProblemError(f"There is no run {name!r:.80}: there are {', '.join(outcome.traces)}.")
    return trace


def _solution(outcome: Outcome, name: str, step: int | None) -> Iterate:
    trace = run(outcome, name)
    return trace.best if step is None else trace[step]


def _least(outcome: Outcome) -> Iterate:
    return best_of(outcome.traces.values()).best


def _ranked(outcome: Outcome, what: str) -> list[tuple[str, float]]:
    """Return the labels of all runs with a quantity, the least first."""
    if what not in FUNCTIONS:
        raise ProblemError(f"There is no quantity {what!r:.40}.")
    values = [(trace.label, FUNCTIONS[what](outcome, key)) for key, trace in outcome.traces.items()]
    return sorted(values, key=lambda entry: entry[1])


def _corners(outcome: Outcome, name: str) -> int:
    """Return how many of the first steps gave all the weight to one kernel."""
    cornered = [step.active == 1 for step in run(outcome, name)[1:]]
    return next((t for t, inside in enumerate(cornered) if not inside), len(cornered))


def _digits(outcome: Outcome, name: str, last: int = 3) -> list[float]:
    return [-math.log10(gap) for gap in run(outcome, name).gap[-last:] if 0.0 < gap < 1.0]


def _slopes_apart(outcome: Outcome, name: str) -> float:
    """Return by how much what the slopes promise differs from the gap of a step's SVM, at most."""
    trace = run(outcome, name)
    promised = np.array([iterate.facts.known()["frank_wolfe_gap"] for iterate in trace], dtype=float)
    return float(np.abs(promised - [iterate.gap for iterate in trace]).max())


def _solves_to(outcome: Outcome, name: str, gap: float) -> int:
    trace = run(outcome, name)
    reached = (step.svm_solves for t, step in enumerate(trace) if trace.gap_at(t) <= gap)
    if (solves := next(reached, None)) is None:
        raise ProblemError(f"{trace.label} never came to a gap of {gap}.")
    return solves


def _joined(_: Outcome, values: Sequence[Any], written: str = "", between: str = ", ") -> str:
    if not re.fullmatch(r",?(\.\d)?[fd%]?", written):
        raise ProblemError(f"“{written:.40}” is no way to write a number: give one such as .1f.")
    if isinstance(values, str) or len(between) > MOST_BETWEEN:
        raise ProblemError("joined writes a list, with a few signs between its numbers.")
    return between.join(format(value, written) for value in values)


def _accuracy(outcome: Outcome, name: str, step: int | None = None) -> float:
    return outcome.prepared.score(_solution(outcome, name, step))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    # of a run
    "steps": lambda o, name: len(run(o, name)) - 1,
    "svm_solves": lambda o, name, step=LAST: run(o, name)[step].svm_solves,
    "svm_solves_to": _solves_to,
    "svms_per_step": lambda o, name: trials(run(o, name)),
    "gap": lambda o, name, step=LAST: run(o, name).gap[step],
    "objective": lambda o, name, step=None: _solution(o, name, step).objective,
    "kernels_in_use": lambda o, name, step=None: _solution(o, name, step).active,
    "accuracy": _accuracy,
    "moved": lambda o, name: run(o, name).motion.moved,
    "motion": lambda o, name: str(run(o, name).motion),
    "rises": lambda o, name: int((np.diff(run(o, name).objective) > 0.0).sum()),
    "steps_in_vain": lambda o, name: int((run(o, name).step[1:] == 0.0).sum()),
    "steps_in_corners": _corners,
    "averaged_steps": lambda o, name: sum(iterate.dual_bound is not None for iterate in run(o, name)[1:]),
    "slopes_apart": _slopes_apart,
    "digits": _digits,
    "passes": lambda o, name: run(o, name).kernel_passes[-1],
    "fact": lambda o, name, what: run(o, name).fact(what)[-1],
    # of all runs
    "solver_with_least": lambda o, what: _ranked(o, what)[0][0],
    "solver_with_most": lambda o, what: _ranked(o, what)[-1][0],
    "ranked": lambda o, what: ", ".join(f"{label} {value:,}" for label, value in _ranked(o, what)),
    "best_weights": lambda o: _least(o).weights,
    "best_kernels_in_use": lambda o: _least(o).active,
    "best_accuracy": lambda o: o.prepared.score(_least(o)),
    "kernels": lambda o: o.prepared.problem.m,
    "samples": lambda o: len(o.prepared.problem.y),
    "test_samples": lambda o: len(o.prepared.test.y),
    # of numbers and lists
    "abs": lambda _, value: abs(value),
    "count": lambda _, values: len(values),
    "above": lambda _, values, bound: sum(value > bound for value in values),
    "joined": _joined,
    "largest": lambda _, values: max(values),
    "least": lambda _, values: min(values),
    "total": lambda _, values: sum(values),
    "usual": lambda _, values: Counter(values).most_common(1)[0][0],
    "where_largest": lambda _, values: values.index(max(values)),
}
"""By the names that they have in lessons."""
