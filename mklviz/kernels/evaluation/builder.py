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
from mklviz.kernels.evaluation.specs import KernelSpec, one_after_another, specs_of
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.storage.factored import Distinct, FactoredBlock, low_rank
from mklviz.kernels.storage.packed import PackedBlock, check_single, pack_scaled
from mklviz.kernels.storage.repeated import RepeatedBlock
from mklviz.kernels.storage.rows import ComputedBlock, Term, by_rows
from mklviz.kernels.storage.streamed import StreamedGaussians
from mklviz.kernels.storage.triangles import Entries, packed_length
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
        self.specs: Sequence[KernelSpec] = ()
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
        specs: list[Sequence[KernelSpec]] = []
        for family, streamed in zip(self.families, self.streamed, strict=True):
            subsets = family.subsets(self.points.shape[1], self.feature_names)
            described = specs_of(family, subsets)
            if streamed and not self.by_rows:
                specs.append(described)
                blocks.append(self._stream(family, [columns for _, columns in subsets], len(described)))
                continue
            specs.append(tuple(described))
            each = len(family.values())
            for k in range(0, len(described), each):
                self._add(family, specs[-1][k : k + each], not streamed)
        self.specs = one_after_another(specs)
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
        self, family: KernelFamily, subsets: Sequence[tuple[int, ...]], count: int
    ) -> tuple[Indices, StreamedGaussians]:
        """Return what computes the kernels of a family, and their places."""
        diagonal = np.ones(len(self.points))  # a Gaussian's
        scale = sample_scales(diagonal, self.normalize, family.label, self.counts)
        places = len(self.scales) + np.arange(count)
        self.scales += [scale] * count
        block = StreamedGaussians(self.points, subsets, family.values(), float(scale[0] ** 2))
        if self.progress is not None:
            self.progress(len(self.scales) / self.m)
        return places, block

    def _packed_rows(self) -> Entries:
        triangles = self.packed[1]
        rows: Entries = np.empty((len(triangles), len(triangles[0])), dtype=self.entries)
        for k in range(len(triangles) - 1, -1, -1):  # each is freed once copied: the bank never exists twice
            rows[k] = triangles.pop()
        return rows

    def _add(self, family: KernelFamily, specs: Sequence[KernelSpec], factorise: bool) -> None:
        """Add the kernels of a family on one subset."""
        columns = specs[0].columns
        points = np.ascontiguousarray(self.points[:, list(columns)])
        family.check(points)
        base: Array | None = None  # formed only where a kernel turns out to have full rank
        most = max(min(len(points) // 3, MAX_RANK), 1)
        distinct = self._distinct(columns, most) if factorise else None
        for spec in specs:
            name, value = spec.name, spec.value
            diagonal = family.diagonal(points, value)
            scale = sample_scales(diagonal, self.normalize, name, self.counts)
            factor = None if distinct is None else low_rank(family, value, distinct, most)
            k = len(self.scales)
            if factor is not None and distinct is not None:
                self._keep_factor(k, factor, distinct, scale)
            elif self.by_rows:
                self._add_term(k, Term(family, points, (value,), (scale,), (1.0,)))
            else:
                base = _triangle(family.base(points, points)) if base is None else base
                triangle: Entries = np.empty(len(base), dtype=self.entries)
                if self.entries is np.float32:
                    check_single(diagonal * scale**2, name)
                pack_scaled(family.profile(base, value), scale, triangle)
                self.packed[0].append(k)
                self.packed[1].append(triangle)
                self.size += triangle.nbytes
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
) -> list[tuple[int, int, int, int]]:
    """Return the number of kernels of each family, and the bytes its factors, the others, and all on the fly take.

    The others are packed triangles or, where no matrix is formed, points.
    """
    names = feature_labels(feature_names, n_features)
    low, full = 8 * min(TYPICAL_RANK * n, packed_length(n)), 8 * packed_length(n)
    sizes = []
    for family in families:
        subsets, values = [columns for _, columns in family.subsets(n_features, names)], len(family.values())
        several = [columns for columns in subsets if len(columns) > 1]
        factors = (len(subsets) - len(several)) * values * low
        rest = _computed_size(n, several, values) if rows else len(several) * values * full
        fly = _computed_size(n, subsets, values) if rows else DESCRIPTION * len(subsets) * values
        sizes.append((len(subsets) * values, factors, rest, fly))
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
    """Return how a bank is kept so that it fits: what loses nothing comes first, so on the fly before rounded.

    Where no matrix is formed, it is kept with factors of single features, if they fit.
    """
    rows = rows or by_rows(n)
    sizes = family_sizes(n, n_features, families, feature_names, rows)
    nothing, every = [False] * len(families), [rows or family.streams for family in families]
    precisions = {"auto": (False, True), "double": (False,), "single": (True,)}[precision]
    plans = []
    for single in (False,) if rows else precisions:
        for streamed in (nothing, every):
            size = sum(
                fly if on_the_fly else factors + (rest // 2 if single else rest)
                for (_, factors, rest, fly), on_the_fly in zip(sizes, streamed, strict=True)
            )
            plans.append(Plan(sum(m for m, *_ in sizes), size, streamed, single, rows))
    fitting = [one for one in plans if one.size <= max_bytes]
    return fitting[0] if fitting else min(plans, key=lambda one: one.size)
