"""Stop rules: each looks at the trace after every step and says why to stop, or nothing.

The rules of the papers live here and not in the solvers, so that a race stops everyone by the same rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import counted, is_number, is_whole
from mklviz.record.run_facts import Verdict

if TYPE_CHECKING:
    from mklviz.record.trace import Trace

FLAT = 1e-3  # projected gradient, relative to the objective, at which a problem without a gap counts as solved


class StopRule(Protocol):
    """Looks at a trace that has just grown."""

    def check(self, trace: Trace) -> Verdict | None:
        """Return why to stop, or None to go on."""


class Measured(StopRule, Protocol):
    """A rule that compares a number with a threshold."""

    @property
    def tol(self) -> float:
        """The threshold."""

    def measure(self, trace: Trace) -> float:
        """Return the number, nan where it is not known; the rule fires where it is at most `tol`."""


@runtime_checkable
class GapRule(Measured, Protocol):
    """A rule whose number is a certified gap: bounds must be told apart to a fraction of its threshold."""

    @property
    def goal(self) -> float:
        """The gap that the run's best bounds are to reach; 0 where the rule looks at other bounds."""


@runtime_checkable
class TimeLimit(StopRule, Protocol):
    """A rule that a run asks in the middle of its steps, too."""

    def reached(self, seconds: float) -> Verdict | None:
        """Return why to stop after so many CPU seconds, or None to go on."""


def fired(rules: Iterable[StopRule], trace: Trace) -> Verdict | None:
    """Return what the first rule says that fires; only time stops a method that has not chosen anything yet."""
    asked = (rule for rule in rules if not trace.undecided or isinstance(rule, TimeLimit))
    return next(filter(None, (rule.check(trace) for rule in asked)), None)


@dataclass(frozen=True)
class _Threshold(ABC):
    """Stop when a number is at most `tol`; one that is nan is not known, and stops nothing.

    `what`: of `tol`, in an error; `status`: of the verdict.
    """

    what: ClassVar[str]
    status: ClassVar[str] = "rule"

    tol: float

    def __post_init__(self) -> None:
        _positive(self.tol, self.what)

    def check(self, trace: Trace) -> Verdict | None:
        value = self.measure(trace)
        return Verdict(self.status, self.says(value)) if value <= self.tol else None

    @abstractmethod
    def measure(self, trace: Trace) -> float: ...

    @abstractmethod
    def says(self, value: float) -> str: ...


@dataclass(frozen=True)
class Gap(_Threshold):
    """Stop when the run's relative certified duality gap, of its best bounds, is at most `tol`.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "level", gap=None, stop=[mv.Gap(0.5)]).status
    'converged'
    """

    status = "converged"
    what = "The gap to stop at"
    tol: float = 1e-2

    @property
    def goal(self) -> float:
        return self.tol

    def measure(self, trace: Trace) -> float:
        return trace.gap_at(len(trace) - 1)

    def says(self, value: float) -> str:
        return f"The duality gap, {value:.2g}, is at most {self.tol:g}."


@dataclass(frozen=True)
class IterateGap(_Threshold):
    """Stop when the relative certified gap of an iterate's own weights and dual variables is at most `tol`.

    It is never less than the run's, whose bounds may come from several iterates.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "spg", gap=None, stop=[mv.IterateGap(0.5)]).status
    'converged'
    """

    status = "converged"
    what = "The gap to stop at"
    tol: float = 1e-2

    @property
    def goal(self) -> float:
        return 0.0

    def measure(self, trace: Trace) -> float:
        return trace.final.gap

    def says(self, value: float) -> str:
        return f"The iterate's own duality gap, {value:.2g}, is at most {self.tol:g}."


@dataclass(frozen=True)
class ModelGap(_Threshold):
    """Stop when a cutting-plane model promises at most `tol` times the objective (SILP's and Level's own rule).

    Other methods have no model, and for them the rule never fires.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "silp", gap=None, stop=[mv.ModelGap(0.5)]).status
    'rule'
    """

    what = "The gap of the model to stop at"
    tol: float = 1e-2

    def measure(self, trace: Trace) -> float:
        known = trace.final.facts.known().get("model_gap", np.nan)
        return float(known) if isinstance(known, (int, float)) else np.nan

    def says(self, value: float) -> str:
        return f"The cutting planes promise {value:.2g} more, at most {self.tol:g}."


@dataclass(frozen=True)
class MaxIter:
    """Stop after `count` steps; the start does not count, nor what a branch goes on from.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> len(mv.solve(problem, "spg", gap=None, stop=[mv.MaxIter(3)])) <= 4  # the start counted
    True
    """

    count: int = 500

    def __post_init__(self) -> None:
        if not (is_whole(self.count) and self.count > 0):
            raise ProblemError(f"The number of iterations must be a positive whole number, not {self.count!r}.")

    def check(self, trace: Trace) -> Verdict | None:
        if len(trace) > self.count:
            since = "" if trace.origin is None else f" from step {trace.first_step:,} on"
            return Verdict("limit", f"Reached the limit of {counted(self.count, 'iteration')}{since}.")
        return None


