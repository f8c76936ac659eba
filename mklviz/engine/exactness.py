"""What rounding leaves of a verdict: a gap smaller than the bounds' own errors proves no more than those errors.

|gap| <= rounding       as exact as numbers allow: "precision", unless gap and rounding together reach the goal
 gap  < -rounding       the bounds contradict each other: an error, never "converged"

Where the objective itself is no larger than its rounding, the gap is given as a difference: relative ones say nothing.

Where it is the rounding in a stored kernel that keeps dual variables from proving more (`mklviz.problem.proving`), a
run ends as "precision" too, and says which kernel it is.

Before all that, the arrays of every iterate are checked, their shapes and numbers.
"""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any

import numpy as np

from mklviz.context import resolution
from mklviz.contract import Iterate
from mklviz.errors import SolverError
from mklviz.numbers import is_whole
from mklviz.problem import Problem
from mklviz.problem.proving import prove_if_doubtful, proved_at_least
from mklviz.problem.rounding import rounding_bound
from mklviz.record.run_facts import Verdict
from mklviz.record.trace import Trace
from mklviz.typing import Array

LARGEST = 1e150  # beyond, products of two numbers overflow
_BEYOND = f"numbers that are not finite or beyond {LARGEST:g}, with which nothing can be computed"


def checked_iterate(iterate: Any, problem: Problem, solver: str) -> Iterate:
    """Return `iterate`, which a solver yielded for a step.

    Raises `SolverError` if it is no iterate of that problem, with a sentence that says what it is instead.
    """
    if not isinstance(iterate, Iterate):
        raise SolverError(f"{solver} yielded {type(iterate).__name__} for a step, where an Iterate was expected.")
    duals = problem.loss.dual_shape(problem.y)
    proving = iterate.dual if iterate.certificate is None else iterate.certificate
    fault = (
        _fault_of_array("kernel weights", iterate.weights, (problem.m,))
        or _fault_of_array("dual variables", iterate.dual, duals)
        or _fault_of_array("certificate's dual variables", proving, duals)
        or _fault_of_numbers(iterate, problem)
    )
    if fault:
        raise SolverError(f"{solver} yielded an iterate that cannot be used: {fault}")
    return iterate


def _fault_of_array(name: str, values: Array, shape: tuple[int, ...]) -> str:
    if not isinstance(values, np.ndarray):
        return f"its {name} are of type {type(values).__name__}, where a numpy array was expected."
    if values.shape != shape:
        return f"its {name} have the shape {values.shape}, where {shape} was expected."
    if not (np.abs(values) <= LARGEST).all():  # false for nan
        return f"its {name} hold {_BEYOND}."
    return ""


def _fault_of_numbers(iterate: Iterate, problem: Problem) -> str:
    for name in ("objective", "lower_bound", "step"):
        if not isinstance(getattr(iterate, name), (int, float, np.number)):
            return f"its {name} is {getattr(iterate, name)!r:.40}, where one number was expected."
    if math.isnan(iterate.objective):
        return "its objective is not a number."
    bounds = {"objective": iterate.objective, "lower_bound": iterate.lower_bound, "dual_bound": iterate.dual_bound}
    numbers = bounds | {"step": iterate.step} | iterate.facts.known()
    for name, value in numbers.items():
        if isinstance(value, (int, float)) and abs(value) > LARGEST:
            earned = name == "lower_bound" and problem.loss.dual_sum(problem.y)  # elsewhere no objective is below zero
            cheap = f" {problem.regularizer!r} costs too little beside {problem.loss!r}: raise its price or lower C."
            return f"its {name} is {value:g}, one of the {_BEYOND}.{cheap if earned else ''}"
    if not is_whole(iterate.svm_solves):
        return f"its svm_solves is {iterate.svm_solves!r:.40}, where a whole number was expected."
    return ""


PATIENCE = 5  # steps in a row that prove nothing because of how a kernel is stored, before a run ends
COARSE = 1e-3  # relative gap above which the bound on rounding, a loose one, does not count as all there is
HALF = 0.5  # of the gap that rounding in a kernel hides, where a method has ended by itself
SUSPICIOUS = 1e-8  # relative gap below which every step asks how large rounding may be


