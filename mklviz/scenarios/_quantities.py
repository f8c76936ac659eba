"""What the answers and the pictures of lessons may ask of a race that has ended.

`FUNCTIONS` are what answers ask: one for each quantity, given the `Outcome` and a run's key or label. The number of a
step may follow the run; without, a number is that of the end, an objective that of the solution. `COMPUTED` is what
pictures need beside the runs: tables, and values that answers may name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mklviz.contract import Array, Iterate
from mklviz.engine import objective_profile, path, solve
from mklviz.errors import ProblemError
from mklviz.problem import Problem, Simplex, one_against_all
from mklviz.problem.proving import relative_gap
from mklviz.record import Trace
from mklviz.record.summary import best_of
from mklviz.scenarios._scenario import Evidence, Outcome, trials

__all__ = ["COMPUTED", "FUNCTIONS"]

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


Computed = tuple[Evidence, tuple[Any, ...]]  # tables of the picture, and values in the order of their names

ON_A_WAY, ON_A_SIDE = 25, 17  # points of a way, and of a side of a triangle
START = "equal weights"
SAME = 1e-4  # relative difference that is left where runs stop
SOME = 1e-3  # weight of a kernel that a machine uses
NAMED, VALUES = 6, 13  # kernels whose weights are drawn along C, and values of C


def _along(problem: Problem, stops: Sequence[Array]) -> dict[str, list[float]]:
    """Return the objective along the line from each stop to the next; a stop has a whole number as its place."""
    place, objective = [0.0], []
    for leg, (one, other) in enumerate(pairwise(stops)):
        profile = objective_profile(problem, one, other, points=ON_A_WAY)
        objective += profile.values[1 if leg else 0 :].tolist()
        place += (leg + profile.shares[1:]).tolist()
    return {"place": place, "objective": objective}


def _triangle(outcome: Outcome) -> Computed:
    """Compute the objective of three kernels; in row i, from the third to the second, the first has i/16."""
    rows = []
    for first in np.linspace(0.0, 1.0, ON_A_SIDE):
        ends = np.array([[first, 0.0, 1.0 - first], [first, 1.0 - first, 0.0]])
        profile = objective_profile(outcome.prepared.problem, ends[0], ends[1], points=ON_A_SIDE)
        rows.append(profile.values.tolist())
    return {"ground": {"objective": rows}}, ()


def _sparse(outcome: Outcome) -> Computed:
    """Solve the problem on the simplex: kernels in use, and the test accuracy."""
    sparse = replace(outcome.prepared, problem=replace(outcome.prepared.problem, regularizer=Simplex()))
    few = solve(sparse.problem, "newton", gap=1e-3).best
    ranked = {"largest first": {"simplex": np.sort(few.weights)[::-1].tolist()}}
    return ranked, (few.active, sparse.score(few))


def _accuracies(outcome: Outcome) -> Computed:
    """Compute the test accuracy of each step of the first run."""
    shares = [float(outcome.prepared.score(step)) for step in next(iter(outcome.traces.values()))]
    return {"accuracy": {"step": list(range(len(shares))), "share": shares}}, (shares,)


def _path(outcome: Outcome) -> Computed:
    """Follow C from 1,000 to 1: kernels in use and test accuracy at both ends, and SVM solves."""
    prepared = outcome.prepared
    solved = path(prepared.problem, "newton", gap=1e-2, max_iter=100, C=np.geomspace(1000.0, 1.0, VALUES))
    top = np.argsort(-solved.weights.max(axis=0), kind="stable")[:NAMED]
    weights = {solved.kernel_names[k]: solved.weights[:, k].tolist() for k in top}
    table = {"C": solved.values.tolist(), "active": solved.active.tolist(), **weights}
    ends = [prepared.score(solved[t][1].best) for t in (0, -1)]
    return {"path": table}, (int(solved.active[0]), int(solved.active[-1]), *ends, int(solved.svm_solves.sum()))


def _machines(outcome: Outcome) -> Computed:
    """Train a machine for each class: how many kernels each of them uses, and all together."""
    machines = one_against_all(outcome.prepared.problem)
    weights = [solve(replace(each, regularizer=Simplex()), "level", gap=1e-3).best.weights for each in machines]
    shown = {f"class {k}": each.tolist() for k, each in enumerate(weights, 1)}
    one = next(iter(outcome.traces.values())).best.weights
    counts = [int((each > SOME).sum()) for each in weights]
    used = int((np.max(weights, axis=0) > SOME).sum())
    return {"machines": shown | {"all at once": one.tolist()}}, (counts, used)


def _certificate(outcome: Outcome) -> Computed:
    """Compute the gaps after the first step, by the SVM before it, its own, and both, below the same objective."""
    before, here = next(iter(outcome.traces.values()))[:2]
    own = here.lower_bound if here.dual_bound is None else here.dual_bound
    upper = min(before.objective, here.objective)
    bounds = before.lower_bound, own, max(here.lower_bound, before.lower_bound)
    gaps = [relative_gap(upper, bound) for bound in bounds]
    return {"proved": {"name": (START, "one kernel", "their average"), "gap": gaps}}, tuple(gaps)


def _valley(outcome: Outcome) -> Computed:
    """Compute the objective on the ways from SILP's end to the others', and to equal weights, where all began."""
    silp, problem = run(outcome, "silp"), outcome.prepared.problem
    ends = {trace.label: trace.best.weights for trace in outcome.traces.values() if trace is not silp}
    ends[START] = silp[0].weights
    ways = {name: _along(problem, [silp.best.weights, end]) for name, end in ends.items()}
    levels = [value for name, way in ways.items() if name != START for value in way["objective"]]
    rise = (max(levels) - min(levels)) / min(levels)
    return ways, (rise, max(ways[START]["objective"]) / min(levels) - 1.0)


def _hill(outcome: Outcome) -> Computed:
    """Compute the objective between the ends of SPG, how many of these differ, and how high the hill is."""
    spg = (trace for trace in outcome.traces.values() if trace.solver == "spg")
    runs = sorted(spg, key=lambda trace: trace.best.objective)
    ends = [trace.best.objective for trace in runs]
    different = 1 + sum(above > (1.0 + SAME) * below for below, above in pairwise(ends))
    way = _along(outcome.prepared.problem, [trace.best.weights for trace in runs])
    names: Mapping[str, Sequence[Any]] = {
        "place": list(range(len(runs))),
        "objective": ends,
        "name": [trace.label for trace in runs],
    }
    return {"way": way, "ends": names}, (ends, different, max(way["objective"]) / ends[-1] - 1.0)


COMPUTED: Mapping[str, tuple[Callable[[Outcome], Computed], tuple[str, ...]]] = {
    "accuracy": (_accuracies, ("test_accuracy",)),
    "certificate": (_certificate, ("gap_of_first", "gap_of_second", "gap_of_average")),
    "hill": (_hill, ("ends", "different_ends", "hill_between_ends")),
    "machines": (_machines, ("kernels_of_machines", "kernels_of_all_machines")),
    "path": (_path, ("kernels_at_1000", "kernels_at_1", "accuracy_at_1000", "accuracy_at_1", "path_svm_solves")),
    "sparse": (_sparse, ("simplex_kernels_in_use", "simplex_accuracy")),
    "triangle": (_triangle, ()),
    "valley": (_valley, ("rise_between_ends", "fall_from_start")),
}
"""By the names of pictures: what is computed, and how its values are called."""
