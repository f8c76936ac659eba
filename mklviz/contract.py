"""The contract between a solver and its caller: ``for iterate in solver.iterates(problem)``.

A solver knows no clock, no stopping rule, no thread and no plot. It is a generator: the start first, then one
iterate per outer step. Pause, step, stop and cancel all mean "do not call next".
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import param

from mklviz.errors import SolverError
from mklviz.problem.proving import relative_gap
from mklviz.typing import Array

if TYPE_CHECKING:
    from mklviz.problem import Problem

__all__ = ["ACTIVE_WEIGHT", "Array", "End", "Facts", "Iterate", "Solver"]

ACTIVE_WEIGHT = 1e-8  # a kernel counts as in use above this weight


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a method knows about one step: numbers, nan where a step has none, and words, "" where it has none.

    A solver with more to tell derives a class of its own, in its own file; every field has such a default.

    Attributes
    ----------
    svm_tolerance : float
        Tolerance that the SVM was solved to.
    kkt_residual : float
        How far the optimality conditions in the kernel weights are from holding, as the regularizer says.
    approximation_error : float
        Share of the trace of K_d that kernels lack that are approximated.
    projected_gradient : float
        Length of the projected gradient, in units of the objective.
    """

    svm_tolerance: float = math.nan
    kkt_residual: float = math.nan
    approximation_error: float = math.nan
    projected_gradient: float = math.nan

    def known(self) -> dict[str, float | str]:
        """Return what there is to tell about this step, by name."""
        facts = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in facts.items() if value == value and value != ""}

    @classmethod
    def of(cls, iterate: Iterate) -> Self:
        """Return the facts of an iterate that is this method's own, whether its run is live or was read from a file."""
        if isinstance(iterate.facts, cls):
            return iterate.facts
        facts = iterate.facts.known()
        return cls(**{each.name: facts[each.name] for each in fields(cls) if each.name in facts})  # type: ignore[arg-type]


