"""How a Nyström bank comes by its factors: landmarks for each family and subset, then the samples chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.kernels.evaluation.builder import Progress
from mklviz.kernels.evaluation.feature_maps import CHUNK, FeatureMaps, Subset, roots_on
from mklviz.kernels.evaluation.landmarks import by_distance, by_leverage, sample
from mklviz.kernels.evaluation.normalize import sample_scales
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.storage.passes import Factors
from mklviz.typing import Array

__all__ = ["Accuracy", "NystromBuilder"]

PRECISE = 2**28  # bytes up to which factors are kept in double precision
SHARE_OF_LANDMARKS = 0.1  # of the progress
COMPARED = 512  # samples between which the approximation is compared with the kernel itself


@dataclass(frozen=True)
class Accuracy:
    """How far the approximate kernels are from the exact ones, whose traces are `traces`; (m,) arrays, see the bank."""

    traces: Array
    trace_errors: Array
    frobenius_errors: Array


class NystromBuilder:
    """Chooses landmarks at once (`maps`), and maps the samples by `build`."""

    def __init__(
        self,
        points: Array,
        families: Sequence[KernelFamily],
        feature_names: list[str],
        normalize: str,
        counts: Array | None,
        landmarks: int,
        choice: str,
        seed: int,
        max_bytes: int,
        progress: Progress | None,
    ) -> None:
        self.points, self.normalize, self.counts, self.progress = points, normalize, counts, progress
        self.landmarks, self.choice, self.max_bytes = landmarks, choice, max_bytes
        self.rng = np.random.default_rng(seed)
        wanted = [(family, *on) for family in families for on in family.subsets(points.shape[1], feature_names)]
        chosen: dict[tuple[int, ...], Array] = {}  # landmarks by distance serve every family on the same features
        subsets: list[Subset] = []
        width = 0
        for done, (family, name, columns) in enumerate(wanted):
            marks = self._landmarks(family, columns, chosen)
            roots = roots_on(family, name, columns, marks, width)
            subsets.append(Subset(family, columns, marks, roots))
            width = roots[-1].columns.stop
            self._report(SHARE_OF_LANDMARKS * (done + 1) / len(wanted))
        sizes, self._traces = self._sized(subsets)
        self.maps = FeatureMaps(tuple(subsets), normalize, sizes, width, points.shape[1])

    @staticmethod
    def item_bytes(n: int, columns: int, max_bytes: int) -> int:
        """Return the bytes of an entry of the factors."""
        return 8 if 8 * n * columns <= min(PRECISE, max_bytes) else 4

    def build(self) -> tuple[Factors, Accuracy]:
        """Return the factors (n, R), and how good they are."""
        n, maps = len(self.points), self.maps
        kind = np.float64 if self.item_bytes(n, maps.width, self.max_bytes) == 8 else np.float32
        factors = np.empty((n, maps.width), dtype=kind)
        diagonals = np.zeros(maps.width)
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            maps.write(self.points[start:stop], factors[start:stop], first=start)
            diagonals += np.einsum("ir,ir->r", factors[start:stop], factors[start:stop], dtype=np.float64)
            self._report(SHARE_OF_LANDMARKS + (1.0 - SHARE_OF_LANDMARKS) * stop / n)
        lost = np.maximum(1.0 - np.add.reduceat(diagonals, maps.starts[:-1]) / np.maximum(self._traces, 1e-300), 0.0)
        return factors, Accuracy(self._traces, lost, self._sampled_errors(factors))

    def _landmarks(self, family: KernelFamily, columns: tuple[int, ...], chosen: dict[tuple[int, ...], Array]) -> Array:
        if self.choice == "leverage":
            seen = sample(self.points[:, list(columns)], self.landmarks, self.rng)
            values = family.values()

            def between(left: Array, right: Array) -> Array:
                base = family.base(left, right)
                return np.asarray(sum(family.profile(base, value) for value in values)) / len(values)

            own = np.asarray(sum(family.diagonal(seen, value) for value in values)) / len(values)
            return by_leverage(seen, self.landmarks, self.rng, between, own)
        if columns not in chosen:
            chosen[columns] = by_distance(self.points[:, list(columns)], self.landmarks, self.rng)
        return chosen[columns]

    def _sized(self, subsets: Sequence[Subset]) -> tuple[Array, Array]:
        """Return the scale of every kernel's coordinates, 1 where each point has its own, and its exact trace then.

        Raises `KernelError` where one cannot be normalised.
        """
        sizes, traces = [], []
        for subset in subsets:
            points = self.points[:, list(subset.columns)]
            for root in subset.roots:
                diagonal = subset.family.diagonal(points, root.spec.value)
                scales = sample_scales(diagonal, self.normalize, root.spec.name, self.counts)
                sizes.append(1.0 if self.normalize == "diagonal" else float(scales[0]))
                traces.append(float((scales**2 * diagonal).sum()))
        return np.array(sizes), np.array(traces)

    def _sampled_errors(self, factors: Factors) -> Array:
        """Return ``|K_k - Z_k Z_k'|_F / |K_k|_F`` among some samples."""
        few = np.sort(self.rng.permutation(len(self.points))[:COMPARED])
        rows = factors[few].astype(np.float64)
        errors: list[float] = []
        for subset in self.maps.subsets:
            points = self.points[few][:, list(subset.columns)]
            base = subset.family.base(points, points)
            for root in subset.roots:
                kernel = subset.family.profile(base, root.spec.value)
                own = self.normalize == "diagonal"
                scale = sample_scales(np.diag(kernel), "diagonal", root.spec.name) if own else np.ones(len(few))
                scale *= self.maps.sizes[len(errors)]
                kernel = kernel * np.outer(scale, scale)
                z = rows[:, root.columns]
                size = float(np.linalg.norm(kernel))
                errors.append(float(np.linalg.norm(kernel - z @ z.T)) / max(size, 1e-300))
        return np.array(errors)

    def _report(self, fraction: float) -> None:
        if self.progress is not None:
            self.progress(fraction)
