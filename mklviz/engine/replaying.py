"""Stop rules on recorded runs: at which step a rule would have stopped, and what the run would have returned.

    P_t <= (1 + e) P*   with   (P_t - min P) / |min P|  <=  e  <=  (P_t - max D) / |min P|

min P and max D are the best bounds that any of the runs has found by its end, so that a rule is judged by more than it
knew when it fired. A rule sees the recording grow step by step, as it would have seen the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import checkpoint
from mklviz.contract import Iterate
from mklviz.engine.stop import Measured, StopRule, check_rule, fired
from mklviz.errors import MklvizError, ProblemError
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import Problem
from mklviz.record.run_facts import Verdict
from mklviz.record.summary import Reference
from mklviz.record.trace import Trace
from mklviz.typing import Array


@dataclass(frozen=True)
class Returned:
    """What a run would have returned."""

    step: int  # index of the iterate in the recording
    iterate: Iterate  # its weights, dual variables and objective
    # `at_least`, `at_most`: bounds on its distance above the optimum, as shares of the least objective; `at_most` is
    # nan where no run has a lower bound
    at_least: float
    at_most: float
    # share of the weight that is on other kernels than in the best solution that is known, from 0 to 1
    misplaced: float
    score: float = math.nan  # on held-out samples; nan without a score function


@dataclass(frozen=True)
class Replay:
    """Where a rule would have stopped a recorded run."""

    step: int  # index of the iterate after which the rule fires; the last index where it does not
    verdict: Verdict | None  # why; None where it does not fire
    # `last`, `best`: the iterate of that step, and the one of least objective until there
    last: Returned
    best: Returned


def replay(
    trace: Trace, rule: StopRule, others: Iterable[Trace] = (), score: Callable[[Iterate], float] | None = None
) -> Replay:
    """Return where a stop rule would have stopped a recorded run, and what would have been returned.

    Parameters
    ----------
    trace : Trace
        Of any solver, with one step at least. Rules see nothing of what was recorded later.
    rule : StopRule
        Such as ``mv.WeightChange(1e-2)``.
    others : iterable of Trace
        Further runs on the same problem, whose bounds tell better how far off what is returned was.
    score : callable, optional
        Returns how well an iterate does on held-out samples.

    Raises
    ------
    MklvizError
        If the recording has no steps, or the rule is none.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> trace = mv.solve(problem, "spg", gap=1e-6)
    >>> mv.replay(trace, mv.MaxIter(1), [trace]).step
    1
    """
    check_rule(rule)
    if not len(trace):
        raise MklvizError(f"The run of {trace.label or 'this solver'} has no steps that a rule could look at.")
    grown, verdict = trace, None
    for grown in _growing(trace):
        verdict = fired([rule], grown)
        if verdict is not None:
            break
    step = len(grown) - 1
    known = [trace, *(other for other in others if len(other))]
    reference = Reference.of(known)
    solution = min(known, key=lambda run: run.best.objective).best.weights
    last = _returned(trace, step, reference, solution, score)
    best = trace.best_index_at(step)
    return Replay(step, verdict, last, last if best == step else _returned(trace, best, reference, solution, score))


def measured(trace: Trace, rule: Measured) -> Array:
    """Return what a rule compares with its threshold at every step of a recorded run, (T,); nan where it is not known.

    `rule`: its threshold does not matter.
    """
    return np.array([rule.measure(grown) for grown in _growing(trace)], dtype=np.float64)


def _growing(trace: Trace) -> Iterator[Trace]:
    """Yield a recording as it was after each step, one object that grows."""
    grown = trace.without_steps()
    for step in range(len(trace)):
        checkpoint()
        grown.append(trace[step], trace.seconds_at(step), trace.split_at(step) or None)
        yield grown


def _returned(
    trace: Trace, step: int, reference: Reference, solution: Array, score: Callable[[Iterate], float] | None
) -> Returned:
    iterate, least = trace[step], reference.objective
    weights = iterate.weights
    total, wanted = float(weights.sum()), float(solution.sum())
    apart = math.nan
    if total > 0.0 and wanted > 0.0 and len(weights) == len(solution):
        apart = 0.5 * float(np.abs(weights / total - solution / wanted).sum())
    return Returned(
        step=step,
        iterate=iterate,
        at_least=(iterate.objective - least) / abs(least) if least else math.nan,
        at_most=reference.above(iterate.objective),
        misplaced=apart,
        score=math.nan if score is None else float(score(iterate)),
    )


# The objective along the line between two weight vectors: is there a hill, or are both in one valley?
#
#     W((1 - t) d_a + t d_b),   0 <= t <= 1,   W(d) = J(d) + r(d), with the inner problem solved anew at each t
#
# A convex problem has no hill between two points; a product of kernels may, and then the two ends of two runs are
# different minima.

TOLERANCE = 1e-6  # of the inner problems: a hill is seen from 1e-6 of the objective on
HILL = 1e-4  # rise above the higher end, relative to the objective, that counts as a hill


@dataclass(frozen=True)
class Profile:
    """The objective along a segment."""

    shares: Array  # (points,): t, from 0 at the first weights to 1 at the second
    values: Array  # (points,): W there

    @property
    def rise(self) -> float:
        """How far W rises above the higher end on the way, relative to it; 0 where it does not."""
        higher = max(float(self.values[0]), float(self.values[-1]))
        return max(float(self.values.max()) - higher, 0.0) / max(abs(higher), np.finfo(float).tiny)

    @property
    def hill(self) -> bool:
        """Whether W rises on the way by more than inner problems solved inexactly explain."""
        return self.rise > HILL


def objective_profile(
    problem: Problem,
    weights_a: ArrayLike,
    weights_b: ArrayLike,
    points: int = 41,
    progress: Callable[[float], None] | None = None,
) -> Profile:
    """Return the objective along the segment between two weight vectors.

    Parameters
    ----------
    problem : Problem
        With any loss that has an inner solver, and a regularizer of the kernel weights.
    weights_a, weights_b : (m,) arrays
        Such as the ends of two runs.
    points : int
        How many inner problems to solve, both ends included.
    progress : callable, optional
        Called with the fraction done before each solve; may raise to cancel.

    Raises
    ------
    ProblemError
        If the weights do not fit the problem.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> profile = mv.objective_profile(problem, [1.0, 0.0], [0.0, 1.0], points=5)
    """
    ends = [np.asarray(weights, dtype=np.float64) for weights in (weights_a, weights_b)]
    if any(end.shape != (problem.m,) or not np.isfinite(end).all() or end.min() < 0.0 for end in ends):
        raise ProblemError(
            f"A profile needs two vectors of {problem.m} kernel weights, finite and not negative, but arrays of shape"
            f" {ends[0].shape} and {ends[1].shape} were given."
        )
    if points < 2:
        raise ProblemError(f"A profile needs at least 2 points, but {points} were asked for.")
    oracle = SvmOracle(problem, TOLERANCE)
    shares, values = np.linspace(0.0, 1.0, points), np.empty(points)
    for i, t in enumerate(shares):
        if progress is not None:
            progress(i / points)
        values[i] = oracle.solve((1.0 - t) * ends[0] + t * ends[1]).primal
    return Profile(shares, values)