@dataclass(frozen=True)
class MaxSeconds:
    """Stop after `seconds` of CPU time inside the solver, in the middle of a step if need be.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> trace = mv.solve(problem, "level", stop=[mv.MaxSeconds(60.0)])
    """

    seconds: float = 60.0

    def __post_init__(self) -> None:
        _positive(self.seconds, "The number of seconds")

    def check(self, trace: Trace) -> Verdict | None:
        before = 0.0 if trace.origin is None else trace.origin.seconds
        return self.reached(trace.last_seconds - before)

    def reached(self, seconds: float) -> Verdict | None:
        if seconds >= self.seconds:
            return Verdict("limit", f"Reached the limit of {self.seconds:g} seconds.")
        return None


@dataclass(frozen=True)
class WeightChange(_Threshold):
    """Stop when no kernel weight moved by more than `tol` (SimpleMKL's rule; it may stop far from the optimum).

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "spg", gap=None, stop=[mv.WeightChange(0.5)]).status
    'rule'
    """

    what = "The weight change to stop at"
    tol: float = 1e-2

    def measure(self, trace: Trace) -> float:
        return float(np.abs(trace[-1].weights - trace[-2].weights).max()) if len(trace) > 1 else np.nan

    def says(self, value: float) -> str:
        return f"No kernel weight moved by more than {self.tol:g}, which proves nothing."


@dataclass(frozen=True)
class ObjectiveChange(_Threshold):
    """Stop when a step changed the objective by at most `tol` of it; a short step does, wherever it is.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "spg", gap=None, stop=[mv.ObjectiveChange(0.5)]).status
    'rule'
    """

    what = "The change of the objective to stop at"
    tol: float = 1e-3

    def measure(self, trace: Trace) -> float:
        if len(trace) < 2:
            return np.nan
        change, size = abs(trace[-1].objective - trace[-2].objective), abs(trace[-1].objective)
        return change / size if size > 0.0 else 0.0 if change == 0.0 else np.inf

    def says(self, value: float) -> str:
        return f"The objective changed by at most {self.tol:g} of it, which proves nothing."


@dataclass(frozen=True)
class KKT(_Threshold):
    """Stop when the optimality conditions in the kernel weights hold to the relative tolerance `tol`.

    On the simplex: kernels with weight have equal s_k, and none without weight has a larger one (SimpleMKL's rule).

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> trace = mv.solve(problem, "spg", stop=[mv.KKT(0.05)])
    """

    what = "The KKT tolerance"
    tol: float = 0.05

    def measure(self, trace: Trace) -> float:
        return trace.final.facts.kkt_residual

    def says(self, value: float) -> str:
        return f"The optimality conditions hold to {value:.2g}, at most {self.tol:g}."


@dataclass(frozen=True)
class ProjectedGradient(_Threshold):
    """Stop when the projected gradient, in units of the objective, is at most `tol` times the objective.

    It is ``||P(d - u grad W) - d|| / u`` times the sum of the first weights, for a small step u.

    It says that d is nearly a stationary point, all that can be said where a problem is not convex: no rule can tell
    the best minimum from another. SPG and PGD report it; for other methods the rule never fires. SPG-GMKL's programs
    compare the norm itself with 0.001 to 0.04, which on objectives about 50 is `tol` from 2e-5 to 8e-4. Where a method
    minimises the price of the weights with each step, P is that minimisation and W the rest.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.solve(problem, "spg", gap=None, stop=[mv.ProjectedGradient(0.5)]).status
    'rule'
    """

    what = "The projected gradient to stop at"
    tol: float = FLAT

    def measure(self, trace: Trace) -> float:
        norm, size = trace.final.facts.projected_gradient, abs(trace.final.objective)
        return norm / size if size > 0.0 else 0.0 if norm == 0.0 else np.nan

    def says(self, value: float) -> str:
        return f"The projected gradient, {value:.2g} of the objective, is at most {self.tol:g} of it."


def _positive(value: float, what: str) -> None:
    if not (is_number(value) and value > 0):
        raise ProblemError(f"{what} must be a positive number, but {value!r} was given.")


def check_rule(rule: object) -> None:
    """Raise `ProblemError` unless `rule` is a stop rule."""
    if isinstance(rule, type) or not callable(getattr(rule, "check", None)):
        raise ProblemError(f"A stop rule is expected, such as WeightChange(1e-2), but {rule!r:.80} was given.")


def standard_rules(
    gap: float | None = 1e-2,
    max_iter: int | None = 500,
    max_seconds: float | None = None,
    stop: Sequence[StopRule] = (),
    convex: bool = True,
    projected_gradient: float | None = FLAT,
) -> tuple[StopRule, ...]:
    """Return the rules that `solve` and `race` take by keyword; None leaves one out.

    A problem that is not `convex` has no gap: there the projected gradient takes its place.
    """
    rules = list(stop) if isinstance(stop, Iterable) else [stop]
    for rule in rules:
        check_rule(rule)
    certified = None if gap is None else Gap(gap)  # made in any case, so that what is no number is refused
    flat = None if projected_gradient is None else ProjectedGradient(projected_gradient)
    rules += [rule for rule in ([certified] if convex else [flat]) if rule is not None]
    if max_iter is not None:
        rules.append(MaxIter(max_iter))
    if max_seconds is not None:
        rules.append(MaxSeconds(max_seconds))
    return tuple(rules)
