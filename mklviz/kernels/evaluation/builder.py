"""How a bank comes by its kernels: by factors where the rank is low, on the fly where memory is short, else packed.

Where matrices are too large to be formed, or not wanted, kernels without factors are computed on the fly row
by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mklviz.kernels.evaluation.checks import feature_labels, refuse_if_too_large, sample_scales
from mklviz.kernels.evaluation.specs import KernelSpec, Specs
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.storage.factored import Distinct, FactoredBlock, low_rank
from mklviz.kernels.storage.packed import PackedBlock, check_single, pack_scaled
from mklviz.kernels.storage.repeated import RepeatedBlock
from mklviz.kernels.storage.rows import ComputedBlock, Term, by_rows
from mklviz.kernels.storage.streamed import StreamedGaussians
from mklviz.kernels.storage.triangles import Entries, packed_length, rescale
from mklviz.typing import Array, Indices

Progress = Callable[[float], None]

MAX_RANK = 128  # a factor longer than this, or than n / 3, saves nothing over the packed triangle
TYPICAL_RANK = 16  # of a kernel on one feature; only estimates use it
DESCRIPTION = 400  # bytes that name and parameters of a kernel take, which is all that is kept of a streamed one


class Block(Protocol):
    label: str

    @property
    def largest(self) -> Array: ...
    def compensated(self, k: int, v: Array) -> tuple[float, float]: ...
    @property
    def nbytes(self) -> int: ...
    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out` at least; where `fresh`, to zeros instead."""

    def quad(self, v: Array) -> Array: ...
    def products(self, which: Indices, v: Array) -> Array: ...
    def apply(self, weights: Array, v: Array) -> Array: ...
    def only(self, keep: Indices) -> Block:
        """Return the kernels on the samples `keep`, ascending."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a bank is to be kept."""

    # `m`, `size`: kernels and bytes
    m: int
    size: int
    streamed: list[bool]  # which families are computed on the fly
    single: bool  # whether packed triangles are of single precision
    by_rows: bool = False  # whether no matrix is formed: kernels without factors are computed row by row


