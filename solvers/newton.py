"""Newton's method on the kernel weights: minimise a second-order model of J, then search the segment.

    d+ = d + t (x - d),     x = argmin of the model of J + r at d,     W(d+) <= W(d) + 1e-4 t grad W(d)'(x - d)

The model (`_newton_model`) has the exact Hessian of J on the SVM's free points and knows when points will meet or
leave their bounds; the SVM at d+ starts from the dual variables the model expects there, which also picks useful ones
where K_d is singular and the SVM has many solutions.

Why it converges: every 15th step, and wherever the model or its line search fails, is a projected gradient step with
Armijo's rule, and no step raises W. Such steps lower W by a fixed fraction of what the projected gradient promises, so
along them that promise goes to zero; as W is convex and never rises, W goes to its minimum (the spacer step theorem,
Luenberger and Ye, Linear and nonlinear programming, section 7.7) wherever J is differentiable, that is where K_d
determines the SVM's solution. In practice a dozen Newton steps are enough and the safeguard never acts.

Reference: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters, NIPS workshop on automatic
selection of optimal kernels (2008).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.contract import Array, Iterate, Solver
from mklviz.problem import L1Penalty, Problem, Simplex
from mklviz.solvers._newton_model import Indices, NewtonPoint, minimise_model, working_kernels, working_points
from mklviz.solvers._oracle import SvmOracle, needs_hinge, refuse
from mklviz.solvers._spectral import Search, Valued, interpolate, search_segment
from mklviz.solvers._words import counted, objective_change, start_sentence

__all__ = ["Newton"]

LEAST_SHARE = 1e-3  # of a Newton step; below it the projected gradient does better
LEAST_GRADIENT_SHARE = 1e-10  # of a projected gradient move; below it nothing more can be gained
SPACER = 15  # every so many steps the safeguard acts
NOISE = 1e-13  # relative rounding error of W
PATIENCE = 8  # steps without visible gain before rounding is taken for the limit


class Newton(Solver):
    """Newton steps on the kernel weights, safeguarded by projected gradient steps.

    The step of an iterate is the share of the move taken: 1 for a full Newton step.
    """

    name_ = "newton"
    label = "Newton"
    colour = "#000000"
    colour_dark = "#FFFFFF"
    dash = "dotdash"
    marker = "star"
    paper = "Chapelle, Rakotomamonjy, Second order optimization of kernel parameters, NIPS workshop 2008"

    svm_tolerance = param.Number(
        default=1e-9,
        bounds=(1e-12, 1e-3),
        label="SVM tolerance",
        doc="Violation of the SVM's optimality conditions allowed; the Hessian needs accurate dual variables.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for the hinge loss on the simplex or with the linear penalty."""
        if not isinstance(problem.regularizer, (Simplex, L1Penalty)):
            return f"Newton's model knows the simplex and the linear penalty, not the {problem.regularizer.label}."
        return needs_hinge(problem, self.label)

    def iterates(self, problem: Problem) -> Iterator[Iterate]:
        """Yield the start, then one iterate per step."""
        refuse(self.supports(problem))
        descent = _Descent(problem, SvmOracle(problem, self.svm_tolerance, self.checkpoint))
        yield descent.iterate(_Move("start"))
        for count in itertools.count(1):
            first, second = descent.newton_step, descent.gradient_step
            if count % SPACER == 0:
                first, second = second, first
            move = first() or second() or _Move("none")
            end = descent.end(move)
            yield descent.iterate(move, **end)
            if end:
                return

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell which step was taken, how far, and over how many kernels and free points."""
        if before is None:
            return start_sentence(after)
        facts = after.facts
        if facts["move"] == "Newton":
            taken = f"A Newton step over {counted(float(facts['working_kernels']), 'kernel')}"
            taken += " was taken in full." if after.step == 1.0 else f" was shortened to the share {after.step:.2g}."
        elif facts["move"] == "gradient":
            taken = f"No Newton step was good enough; a projected gradient step took the share {after.step:.2g}."
        else:
            taken = "No step lowers the objective any more."
        free = counted(float(facts["free_points"]), "free support vector")
        return f"{taken} {objective_change(before, after)} The SVM has {free}."


@dataclass(frozen=True)
class _Move:
    """One step: its kind, the line search, and the size of the model."""

    kind: str
    search: Search | None = None
    promised: float = 0.0  # -grad W'(x - d)
    kernels: int = 0
    points: int = 0
    rounds: int = 0


class _Descent:
    """The present point and the two ways to leave it."""

    def __init__(self, problem: Problem, oracle: SvmOracle) -> None:
        self.problem, self.oracle = problem, oracle
        self.here = Valued(problem, oracle.solve(problem.regularizer.start(problem.m)))
        self.kernel = oracle.kernel.copy()
        self.best_gap = np.inf
        self.idle = 0

    def newton_step(self) -> _Move | None:
        """Move towards the minimiser of the model; None where it is not worth it."""
        here, problem = self.here, self.problem
        which = working_kernels(here.weights, here.gradient)
        margins = problem.y * (here.point.scores + problem.loss.primal(here.point.scores, problem.y)[1])
        points = working_points(here.point.signed, margins)
        model = self._minimise(which, points)
        if model is None:
            return None
        target = np.zeros(problem.m)
        target[which] = model.weights
        promised = -float(here.gradient @ (target - here.weights))
        if promised <= 0.0:
            return None
        search = self._search(target, LEAST_SHARE, model.signed)
        move = _Move("Newton", search, promised, len(which), len(points), model.rounds)
        return self._accept(move)

    def _minimise(self, which: Indices, points: Indices) -> NewtonPoint | None:
        if not len(which):
            return None
        signed, problem = self.here.point.signed, self.problem
        products = problem.bank.products(signed, which)
        slopes = self.here.gradient[which]
        return minimise_model(
            self.kernel, products, slopes, signed, problem.y, problem.loss.C, points, self._on_simplex
        )

    def gradient_step(self) -> _Move | None:
        """Move along the projected gradient, on the scale of the weights; None where that lowers nothing."""
        here = self.here
        longest = max(float(here.weights.max()), 1.0 / self.problem.m)
        step = longest / max(float(np.abs(here.gradient).max()), 1e-300)
        target = self.problem.regularizer.project(here.weights - step * here.gradient)
        promised = -float(here.gradient @ (target - here.weights))
        search = self._search(target, LEAST_GRADIENT_SHARE, None)
        return self._accept(_Move("gradient", search, promised))

    @property
    def _on_simplex(self) -> bool:
        return isinstance(self.problem.regularizer, Simplex)

    def _search(self, target: Array, least: float, start: Array | None) -> Search:
        def evaluate(weights: Array) -> Valued:
            return Valued(self.problem, self.oracle.solve(weights, start=start))

        reference = self.here.value + NOISE * abs(self.here.value)
        return search_segment(evaluate, self.here, target, reference, interpolate, least)

    def _accept(self, move: _Move) -> _Move | None:
        """Go where the search led, if anywhere."""
        if move.search is None or move.search.found is None:
            return None
        self.here = move.search.found
        self.kernel[:] = self.oracle.kernel
        return move

    def end(self, move: _Move) -> dict[str, str]:
        """Say why to end, where no step is left or rounding hides any gain."""
        if move.kind == "none":
            return {"end": "No step lowers the objective any more: rounding, or a kink, hides the way down."}
        gap = self.here.point.gap
        gained = move.promised > NOISE * abs(self.here.value) or gap < 0.9 * self.best_gap
        self.idle = 0 if gained else self.idle + 1
        self.best_gap = min(gap, self.best_gap)
        if self.idle < PATIENCE:
            return {}
        return {"end": f"The last {PATIENCE} steps gained nothing that rounding lets us see."}

    def iterate(self, move: _Move, **end: str) -> Iterate:
        """Return the certified iterate at the present point."""
        dual, C = self.here.point.dual, self.problem.loss.C
        search = move.search
        return self.oracle.iterate(
            self.here.point,
            search.share if search is not None and search.found is not None else 0.0,
            move=move.kind,
            promised_decrease=move.promised,
            line_search_trials=float(search.trials if search is not None else 0),
            working_kernels=float(move.kernels),
            working_points=float(move.points),
            program_rounds=float(move.rounds),
            free_points=float(((dual > 0.0) & (dual < C)).sum()),
            **end,
        )
