"""Kernel weights put together: the heaviest, their sums by kernel family, and by feature and kernel.

Of a million kernels only the heaviest are shown one by one, with their share of the weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT
from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.kernels.evaluation.specs import KernelSpec
from mklviz.typing import Array, Indices

MOST_KERNELS = 50  # shown one by one
MOST_SUMMED = 20_000  # looked at for sums
MOST_ROWS = 30  # subsets of features
EVERYTHING = "all features"


@dataclass(frozen=True)
class Bars:
    """One number for each of several names."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    counted: tuple[str, ...]  # remarks on each
    share: float  # how much of all weight they have


@dataclass(frozen=True)
class Grid:
    """One number for each row and column, nan where there is no such kernel."""

    rows: tuple[str, ...]  # subsets of features
    columns: tuple[str, ...]  # kernels on them
    values: Array  # (rows, columns)
    share: float  # how much of all weight they have


def described(bank: Bank) -> Sequence[KernelSpec]:
    """Return the origin of a bank's kernels; none if they come from no family, or have no description."""
    specs: Sequence[KernelSpec] = getattr(bank, "kernels", ())
    known = len(specs) == len(bank) and len(specs) > 0 and specs[0].family is not None
    return specs if known and specs[len(specs) - 1].family is not None else ()


def heaviest(weights: Array, most: int) -> Indices:
    """Return at most so many kernels in use, the heaviest first and equal ones in their order."""
    used = np.flatnonzero(weights > ACTIVE_WEIGHT)
    return used[np.argsort(-weights[used], kind="stable")[:most]]


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names: a repeated name, as ready Gram matrices may have, gets a number."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(numbered)


def by_kernel(weights: Array, names: Sequence[str], most: int = MOST_KERNELS) -> Bars:
    """Return the weights of the heaviest kernels."""
    chosen = heaviest(weights, most)
    shown = distinct(names[k] for k in chosen)
    return Bars(shown, tuple(weights[chosen].tolist()), ("",) * len(chosen), _share(weights, chosen))


def by_family(weights: Array, bank: Bank) -> Bars:
    """Return the weight of each kernel family, with how many of its kernels are in use."""
    specs, chosen = _of_families(bank), heaviest(weights, MOST_SUMMED)
    sums: dict[str, float] = (
        {} if len(specs) > MOST_SUMMED else {spec.family.label: 0.0 for spec in specs if spec.family}
    )
    used: dict[str, int] = {}
    for k in chosen:
        family = specs[int(k)].family
        label = "" if family is None else family.label
        sums[label] = sums.get(label, 0.0) + float(weights[k])
        used[label] = used.get(label, 0) + 1
    order = sorted(sums, key=lambda label: -sums[label])
    counted = tuple(f"{used.get(label, 0):,} in use" for label in order)
    return Bars(tuple(order), tuple(sums[label] for label in order), counted, _share(weights, chosen))


def by_feature(weights: Array, bank: Bank) -> Grid:
    """Return the weights by subset of features, the heaviest ones and all features first, and by kernel on it."""
    specs, chosen = _of_families(bank), heaviest(weights, MOST_SUMMED)
    cells: dict[tuple[str, str], float] = {}
    totals: dict[str, float] = {}
    kinds = dict(map(_kind, specs)) if len(specs) <= MOST_SUMMED else {}
    for k in chosen:
        spec, weight = specs[int(k)], float(weights[k])
        kind, kinds[kind] = _kind(spec)
        row = spec.name.removeprefix(f"{kind} on ")
        cells[row, kind] = cells.get((row, kind), 0.0) + weight
        totals[row] = totals.get(row, 0.0) + weight
    rows = sorted(totals, key=lambda row: (row != "all", -totals[row]))[:MOST_ROWS]
    columns = sorted(kinds, key=kinds.__getitem__)
    values = np.array([[cells.get((row, kind), 0.0) for kind in columns] for row in rows]).reshape(-1, len(columns))
    shown = tuple(EVERYTHING if row == "all" else row for row in rows)
    total = float(weights.sum())
    return Grid(shown, tuple(columns), values, float(values.sum()) / total if total > 0.0 else 1.0)


def _kind(spec: KernelSpec) -> tuple[str, tuple[str, float]]:
    """Return the name of a kernel without its features, and its rank among the others."""
    assert spec.family is not None
    return spec.family.describe(spec.value), (spec.family.label, spec.value)


def _of_families(bank: Bank) -> Sequence[KernelSpec]:
    specs = described(bank)
    if not len(specs):
        raise ProblemError(
            "These kernels come from no families, so their weights have no sums by family or feature: look at them by"
            " kernel."
        )
    return specs


def _share(weights: Array, chosen: Indices) -> float:
    total = float(weights.sum())
    return float(weights[chosen].sum()) / total if total > 0.0 else 1.0
