"""Units do not matter: kernels, C, targets and prices times powers of two give the same steps, scaled.

Powers of two multiply without rounding, so that nothing but a constant with a unit can make a difference; square
roots and powers still round, which the last digits of the bounds show.

    f' = t f,   ||f||' = t / sqrt(c) ||f||,   d' = D d,   D = t^2 / (c w),   beta' = w / t beta

for kernels times c, targets times t and an objective times w, which is free where weights are priced; where they are
bound to a set, D = 1 fixes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from _problems import Array, blobs, dense, small_bank

import mklviz as mv
from mklviz.engine import make_solver, solve
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Loss, Regularizer
from mklviz.record.trace import Trace

LOSSES: dict[str, Loss] = {
    "hinge": mv.Hinge(10.0),
    "hinge without bias": mv.Hinge(10.0, bias=False),
    "logistic": mv.Logistic(10.0),
    "squared": mv.Squared(10.0),
    "epsilon-insensitive": mv.EpsilonInsensitive(10.0, 0.2),
    "multiclass": mv.MulticlassHinge(10.0),
    "one against all": mv.OneAgainstAllHinge(10.0),
}

REGULARIZERS: dict[str, Regularizer] = {
    "simplex": mv.Simplex(),
    "lp ball": mv.LpBall(1.5),
    "entropy": mv.Entropy(3.0),
    "simplex with ridge": mv.SimplexRidge(3.0),
    "linear penalty": mv.L1Penalty(2.0),
    "block 1-norm": mv.BlockL1(1.0),
    "squared 1-norm": mv.LpPenalty(1.0, 2.0),
    "squared 1.1-norm": mv.LpPenalty(1.1, 2.0),
    "squared 2-norm": mv.LpPenalty(2.0, 2.0),
    "power": mv.PowerPenalty(1.3, 2.0),
    "block power": mv.BlockPower(1.0, 1.4),
    "elastic net": mv.ElasticNet(0.5, 0.3),
    "group norm": mv.GroupSquaredPlusL1(1.0, 0.0),
    "group norm and 1-norm": mv.GroupSquaredPlusL1(1.0, 0.2),
}


@dataclass(frozen=True)
class Units:
    """Factors of kernels, targets and objective; `objective` is set by the others where weights are bound to a set."""

    kernels: float = 1.0
    targets: float = 1.0
    objective: float = 1.0

    def of(self, problem: mv.Problem) -> Units:
        """The factors that `problem` can be posed with."""
        targets = self.targets if problem.loss.regression else 1.0
        objective = self.objective if problem.regularizer.unbounded else targets**2 / self.kernels
        return Units(self.kernels, targets, objective)

    @property
    def weights(self) -> float:
        return self.targets**2 / (self.kernels * self.objective)

    @property
    def norms(self) -> float:
        return self.targets / np.sqrt(self.kernels)


def in_units(problem: mv.Problem, units: Units) -> mv.Problem:
    """Return `problem` in these units, which must be `units.of(problem)`."""
    bank = KernelBank.from_grams(units.kernels * dense(problem.bank), precision="double")  # type: ignore[arg-type]
    y = units.targets * problem.y if problem.loss.regression else problem.y
    return mv.Problem(bank, y, _loss(problem.loss, units), _regularizer(problem.regularizer, units))


def _loss(loss: Loss, units: Units) -> Loss:
    match loss:
        case mv.Squared():
            return replace(loss, C=loss.C * units.objective / units.targets**2)
        case mv.EpsilonInsensitive():
            C = loss.C * units.objective / units.targets
            return replace(loss, C=C, epsilon=loss.epsilon * units.targets)
    return replace(loss, C=loss.C * units.objective)


def _regularizer(regularizer: Regularizer, units: Units) -> Regularizer:
    w, weights, norms = units.objective, units.weights, units.norms
    match regularizer:
        case mv.Entropy(lam=lam):
            return mv.Entropy(w * lam)
        case mv.SimplexRidge(lam=lam):
            return mv.SimplexRidge(w * lam)
        case mv.L1Penalty(sigma=sigma):
            return mv.L1Penalty(w * sigma / weights)
        case mv.BlockL1(lam=lam):
            return mv.BlockL1(w * lam / norms)
        case mv.LpPenalty(p=p, sigma=sigma):
            return mv.LpPenalty(p, w * sigma / weights**2)
        case mv.PowerPenalty(p=p, sigma=sigma):
            return mv.PowerPenalty(p, w * sigma / weights**p)
        case mv.BlockPower(lam=lam, q=q):
            return mv.BlockPower(w * lam / norms**q, q)
        case mv.ElasticNet(l1=l1, l2=l2):
            return mv.ElasticNet(w * l1 / norms, w * l2 / norms**2)
        case mv.GroupSquaredPlusL1(lam=lam, alpha=alpha, p=p):
            return mv.GroupSquaredPlusL1(w * lam / norms**2, w * alpha / norms, p)
    return regularizer


OTHERS = {
    "kernels": Units(kernels=2.0**20),
    "small kernels": Units(kernels=2.0**-20),
    "targets": Units(targets=2.0**14),
    "objective": Units(objective=2.0**-16),
}
PLAIN = ("spg", "pgd", "simplemkl", "spicymkl", "smo-mkl", "ufo", "obscure", "newton", "level", "silp", "closed-form")
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in PLAIN},
    **{f"spg, {preset}": ("spg", {"preset": preset}) for preset in ("paper", "code")},
    "pgd+n": ("pgd", {"nonmonotone": True}),
    "pgd+s": ("pgd", {"spectral": True}),
    "pgd+n+s": ("pgd", {"nonmonotone": True, "spectral": True}),
    "pgd, exact": ("pgd", {"exact": True}),
}
STEPS = 6
SLOPES = ("spg, paper", "spg, code", "pgd", "pgd+n", "pgd+s", "pgd+n+s")
POWERS = ("squared 1.1-norm", "power", "block power")  # steep near zero: who follows the slope multiplies the rounding


@cache
def bank() -> KernelBank:
    X, _ = blobs(24, 0.1)
    return KernelBank.from_grams(24.0 * dense(small_bank(X))[::3])


def targets(loss: Loss, numbers: Array, labels: Array) -> Array:
    """Numbers, two classes, or three of which every third sample has one of its own."""
    if loss.multiclass:
        return np.unique(np.where(np.arange(len(labels)) % 3 == 2, 0.0, labels), return_inverse=True)[1]
    return numbers if loss.regression else labels


def posed(loss: str, regularizer: str) -> mv.Problem:
    found, (_, labels) = LOSSES[loss], blobs(24, 0.1)
    y = targets(found, labels + 0.3 * np.sin(np.arange(24)), labels)
    return mv.Problem(bank(), y, found, REGULARIZERS[regularizer])


def taken(problem: mv.Problem, method: str) -> Trace:
    solver, options = METHODS[method]
    return solve(problem, solver, gap=1e-4, max_iter=STEPS, **options)


def cases() -> list[tuple[str, str, str, str]]:
    """Every method with what it takes, and units for that: all regularizers with one loss, some with all."""
    pairs = [("squared", r) for r in REGULARIZERS] + [("hinge", "squared 1.1-norm")]
    pairs += [
        (loss, r)
        for loss in LOSSES
        for r in ("simplex", "linear penalty", "block 1-norm", "group norm and 1-norm", "group norm")
    ]
    problems = {pair: posed(*pair) for pair in dict.fromkeys(pairs)}
    units = {pair: {other.of(problem): name for name, other in OTHERS.items()} for pair, problem in problems.items()}
    return [
        (method, *pair, name)
        for method, (solver, _) in METHODS.items()
        for pair, problem in problems.items()
        if not make_solver(solver).refusal(problem)
        for other, name in units[pair].items()
        if other != Units()
    ]


@pytest.mark.pairwise
@pytest.mark.parametrize(("method", "loss", "regularizer", "other"), cases())
def test_other_units_give_the_same_steps(method: str, loss: str, regularizer: str, other: str) -> None:
    problem = posed(loss, regularizer)
    units = OTHERS[other].of(problem)
    trace, found = taken(problem, method), taken(in_units(problem, units), method)
    if method in SLOPES and regularizer in POWERS:
        assert abs(found.final.svm_solves - trace.final.svm_solves) <= 0.1 * trace.final.svm_solves + 2
        return
    assert [it.svm_solves for it in found] == [it.svm_solves for it in trace]
    assert found.status == trace.status
    # line searches multiply the last digits, where powers and logarithms round
    np.testing.assert_allclose(found.objective / units.objective, trace.objective, rtol=1e-6)


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_kernel_takes_spg_few_steps_whatever_the_loss_and_the_price(loss: str, C: float) -> None:
    X, labels = blobs(30, 0.1)
    one = KernelBank.build(X, [Gaussian(widths=(1.0,))], normalize="none")
    made = replace(LOSSES[loss], C=C)
    y = targets(made, X @ np.array([1.0, 2.0, 0.5]), labels)
    for regularizer in (*REGULARIZERS.values(), mv.BlockL1(0.1)):
        problem = mv.Problem(one, y, made, regularizer)
        if make_solver("spg").refusal(problem):
            continue
        trace = solve(problem, "spg", gap=1e-4, max_iter=60)
        assert trace.status == "converged", f"{regularizer}: {trace.reason}"