@dataclass(frozen=True)
class End:
    """Why a method has ended by itself, which the last iterate says.

    Attributes
    ----------
    reason : str
        A sentence.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Iterate:
    """What an observer may keep of one step.

    Attributes
    ----------
    weights : (m,) array
        Kernel weights d.
    dual : (n,) array, or (n, c) with c classes
        Feasible dual variables a, such as ``0 <= a <= C`` and ``y'a = 0``; each loss says which are feasible.
    objective : float
        ``problem.objective(weights, dual)``, a certified upper bound of the optimum.
    lower_bound : float
        A certified lower bound of the optimum, at most ``problem.lower_bound(certificate)``; nan where the problem has
        none.
    step : float
        The method's step size; each solver documents which.
    svm_solves : int
        SVMs solved so far.
    facts : Facts
        What else the method knows about this step: cuts, level, SVM tolerance, line-search trials, ...
    certificate : array like `dual`, or None
        Feasible dual variables that prove `lower_bound`, such as an average of several SVMs' solutions; None where
        `dual` itself proves it.
    dual_bound : float or None
        ``problem.lower_bound(dual)``, where the certificate proves a better bound.
    end : End or None
        Why the method takes no further step; None while it goes on.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> isinstance(mv.solve(problem).best, mv.Iterate)
    True
    """

    weights: Array
    dual: Array
    objective: float
    lower_bound: float
    step: float
    svm_solves: int
    facts: Facts = Facts()
    certificate: Array | None = None
    dual_bound: float | None = None
    end: End | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.facts, Facts):
            raise SolverError(
                f"The facts of an iterate are a dataclass derived from mklviz.contract.Facts, not {self.facts!r:.80}."
            )

    @property
    def gap(self) -> float:
        """Relative certified duality gap of this step's own weights and dual variables.

        A run's gap, of its best bounds so far, is the trace's.
        """
        own = self.lower_bound if self.dual_bound is None else self.dual_bound
        return relative_gap(self.objective, own)

    @property
    def active(self) -> int:
        """Kernels in use."""
        return int((self.weights > ACTIVE_WEIGHT).sum())


def _needs(label: str, problem: Problem) -> str:
    """Say what a method that rests on convexity misses."""
    if problem.bank.convex:
        return f"{label} needs a lower bound, which the {problem.regularizer.label} has not."
    other = "a product" if problem.bank.kind == "product" else "parameters of a kernel"
    return f"{label} needs a sum of kernels: with {other} the problem is not convex."


class Solver(param.Parameterized):
    """One method. Its options are Params, so bounds, help and widgets come for free.

    Subclasses set the class attributes and implement `supports`, `iterates` and `narrate`.

    Attributes
    ----------
    name_, label, paper : str
        Registry key, the name people use, and the source.
    stochastic : bool
        Whether steps look at samples drawn at random: the error then falls like one over the number of steps.
    converges : bool
        Whether every run comes as near to the optimum as is asked, given steps enough; not so where a method may
        cycle, or chooses the weights by something else than the objective: then its last iterate is its solution.
    colour, colour_dark, dash, marker : str
        How every plot draws this solver (hex colours with 3:1 contrast on the light and dark theme,
        Bokeh line dash and marker names); what is "" is given one that is free.
    convex_only : bool
        Whether the method rests on the problem being convex, as all do that work with cuts, duals or the norms of
        single kernels; `refusal` then says so of products and parametric kernels, and `supports` need not.

    Examples
    --------
    >>> solver = mv.make_solver("level:lam=0.5")
    >>> isinstance(solver, mv.Solver), solver.label
    (True, 'Level')
    """

    name_: ClassVar[str] = ""
    label: ClassVar[str] = ""
    stochastic: ClassVar[bool] = False
    converges: ClassVar[bool] = True
    colour: ClassVar[str] = ""
    colour_dark: ClassVar[str] = ""
    dash: ClassVar[str] = ""
    marker: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    convex_only: ClassVar[bool] = True

    seed = param.Integer(default=0, bounds=(0, None), doc="Seed of every random choice")

    def __init__(self, **options: Any) -> None:
        self._named = "name" in options
        # param would number the instances ("Silp00042"), and that name is shown
        super().__init__(**{"name": self.label, **options})

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "start" not in inspect.signature(cls.iterates).parameters:
            raise SolverError(
                f"{cls.__name__}.iterates does not say where to begin: write it as iterates(self, problem, start=None),"
                " where start is the iterate to begin at, or None for the usual start."
            )

    def refusal(self, problem: Problem) -> str:
        """Return "" or the reason, in one sentence, why this solver cannot solve `problem`.

        A method that needs convexity refuses problems without it before `supports` is asked about them.
        """
        return _needs(self.label, problem) if self.convex_only and not problem.convex else self.supports(problem)

    def supports(self, problem: Problem) -> str:
        """Return "" or the reason, in one sentence, why the method does not fit; callers ask `refusal`."""
        raise NotImplementedError

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per outer step, until no further progress is possible.

        Parameters
        ----------
        problem : Problem
        start : Iterate, optional
            Where to begin: at the weights and dual variables of an iterate of a similar problem with the same kernels
            and samples, made to fit this one. Stochastic methods begin anew all the same.
        """
        raise NotImplementedError

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Say in one or two sentences what the step from `before` to `after` did."""
        raise NotImplementedError

    def _call(self, name: str) -> None:
        """Carry options in the name, unless one was given, so that several settings can race each other."""
        if not self._named:
            with param.edit_constant(self):
                self.name = name

    def advice(self, problem: Problem, last: Iterate) -> str:
        """Say what to choose instead where a limit has ended the run at `last` because of an option, "" otherwise."""
        return ""

    def options(self) -> dict[str, Any]:
        """Return the values of all options, by name."""
        return {key: getattr(self, key) for key in self.param if key != "name"}
