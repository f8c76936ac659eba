"""The same problem in other units: kernels times c, targets times t, objective times w.

    f' = t f,   ||f'||' = t / sqrt(c) ||f||,   d' = D d,   D = t^2 / (c w),   beta' = w / t beta

w is free where weights are priced, as C and the prices follow; where they are bound to a set, D = 1 fixes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from _problems import dense

from mklviz.kernels import KernelBank
from mklviz.problem import (
    BlockL1,
    BlockPower,
    ElasticNet,
    Entropy,
    EpsilonInsensitive,
    GroupSquaredPlusL1,
    Hinge,
    L1Penalty,
    Logistic,
    Loss,
    LpBall,
    LpPenalty,
    MulticlassHinge,
    OneAgainstAllHinge,
    PowerPenalty,
    Problem,
    Regularizer,
    Simplex,
    SimplexRidge,
    Squared,
)

LOSSES: dict[str, Loss] = {
    "hinge": Hinge(10.0),
    "hinge without bias": Hinge(10.0, bias=False),
    "logistic": Logistic(10.0),
    "squared": Squared(10.0),
    "epsilon-insensitive": EpsilonInsensitive(10.0, 0.2),
    "multiclass": MulticlassHinge(10.0),
    "one against all": OneAgainstAllHinge(10.0),
}

REGULARIZERS: dict[str, Regularizer] = {
    "simplex": Simplex(),
    "lp ball": LpBall(1.5),
    "entropy": Entropy(3.0),
    "simplex with ridge": SimplexRidge(3.0),
    "linear penalty": L1Penalty(2.0),
    "block 1-norm": BlockL1(1.0),
    "squared 1-norm": LpPenalty(1.0, 2.0),
    "squared 1.1-norm": LpPenalty(1.1, 2.0),
    "squared 2-norm": LpPenalty(2.0, 2.0),
    "power": PowerPenalty(1.3, 2.0),
    "block power": BlockPower(1.0, 1.4),
    "elastic net": ElasticNet(0.5, 0.3),
    "group norm": GroupSquaredPlusL1(1.0, 0.0),
    "group norm and 1-norm": GroupSquaredPlusL1(1.0, 0.2),
}


@dataclass(frozen=True)
class Units:
    """Factors of kernels, targets and objective; `objective` is set by the others where weights are bound to a set."""

    kernels: float = 1.0
    targets: float = 1.0
    objective: float = 1.0

    def of(self, problem: Problem) -> Units:
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


def in_units(problem: Problem, units: Units) -> Problem:
    """Return `problem` in these units, which must be `units.of(problem)`."""
    bank = KernelBank.from_grams(units.kernels * dense(problem.bank), precision="double")  # type: ignore[arg-type]
    y = units.targets * problem.y if problem.loss.regression else problem.y
    return Problem(bank, y, _loss(problem.loss, units), _regularizer(problem.regularizer, units))


def _loss(loss: Loss, units: Units) -> Loss:
    match loss:
        case Squared():
            return replace(loss, C=loss.C * units.objective / units.targets**2)
        case EpsilonInsensitive():
            C = loss.C * units.objective / units.targets
            return replace(loss, C=C, epsilon=loss.epsilon * units.targets)
    return replace(loss, C=loss.C * units.objective)


def _regularizer(regularizer: Regularizer, units: Units) -> Regularizer:
    w, weights, norms = units.objective, units.weights, units.norms
    match regularizer:
        case Entropy(lam=lam):
            return Entropy(w * lam)
        case SimplexRidge(lam=lam):
            return SimplexRidge(w * lam)
        case L1Penalty(sigma=sigma):
            return L1Penalty(w * sigma / weights)
        case BlockL1(lam=lam):
            return BlockL1(w * lam / norms)
        case LpPenalty(p=p, sigma=sigma):
            return LpPenalty(p, w * sigma / weights**2)
        case PowerPenalty(p=p, sigma=sigma):
            return PowerPenalty(p, w * sigma / weights**p)
        case BlockPower(lam=lam, q=q):
            return BlockPower(w * lam / norms**q, q)
        case ElasticNet(l1=l1, l2=l2):
            return ElasticNet(w * l1 / norms, w * l2 / norms**2)
        case GroupSquaredPlusL1(lam=lam, alpha=alpha, p=p):
            return GroupSquaredPlusL1(w * lam / norms**2, w * alpha / norms, p)
    return regularizer
