"""What was learned, f(x) = sum_i beta_i sum_k d_k K_k(x, x_i) + b, written as arrays, words and numbers and read back.

So a fitted estimator in a file is data: no pickled object of this library's inside is needed to use it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.errors import KernelError
from mklviz.kernels import KernelFamily, KernelSpec, kernel_families
from mklviz.kernels.evaluation.nystrom import FeatureMaps, Root, Subset
from mklviz.kernels.evaluation.specs import Given, Repair
from mklviz.kernels.interface import Movable, Part
from mklviz.kernels.nystrom import NystromCross, NystromPart
from mklviz.kernels.part import KernelPart
from mklviz.problem import Problem
from mklviz.typing import Array, Indices


@dataclass(frozen=True, eq=False)  # arrays compare entry by entry
class Function:
    """The learned function: kernels with weight between any point and the support vectors."""

    part: Part
    weights: Array  # (k,)
    signed: Array  # (s,) or (s, c): signed dual variables of the support vectors
    bias: float | Array  # float or (c,)

    def __call__(self, new: Array) -> Array:
        """Return f at new points, (n_new,) or (n_new, c)."""
        return np.asarray(self.part.cross(new).apply(self.weights, self.signed) + self.bias)

    def split(self, new: Array) -> Array:
        """Return what each kernel of the bank adds to f at new points, (m, n_new) or (m, n_new, c)."""
        cross, part = self.part.cross(new), _placed(self.part)
        out = np.zeros((part.bank_shape[0], len(cross), *self.signed.shape[1:]))
        for k, weight in enumerate(self.weights):
            alone = np.zeros_like(self.weights)
            alone[k] = weight
            out[part.which[k]] = cross.apply(alone, self.signed)
        return out

    def features(self, new: Array) -> Array:
        """Return new points in coordinates whose inner products are the learned kernel, (n_new, r)."""
        cross = self.part.cross(new)
        if not isinstance(cross, NystromCross):
            raise KernelError(
                "Exact and precomputed kernels have no features: let the estimator approximate them by landmarks, as in"
                " MKLClassifier(approximation=Nystrom(100))."
            )
        return cross.features(self.weights)

    def kernel(self, new: Array, others: Array | None) -> Array:
        """Return the learned kernel K_d between new points and others; all samples where kernel values were given."""
        return np.asarray(_placed(self.part).at(others).cross(new).combine(self.weights))


def _placed(part: Part) -> Movable:
    assert isinstance(part, Movable)  # estimators add their kernels
    return part


@dataclass(frozen=True)
class Learned:
    """A function, and the support vectors' places among the samples (s,) with their signed dual variables."""

    function: Function
    support: Indices
    signed: Array


def learned(problem: Problem, iterate: Iterate) -> Learned:
    """Return the function that an iterate defines."""
    predictor = problem.predictor(iterate.weights, iterate.dual)
    part = problem.bank.part(predictor.kernels, predictor.support)
    signed = problem.loss.signed(iterate.dual, problem.y)[predictor.support]
    weights = iterate.weights[predictor.kernels]
    part, own = part.merged(signed)  # one sample may stand for all
    return Learned(Function(part, weights, own, predictor.bias), predictor.support, signed)


_KINDS = {
    kind.__name__: kind
    for kind in (Function, KernelPart, KernelSpec, Given, Repair, NystromPart, FeatureMaps, Subset, Root)
}


def to_plain(value: Any) -> Any:
    """Return a function, and all that it stands on, as arrays, words and numbers; nameless families as they are."""
    if isinstance(value, KernelPart):
        scales = value.scales if value.normalize == "diagonal" else tuple(scale[:1] for scale in value.scales)
        value = replace(value, scales=scales, streams=())  # elsewhere scales are the same for every sample
    known = _KINDS.get(type(value).__name__) is type(value)
    if known or (isinstance(value, KernelFamily) and kernel_families().get(value.name_) is type(value)):
        parts = {one.name: to_plain(getattr(value, one.name)) for one in fields(value) if one.init}
        return {"kind": type(value).__name__ if known else value.name_, **parts}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def from_plain(plain: Any) -> Any:
    """Return what `to_plain` wrote."""
    if isinstance(plain, list):
        return tuple(map(from_plain, plain))
    if not isinstance(plain, dict):
        return plain
    if "families" in plain:
        return _of_release_2(plain)
    given = {name: from_plain(value) for name, value in plain.items()}
    kind = given.pop("kind")
    if kind not in _KINDS:
        return _family(kind, *given.items())
    made = _KINDS[kind](**given)
    if isinstance(made, KernelPart):
        made = replace(made, scales=tuple(np.broadcast_to(scale, (len(made.samples),)) for scale in made.scales))
    return made


@lru_cache(64)
def _family(name: str, *options: tuple[str, Any]) -> KernelFamily:
    """Return one object for all families that are equal: their kernels share what is computed for it."""
    return kernel_families()[name](**dict(options))


def _of_release_2(plain: dict[str, Any]) -> Function:
    """Return the function in an estimator that release 0.2 wrote."""
    families = [
        _family(family["name"], *family["options"].items()) if isinstance(family, dict) else family
        for family in plain["families"]
    ]
    described = zip(plain["names"], plain["family"], plain["values"], plain["columns"], strict=True)
    specs = tuple(
        KernelSpec(name, None if number < 0 else families[number], value, tuple(columns))
        for name, number, value, columns in described
    )
    repairs = [None if each is None else Repair(**each) for each in plain.get("repairs", ())]
    matrices = [KernelSpec("", None, float("nan"), ()) for _ in repairs]
    shape, samples = tuple(plain["shape"]), plain["samples"]
    given = Given(shape, tuple(range(len(repairs))), matrices, tuple(repairs)) if repairs else None
    scales = tuple(np.broadcast_to(scale, (len(samples),)) for scale in plain["scales"])
    part = KernelPart(specs, scales, plain["points"], plain["normalize"], plain["which"], samples, shape, (), given)
    return Function(part, plain["weights"], plain["signed"], plain["bias"])
