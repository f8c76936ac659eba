"""What was learned, f(x) = sum_i beta_i sum_k d_k K_k(x, x_i) + b, written as arrays, words and numbers and read back.

So a fitted estimator in a file is data: no pickled object of this library's inside is needed to use it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.kernels import KernelFamily, KernelSpec, kernel_families
from mklviz.kernels.evaluation.specs import Given, Repair
from mklviz.kernels.interface import Merging, Movable, Part
from mklviz.kernels.part import KernelPart
from mklviz.problem import Problem
from mklviz.typing import Array, Indices


@dataclass(frozen=True)
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
    weights, own = iterate.weights[predictor.kernels], signed
    if isinstance(part, Merging):  # one sample stands for all
        part, own = part.merged(signed)
    return Learned(Function(part, weights, own, predictor.bias), predictor.support, signed)


def to_plain(function: Function) -> dict[str, Any] | Function:
    """Return a function of points or Gram matrices as arrays, words and numbers; others as they are."""
    part = function.part
    if not isinstance(part, KernelPart):
        return function
    families: list[KernelFamily] = []
    for spec in part.kernels:
        if spec.family is not None and spec.family not in families:
            families.append(spec.family)
    diagonal = part.normalize == "diagonal"
    return {
        "weights": function.weights,
        "signed": function.signed,
        "bias": function.bias,
        "families": [_family_to_plain(family) for family in families],
        "family": [-1 if spec.family is None else families.index(spec.family) for spec in part.kernels],
        "values": [float(spec.value) for spec in part.kernels],
        "names": [spec.name for spec in part.kernels],
        "columns": [list(map(int, spec.columns)) for spec in part.kernels],
        "scales": [scale if diagonal else scale[:1] for scale in part.scales],  # the same for every sample
        "points": part.points,
        "normalize": part.normalize,
        "which": part.which,
        "samples": part.samples,
        "shape": list(map(int, part.bank_shape)),
        "repairs": [] if part.given is None else [repair and dict(vars(repair)) for repair in part.given.repairs],
    }


def from_plain(plain: Mapping[str, Any] | Function) -> Function:
    """Return the function that `to_plain` wrote."""
    if isinstance(plain, Function):
        return plain
    families = [_family_from_plain(family) for family in plain["families"]]
    described = zip(plain["names"], plain["family"], plain["values"], plain["columns"], strict=True)
    specs = tuple(
        KernelSpec(name, None if number < 0 else families[number], value, tuple(columns))
        for name, number, value, columns in described
    )
    samples = plain["samples"]
    scales = tuple(np.broadcast_to(scale, (len(samples),)) for scale in plain["scales"])
    m, n = plain["shape"]
    given = _given((m, n), plain.get("repairs", ()))
    part = KernelPart(specs, scales, plain["points"], plain["normalize"], plain["which"], samples, (m, n), (), given)
    return Function(part, plain["weights"], plain["signed"], plain["bias"])


def _given(shape: tuple[int, int], repairs: Sequence[Mapping[str, Any] | None]) -> Given | None:
    if not repairs:
        return None
    specs = [KernelSpec("", None, float("nan"), ()) for _ in repairs]
    made = tuple(None if each is None else Repair(**each) for each in repairs)
    return Given(shape, tuple(range(len(made))), specs, made)


def _family_to_plain(family: KernelFamily) -> dict[str, Any] | KernelFamily:
    """Return a family by its name and parameters, or as it is if it has no public name."""
    if kernel_families().get(family.name_) is not type(family):
        return family
    options = {entry.name: getattr(family, entry.name) for entry in fields(family) if entry.init}
    return {"name": family.name_, "options": options}


def _family_from_plain(plain: Mapping[str, Any] | KernelFamily) -> KernelFamily:
    if isinstance(plain, KernelFamily):
        return plain
    return kernel_families()[plain["name"]](**plain["options"])