def reviewed(problem: Problem, trace: Trace, verdict: Verdict | None, goal: float) -> Verdict | None:
    """Return the verdict on a run in the light of rounding; None to go on.

    `trace`: with at least one iterate; `verdict`: what the stop rules or the solver's end say; `goal`: relative gap to
    stop at; 0 where none was asked for.
    """
    gap = trace.gap_at(len(trace) - 1)
    if not trace.undecided and (verdict is None or verdict.status == "limit"):
        verdict = _stored_decides(problem, trace, verdict, goal) or verdict
    here, proving = trace.best, trace.best_dual
    best = here.objective
    apart, scale = best - trace.best_bound.lower_bound, max(abs(best), np.finfo(float).tiny)
    open_ = verdict is None and gap > SUSPICIOUS
    if np.isnan(gap) or trace.undecided or (open_ and apart > SUSPICIOUS * problem.zero_objective):
        return verdict
    if apart == 0.0 == problem.zero_objective:  # no function costs less than nothing, which is exact
        return verdict
    rounding = rounding_bound(problem, here.weights, here.dual, None if proving is here.dual else proving)
    lost = abs(best) <= rounding
    if open_ and not lost:
        return None
    if apart < -rounding:
        # by their definitions: solvers bring scores up to date step by step
        own = problem.objective(here.weights, here.dual) - proved_at_least(problem, proving)
        apart = own if own - apart <= resolution() * scale else apart
    if apart < -rounding:
        return Verdict(
            "failed",
            f"The best lower bound lies {-apart / scale:.2g} of the objective above it, where rounding may cause"
            f" {rounding / scale:.2g}, with {_sizes(problem, trace)}: are all kernels positive semidefinite?",
        )
    if apart <= rounding and apart + rounding > goal * scale:
        if verdict is not None and verdict.status == "limit" and gap > COARSE and not lost:
            return Verdict(
                "limit",
                f"{verdict.reason} How much of the gap, {gap:.2g}, is rounding is not known: it may cause up to"
                f" {rounding / scale:.2g}, with {_sizes(problem, trace)}. Another method may come closer.",
            )
        return Verdict(
            "precision",
            f"As exact as double precision allows: {_hidden(trace, apart, rounding, lost)}, with"
            f" {_sizes(problem, trace)}.",
        )
    unsure = verdict is not None and verdict.status == "converged" and gap <= goal < (apart + rounding) / scale
    return None if unsure else verdict


def _hidden(trace: Trace, apart: float, rounding: float, lost: bool) -> str:
    """Say how small a gap rounding hides: relative to the objective, unless that is rounding itself."""
    best = trace.best.objective
    if lost:
        return (
            f"objective and lower bound are {apart:.2g} apart, and rounding may cause {rounding:.2g}, no less than the"
            f" objective itself, {best:.2g}"
        )
    gap = trace.gap_at(len(trace) - 1)
    return f"the duality gap, {gap:.2g}, is below what rounding may cause, {rounding / abs(best):.2g}"


def _stored_decides(problem: Problem, trace: Trace, verdict: Verdict | None, goal: float) -> Verdict | None:
    """Return the verdict that rounding in a stored kernel hides the progress of the run, None where it does not.

    While the method goes on, that takes some steps in a row, asked as often: other dual variables may prove more.
    """
    best = trace.best.objective
    apart, enough = best - trace.best_bound.lower_bound, goal * abs(best)
    if not problem.convex or apart <= enough:
        return None
    if verdict is None:
        steps = [] if len(trace) % PATIENCE else trace[-PATIENCE:][::-1]
        doubted = list(takewhile(_is_kernel, (_decisive(problem, step, best - enough) for step in steps)))
        which = doubted[0] if len(doubted) == PATIENCE else None
    else:
        least = best - max(enough, HALF * apart)
        ends = trace.final, trace.best, trace.best_bound
        which = next(filter(_is_kernel, (_decisive(problem, step, least) for step in ends)), None)
    if which is None:
        return None
    return Verdict(
        "precision",
        f"As exact as the stored kernels allow: the entries of {problem.bank.names[which]} are known to sixteen digits,"
        f" which cancel in what the dual variables prove, with {_sizes(problem, trace, which)}.",
    )


def _is_kernel(which: int | None) -> bool:
    return which is not None


def _decisive(problem: Problem, step: Iterate, least: float) -> int | None:
    """Return the kernel whose own rounding alone keeps the step's dual variables from proving the bound `least`."""
    proved = prove_if_doubtful(problem, step.dual if step.certificate is None else step.certificate)
    return None if proved is None or proved.stored < least else int(proved.doubtful[0])


def _sizes(problem: Problem, trace: Trace, which: int | None = None) -> str:
    """Say how large kernels and dual variables are: the mean of v'Kv / n over signs v is a kernel's mean diagonal."""
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=problem.n)
    sizes = problem.bank.quad(signs)[slice(None) if which is None else [which]] / problem.n
    sizes = sizes[sizes > 0.0]
    kernels = f"kernel values from {sizes.min():.0e} to {sizes.max():.0e}" if len(sizes) else "kernels that are zero"
    return f"{kernels} beside dual variables up to {np.abs(trace.best.dual).max():.0e}"
