"""Kernel weights put together: the heaviest, their sums by kernel family, and by feature and kernel.

Of a million kernels only the heaviest are shown one by one, with their share of the weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from mklviz.context import checkpoint
from mklviz.contract import ACTIVE_WEIGHT, Iterate
from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.kernels.evaluation.specs import KernelSpec
from mklviz.problem import Problem
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


# Gram matrices on some of the samples, and how alike two kernels are once the bias has taken out their means.
#
#     A(K, L) = <HKH, HLH> / (|HKH| |HLH|),    H = I - 11'/n
#
# (centred alignment; Cortes, Mohri and Rostamizadeh, JMLR 13, 2012). A function with a bias sees a kernel through HKH
# alone, so kernels of alignment 1 are the same kernel to it, up to a scale.


MOST_SAMPLES = 600  # of a Gram matrix that is drawn
MOST_PAIRED = 300  # by which kernels are compared
MOST_WHOLE = 4_000  # samples of a bank that can only form the whole matrix
FEWEST_SHOWN = 16  # kernels compared, where there are so many
CLASSES = 12  # at most so many targets are classes


@dataclass(frozen=True)
class Alignments:
    """How alike some kernels are, in an order with similar ones side by side."""

    kernels: Indices  # (m,)
    names: tuple[str, ...]
    values: Array  # (m, m): centred alignments, 1 where two kernels are the same up to a scale


def sampled(n: int, most: int) -> Indices:
    """Return all samples, or `most` of them from a fixed random draw, ascending."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(n).choice(n, most, replace=False))


def gram_on(bank: Bank, weights: Array, samples: Indices) -> Array:
    """Return ``K_d`` on `samples` (s,), as an (s, s) array, without forming more of it than must be."""
    checkpoint()
    if bank.access == "rows":
        rows = bank.kernel(weights).only(samples).rows(np.arange(len(samples)))  # type: ignore[attr-defined]
        return np.asarray(rows, dtype=np.float64)
    if bank.access == "factors":
        factors, scales = bank.factors(weights)  # type: ignore[attr-defined]
        some = np.asarray(factors.T[samples], dtype=np.float64)
        return np.asarray((some * scales) @ some.T)
    points = getattr(bank, "points", None)
    if points is not None and len(samples) < bank.n_samples:
        used = np.flatnonzero(weights)
        return bank.part(used, samples).cross(points[samples]).combine(weights[used])
    if bank.n_samples > MOST_WHOLE:
        raise ProblemError(
            f"A Gram matrix of these kernels is formed as a whole, for up to {MOST_WHOLE:,} samples; there are"
            f" {bank.n_samples:,}."
        )
    return bank.combine(weights)[np.ix_(samples, samples)]


def shrunk(matrix: Array, most: int) -> Array:
    """Return the means of equal blocks, so many at most along each side."""
    n = len(matrix)
    if n <= most:
        return matrix
    edges = np.linspace(0, n, most + 1).round().astype(int)
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    return np.asarray(sums / np.outer(np.diff(edges), np.diff(edges)))


def why_no_alignment(bank: Bank) -> str:
    """Return "" or why kernels of this bank cannot be compared one by one."""
    if bank.kind == "parametric":
        return "There is only one kernel, with parameters: nothing to compare."
    if bank.kind == "product":
        return "These kernels are multiplied, so comparing pairs means nothing."
    return "" if len(bank) > 1 else "There is only one kernel to show."


def align(
    bank: Bank,
    kernels: Sequence[int] | Indices,
    report: Callable[[float], None] = lambda fraction: None,
    ahead: int = 0,
) -> Alignments:
    """Compare `kernels` on at most 300 samples, the first `ahead` ahead; `report` takes the fraction done."""
    if reason := why_no_alignment(bank):
        raise ProblemError(reason)
    samples = sampled(bank.n_samples, MOST_PAIRED)
    vectors = np.empty((len(kernels), len(samples) ** 2))
    for row, k in enumerate(kernels):
        report(row / len(kernels))
        alone = np.zeros(len(bank))
        alone[k] = 1.0
        gram = gram_on(bank, alone, samples)
        means = gram.mean(axis=0)
        centred = gram - means[:, None] - means[None, :] + means.mean()
        size = float(np.linalg.norm(centred))
        trivial = size <= 1e-12 * float(np.linalg.norm(gram))  # a constant kernel is like no other
        vectors[row] = 0.0 if trivial else centred.ravel() / size
    values = np.clip(vectors @ vectors.T, -1.0, 1.0)
    np.fill_diagonal(values, 1.0)
    order = np.concatenate([_together(values[:ahead, :ahead]), ahead + _together(values[ahead:, ahead:])])
    ordered = np.asarray(kernels)[order]
    return Alignments(ordered, distinct(bank.names[int(k)] for k in ordered), values[np.ix_(order, order)])


def _together(values: Array) -> Indices:
    """Return an order with similar kernels side by side."""
    if len(values) < 3:
        return np.arange(len(values), dtype=np.intp)
    apart = squareform(1.0 - values, checks=False)
    return np.asarray(leaves_list(linkage(np.maximum(apart, 0.0), "average", optimal_ordering=True)), dtype=np.intp)


def rivals(problem: Problem, iterate: Iterate) -> Indices:
    """Return the heaviest kernels, and those of the largest beta'K_k beta, which could take their place."""
    used = heaviest(iterate.weights, MOST_KERNELS)
    most = min(MOST_KERNELS, max(2 * len(used), FEWEST_SHOWN))
    if problem.m > MOST_SUMMED or len(used) >= most or not problem.bank.convex:
        return used
    scores = problem.bank.quad(problem.loss.signed(iterate.dual, problem.y))
    scores[used] = -1.0
    close = np.argsort(-scores, kind="stable")[: most - len(used)]
    return np.concatenate([used, close[scores[close] >= 0.0]])


@dataclass(frozen=True)
class OrderedGram:
    """A Gram matrix with its samples in order of class, in units of its mean diagonal."""

    values: Array  # (s, s)
    edges: tuple[float, ...]  # where classes end, from 0 to the number of samples
    classes: tuple[str, ...]  # empty where the samples are in order of their targets, or in the given order
    samples: int  # so many are drawn
    total: int  # of so many


def ordered_gram(
    bank: Bank, weights: Array, y: Array | None, classes: Sequence[str] = (), most: int = MOST_SAMPLES
) -> OrderedGram:
    """Return the Gram matrix of weights, class by class, in blocks of samples so that at most `most` are drawn."""
    samples = sampled(bank.n_samples, MOST_SAMPLES)
    matrix = gram_on(bank, weights, samples)
    edges, names = (0.0, float(len(samples))), tuple[str, ...]()
    if y is not None:
        order = np.argsort(y[samples], kind="stable")
        matrix = matrix[np.ix_(order, order)]
        codes, counts = np.unique(y[samples], return_counts=True)
        if len(codes) <= CLASSES:
            edges = (0.0, *np.cumsum(counts).astype(float).tolist())
            every = np.unique(y)
            named = len(classes) == len(every)
            names = tuple(classes[int(np.searchsorted(every, c))] if named else f"{c:g}" for c in codes)
    diagonal = float(np.abs(np.diag(matrix)).mean())
    values = shrunk(matrix, most) / (diagonal if diagonal > 0.0 else 1.0)
    return OrderedGram(values.astype(np.float32), edges, names, len(samples), bank.n_samples)
