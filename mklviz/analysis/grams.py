"""Gram matrices on some of the samples, and how alike two kernels are once the bias has taken out their means.

    A(K, L) = <HKH, HLH> / (|HKH| |HLH|),    H = I - 11'/n

(centred alignment; Cortes, Mohri and Rostamizadeh, JMLR 13, 2012). A function with a bias sees a kernel through HKH
alone, so kernels of alignment 1 are the same kernel to it, up to a scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from mklviz.analysis.kernel_weights import MOST_KERNELS, MOST_SUMMED, distinct, heaviest
from mklviz.context import checkpoint
from mklviz.contract import Iterate
from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.problem import Problem
from mklviz.typing import Array, Indices

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
        some = np.asarray(factors[:, samples], dtype=np.float64)
        return np.asarray(some.T @ (scales[:, None] * some))
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