class Builder:
    """Builds the blocks of a bank kernel by kernel."""

    def __init__(
        self,
        points: Array,
        families: Sequence[KernelFamily],
        planned: Plan,
        normalize: str,
        feature_names: list[str],
        max_bytes: int,
        progress: Progress | None,
        counts: Array | None = None,
    ) -> None:
        self.points, self.families, self.streamed = points, families, planned.streamed
        self.normalize, self.counts = normalize, counts
        self.entries = np.float32 if planned.single else np.float64
        self.by_rows = planned.by_rows
        self.feature_names, self.max_bytes, self.m, self.progress = feature_names, max_bytes, planned.m, progress
        self.specs = Specs()
        self.scales: list[Array] = []
        self.factored: tuple[list[int], list[Array]] = ([], [])
        self.repeated: tuple[list[int], list[Array], list[Distinct]] = ([], [], [])
        self.packed: tuple[list[int], list[Entries]] = ([], [])
        self.computed: tuple[list[int], list[Term]] = ([], [])
        self.size = 0
        self._values: dict[tuple[int, ...], Distinct | None] = {}  # of subsets of features
        self._counts: list[int] | None = None  # of different values of every feature, once that is of interest

    def build(self) -> list[tuple[Indices, Block | ComputedBlock]]:
        """Return the blocks with the places of their kernels; `specs` and `scales` describe them afterwards."""
        n = len(self.points)
        blocks: list[tuple[Indices, Block | ComputedBlock]] = []
        for family, streamed in zip(self.families, self.streamed, strict=True):
            subsets = family.subsets(self.points.shape[1], self.feature_names)
            if streamed and not self.by_rows:
                blocks.append(self._stream(family, subsets))
                continue
            described = [(value, family.describe(value)) for value in family.values()]
            for subset, columns in subsets:
                self._add(family, described, subset, columns, not streamed)
        if self.factored[0]:
            blocks.append((np.array(self.factored[0]), FactoredBlock(self.factored[1])))
        if self.repeated[0]:
            blocks.append((np.array(self.repeated[0]), RepeatedBlock(*self.repeated[1:])))
        if self.packed[0]:
            blocks.append((np.array(self.packed[0]), PackedBlock(self._packed_rows(), n)))
        if self.computed[0]:
            blocks.append((np.array(self.computed[0]), ComputedBlock(self.computed[1])))
        return blocks

    def _stream(
        self, family: KernelFamily, subsets: Sequence[tuple[str, tuple[int, ...]]]
    ) -> tuple[Indices, StreamedGaussians]:
        """Describe the kernels of a family, and return what computes them."""
        diagonal = np.ones(len(self.points))  # a Gaussian's
        scale = sample_scales(diagonal, self.normalize, family.label, self.counts)
        first = len(self.specs)
        self.specs.extend(family, subsets)
        self.scales += [scale] * (len(self.specs) - first)
        columns, size = [columns for _, columns in subsets], float(scale[0] ** 2)
        block = StreamedGaussians(self.points, columns, family.values(), size)
        if self.progress is not None:
            self.progress(len(self.specs) / self.m)
        return np.arange(first, len(self.specs)), block

    def _packed_rows(self) -> Entries:
        triangles = self.packed[1]
        rows: Entries = np.empty((len(triangles), len(triangles[0])), dtype=self.entries)
        for k in range(len(triangles) - 1, -1, -1):  # each is freed once copied: the bank never exists twice
            rows[k] = triangles.pop()
        return rows

    def _add(
        self,
        family: KernelFamily,
        described: Sequence[tuple[float, str]],
        subset: str,
        columns: tuple[int, ...],
        factorise: bool,
    ) -> None:
        """Add the kernels of a family on one subset, for each parameter with its description."""
        points = np.ascontiguousarray(self.points[:, list(columns)])
        family.check(points)
        base: Array | None = None  # formed only where a kernel turns out to have full rank
        most = max(min(len(points) // 3, MAX_RANK), 1)
        distinct = self._distinct(columns, most) if factorise else None
        for value, text in described:
            name = f"{text} on {subset}"
            diagonal = family.diagonal(points, value)
            scale = sample_scales(diagonal, self.normalize, name, self.counts)
            factor = None if distinct is None else low_rank(family, value, distinct, most)
            k = len(self.specs)
            if factor is not None and distinct is not None:
                self._keep_factor(k, factor, distinct, scale)
            elif self.by_rows:
                self._add_term(k, Term(family, points, (value,), (scale,), (1.0,)))
            else:
                base = _triangle(family.base(points, points)) if base is None else base
                triangle: Entries = np.empty(len(base), dtype=self.entries)
                if self.entries is np.float32:
                    check_single(diagonal * scale**2, name)
                rescale(family.profile(base, value), scale, triangle)
                self.packed[0].append(k)
                self.packed[1].append(triangle)
                self.size += triangle.nbytes
            self.specs.append(KernelSpec(name, family, value, columns))
            self.scales.append(scale)
            refuse_if_too_large(self.m, len(points), self.size, self.max_bytes)
            if self.progress is not None:
                self.progress((k + 1) / self.m)

    def _keep_factor(self, k: int, factor: Array, distinct: Distinct, scale: Array) -> None:
        """Keep the factor (rank, u) of kernel k: on the different points where they are few, else on all samples."""
        if 3 * len(distinct.points) <= 2 * len(scale):
            scale_of_points = np.empty(len(distinct.points))
            scale_of_points[distinct.inverse] = scale
            self.repeated[0].append(k)
            self.repeated[1].append(factor * scale_of_points)
            self.repeated[2].append(distinct)
            self.size += factor.nbytes
        else:
            self.factored[0].append(k)
            self.factored[1].append(factor[:, distinct.inverse] * scale)
            self.size += self.factored[1][-1].nbytes

    def _add_term(self, k: int, term: Term) -> None:
        """Describe kernel k, together with the one before if they share a base."""
        numbers, terms = self.computed
        numbers.append(k)
        if terms and terms[-1].family is term.family and terms[-1].points is term.points:
            last = terms.pop()
            values, scales = last.values + term.values, last.scales + term.scales
            term = replace(last, values=values, scales=scales, weights=last.weights + term.weights)
        terms.append(term)

    def _distinct(self, columns: tuple[int, ...], most: int) -> Distinct | None:
        """Return the different points on a subset of features, where its kernels may have no more than `most` rows."""
        if columns not in self._values:
            self._values[columns] = self._few(columns, most)
        return self._values[columns]

    def _few(self, columns: tuple[int, ...], most: int) -> Distinct | None:
        if len(columns) > 1:
            if self._counts is None:
                self._counts = [len(np.unique(column)) for column in self.points.T]
            if max(self._counts[j] for j in columns) > most:
                return None
        distinct = Distinct.of(self.points[:, list(columns)])
        return distinct if len(columns) == 1 or len(distinct.points) <= most else None


def _triangle(matrix: Array) -> Array:
    packed = np.empty(packed_length(len(matrix)))
    pack_scaled(matrix, np.ones(len(matrix)), packed)
    return packed


def family_sizes(
    n: int, n_features: int, families: Sequence[KernelFamily], feature_names: Sequence[str] | None, rows: bool
) -> list[tuple[int, int, int]]:
    """Return the number of kernels of each family, and the bytes their factors and the others take.

    The others are packed triangles or, where no matrix is formed, points.
    """
    names = feature_labels(feature_names, n_features)
    low, full = 8 * min(TYPICAL_RANK * n, packed_length(n)), 8 * packed_length(n)
    sizes = []
    for family in families:
        subsets, values = family.subsets(n_features, names), len(family.values())
        several = [columns for _, columns in subsets if len(columns) > 1]
        rest = _computed_size(n, several, values) if rows else len(several) * values * full
        sizes.append((len(subsets) * values, (len(subsets) - len(several)) * values * low, rest))
    return sizes


def _computed_size(n: int, subsets: Sequence[tuple[int, ...]], values: int) -> int:
    """Return the bytes that kernels computed row by row take: their points, in either precision."""
    return sum(12 * n * len(columns) + DESCRIPTION * values for columns in subsets)


def plan(
    n: int,
    n_features: int,
    families: Sequence[KernelFamily],
    max_bytes: int,
    feature_names: Sequence[str] | None,
    precision: str = "auto",
    rows: bool = False,
) -> Plan:
    """Return how a bank is kept so that it fits: what loses nothing comes first, so on the fly before rounded."""
    if rows or by_rows(n):
        return _plan_by_rows(n, n_features, families, max_bytes, feature_names)
    sizes = family_sizes(n, n_features, families, feature_names, False)
    nothing, every = [False] * len(families), [family.streams for family in families]
    plans = []
    for single in {"auto": (False, True), "double": (False,), "single": (True,)}[precision]:
        for streamed in (nothing, every):
            size = sum(
                DESCRIPTION * m if on_the_fly else factors + (packed // 2 if single else packed)
                for (m, factors, packed), on_the_fly in zip(sizes, streamed, strict=True)
            )
            plans.append(Plan(sum(m for m, _, _ in sizes), size, streamed, single))
    fitting = [one for one in plans if one.size <= max_bytes]
    return fitting[0] if fitting else min(plans, key=lambda one: one.size)


def _plan_by_rows(
    n: int, n_features: int, families: Sequence[KernelFamily], max_bytes: int, feature_names: Sequence[str] | None
) -> Plan:
    """Return how a bank is kept where no matrix is: with factors of single features, if they fit."""
    sizes = family_sizes(n, n_features, families, feature_names, True)
    m, size = sum(m for m, _, _ in sizes), sum(factors + computed for _, factors, computed in sizes)
    if size <= max_bytes:
        return Plan(m, size, [False] * len(families), False, True)
    names = feature_labels(feature_names, n_features)
    subsets = [([columns for _, columns in f.subsets(n_features, names)], len(f.values())) for f in families]
    size = sum(_computed_size(n, *described) for described in subsets)
    return Plan(m, size, [True] * len(families), False, True)
