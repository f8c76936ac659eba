"""What was learned, a `Function`, written as arrays, words and numbers and read back.

So a fitted estimator in a file is data: no pickled object of this library's inside is needed to use it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mklviz.kernels import KernelFamily, KernelSpec, kernel_families
from mklviz.kernels.evaluation.nystrom import FeatureMaps, Root, Subset
from mklviz.kernels.evaluation.specs import Given, Repair
from mklviz.kernels.nystrom import NystromPart
from mklviz.kernels.part import KernelPart
from mklviz.problem.predict import Function

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
