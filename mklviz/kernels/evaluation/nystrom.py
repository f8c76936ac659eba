"""How a Nyström bank comes by its factors: landmarks for each family and subset, then the samples chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_factor, cho_solve, lapack

from mklviz.context import checkpoint, interruptible, slices
from mklviz.context.blas import one_blas_thread
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.builder import Progress
from mklviz.kernels.evaluation.checks import sample_scales, zero_kernels
from mklviz.kernels.evaluation.specs import KernelSpec
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.families._family import squared_distances
from mklviz.kernels.storage.cluster import ClusterFactors
from mklviz.kernels.storage.disk import ROWS, Folder, written
from mklviz.kernels.storage.passes import Factors, added, chunk_length, each
from mklviz.numbers import is_whole
from mklviz.typing import Array, Indices

# Coordinates of points in which a kernel is an inner product: z(x) = L^-1 K(landmarks, x), with L L' = K(landmarks).
#
# Landmarks that add nothing to the others are left out by a pivoted Cholesky decomposition, so L is well conditioned
# and a kernel of low rank gets few coordinates. K(x, x') - z(x)'z(x') is positive semidefinite, and zero on the
# landmarks.
#
# Reference: Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.

# Landmarks for Nyström approximations: points that stand for all others.
#
# k-means++ draws each with probability proportional to the squared distance from those drawn before, and a few Lloyd
# steps move them to the means of what is nearest to them. Leverage draws points with probability proportional to
# their ridge leverage scores
#
#     l_i = (K (K + lambda I)^-1)_ii  ~  (K_ii - K_iS (K_SS + p lambda I)^-1 K_Si) / lambda,
#
# estimated from a first, uniform draw S of the share p of them. Both look at a sample of some ten thousand points.
#
# References: Arthur, Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007; Zhang, Tsang, Kwok,
# Improved Nyström low-rank approximation and error analysis, ICML 2008; Musco, Musco, Recursive sampling for the
# Nyström method, NIPS 2017, section 3.

Between = Callable[[Array, Array], Array]

CHOICES = {"kmeans++": "k-means++", "leverage": "leverage scores"}
SAMPLE = 16_384  # points looked at, or SHARE times the landmarks if that is more
SHARE = 20
LLOYD_STEPS = 5


@dataclass(frozen=True)
class Nystrom:
    """How kernels are approximated.

    Parameters
    ----------
    landmarks : int
        At most so many points stand for all samples, per family and subset of features.
    choice : "kmeans++" or "leverage"
        How they are chosen.

    Examples
    --------
    >>> mv.MKLClassifier("gauss:1", approximation=mv.Nystrom(landmarks=100))
    MKLClassifier(approximation=Nystrom(landmarks=100, choice='kmeans++'),
                  kernels='gauss:1')
    """

    landmarks: int = 200
    choice: str = "kmeans++"

    def __post_init__(self) -> None:
        if not is_whole(self.landmarks) or self.landmarks < 1:
            raise KernelError(
                f"landmarks must be a whole number of at least 1, such as 200, not {self.landmarks!r:.80}."
            )
        if self.choice not in CHOICES:
            raise KernelError(f"Landmarks are chosen by {' or '.join(CHOICES)}, not by {self.choice!r:.80}.")


def sample(points: Array, columns: Sequence[int], landmarks: int, rng: np.random.Generator) -> Array:
    """Return different rows of some columns, so many of them that landmarks are well chosen among them."""
    size = max(SAMPLE, SHARE * landmarks)
    if len(points) > size:
        points = points[np.sort(rng.permutation(len(points))[:size])]
    return np.unique(points[:, list(columns)], axis=0)


def by_distance(seen: Array, landmarks: int, rng: np.random.Generator) -> Array:
    """Return landmarks by k-means++ and Lloyd steps, at most `landmarks` of them; all points where they are so few."""
    if len(seen) <= landmarks:
        return seen
    centres = seen[_seeds(seen, landmarks, rng)]
    for _ in range(LLOYD_STEPS):
        checkpoint()
        nearest = squared_distances(seen, centres).argmin(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, seen)
        counts = np.bincount(nearest, minlength=len(centres))
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def _seeds(points: Array, count: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(points)))]
    distance = squared_distances(points, points[chosen])[:, 0]
    while len(chosen) < count:
        if len(chosen) % 32 == 0:
            checkpoint()
        following = int(np.searchsorted(np.cumsum(distance), rng.random() * distance.sum()))
        chosen.append(min(following, len(points) - 1))
        distance = np.minimum(distance, squared_distances(points, points[chosen[-1:]])[:, 0])
    return chosen


def by_leverage(points: Array, landmarks: int, rng: np.random.Generator, between: Between, own: Array) -> Array:
    """Return at most `landmarks` of the points, drawn by estimated ridge leverage scores.

    `points` (n, d): different points, from `sample`; `between`: the mean of the kernels on these features between two
    tables of points; `own` (n,): its value between each point and itself.
    """
    if len(points) <= landmarks:
        return points
    first = rng.permutation(len(points))[:landmarks]
    across = between(points, points[first])
    inside = across[first]
    spectrum = np.linalg.eigvalsh(inside)[::-1]
    # the ridge that leaves a quarter of the draw as effective dimensions: Musco and Musco ask for log factors more
    ridge = max(float(spectrum[len(spectrum) // 4 :].sum()) / max(landmarks // 4, 1), 1e-10 * float(spectrum[0]))
    ridge *= len(points) / landmarks
    solved = cho_solve(cho_factor(inside + ridge * landmarks / len(points) * np.eye(landmarks), lower=True), across.T)
    scores = np.maximum(own - (across * solved.T).sum(1), 1e-12 * own.max()) / ridge
    return points[np.sort(rng.choice(len(points), landmarks, replace=False, p=scores / scores.sum()))]


PRECISION = 1e-10  # share of the largest diagonal entry below which a landmark adds nothing to the others
CHUNK = 4096  # points mapped together


@dataclass(frozen=True)
class Root:
    """One kernel: which landmarks it uses (r,), the lower triangle L (r, r) of their kernel, and its columns of Z."""

    spec: KernelSpec
    pivots: Indices
    lower: Array
    start: int

    @property
    def columns(self) -> slice:
        """The columns of its coordinates."""
        return slice(self.start, self.start + len(self.pivots))


@dataclass(frozen=True)
class Subset:
    """Landmarks (m, d_s) on some features, shared by all kernels of one family on them."""

    family: KernelFamily
    columns: tuple[int, ...]
    landmarks: Array
    roots: tuple[Root, ...]


@dataclass(frozen=True)
class FeatureMaps:
    """The maps of all kernels of a bank; each is scaled by its entry of `sizes` (m,), unless each diagonal entry is."""

    subsets: tuple[Subset, ...]
    normalize: str
    sizes: Array
    width: int
    n_features: int

    @property
    def nbytes(self) -> int:
        """Memory the landmarks and triangles take."""
        roots = sum(root.lower.nbytes for subset in self.subsets for root in subset.roots)
        return roots + sum(subset.landmarks.nbytes for subset in self.subsets)

    @property
    def starts(self) -> Indices:
        """First column of every kernel, and one past the last of all, (m + 1,)."""
        return np.array([*(root.start for subset in self.subsets for root in subset.roots), self.width])

    def write(self, new: Array, out: NDArray[np.floating], weights: Array | None = None, first: int = 0) -> None:
        """Write the coordinates of points (n, d) into `out` (n, R); those of kernels without weight become zero.

        The first point is called number `first` where one cannot be scaled.
        """
        # used again and again, as filling fresh memory takes longer
        space = np.empty(min(len(new), CHUNK) * int(np.diff(self.starts).max()))
        inverses: dict[int, Array] = {}
        for some in slices(len(new), CHUNK):
            for root, values, scale in self._values(new[some], weights, first + some.start):
                z = space[: len(values) * len(root.pivots)].reshape(len(values), -1)
                np.take(np.asarray(values, dtype=np.float64), root.pivots, axis=1, out=z, mode="clip")
                if len(z) < len(root.pivots):
                    blas.dtrsm(1.0, root.lower, z.T, lower=1, overwrite_b=1)
                else:  # to multiply by L^-1 takes half of the time of solving with L
                    if root.start not in inverses:
                        inverses[root.start] = _inverse(root.lower)
                    blas.dtrmm(1.0, inverses[root.start], z.T, lower=1, overwrite_b=1)
                np.multiply(z, scale, out=out[some, root.columns], casting="same_kind")
            if weights is not None:
                for k in np.flatnonzero(weights == 0.0):
                    out[some, self.starts[k] : self.starts[k + 1]] = 0.0

    def _values(self, new: Array, weights: Array | None, first: int) -> Iterator[tuple[Root, Array, float | Array]]:
        """Yield for each kernel its values between the points and its landmarks, and the scale of its coordinates."""
        k = 0
        for subset in self.subsets:
            points, base = new[:, list(subset.columns)], None
            for root in subset.roots:
                if weights is None or weights[k] != 0.0:
                    base = subset.family.base(points, subset.landmarks) if base is None else base
                    values = subset.family.profile(base, root.spec.value)
                    yield root, values, self._scale(subset, root, points, k, first)
                k += 1

    def _scale(self, subset: Subset, root: Root, points: Array, k: int, first: int) -> float | Array:
        if self.normalize != "diagonal":
            return float(self.sizes[k])
        diagonal = subset.family.diagonal(points, root.spec.value)
        return sample_scales(diagonal, "diagonal", root.spec.name, first=first)[:, None]


@one_blas_thread()  # with more the last digits differ
def _inverse(lower: Array) -> Array:
    return np.asfortranarray(np.tril(lapack.dtrtri(lower, lower=1)[0]))


def pivoted_root(kernel: Array) -> tuple[Indices, Array]:
    """Return pivots (r,) and L (r, r), lower, with ``L L'`` the kernel (m, m) on the pivots, r as small as it gets.

    Of a kernel that is zero on the landmarks, L is 1: the coordinates of all points are zero.
    """
    factor, pivots, rank, _ = lapack.dpstrf(kernel, tol=PRECISION * float(np.diag(kernel).max()), lower=1)
    rank = max(int(rank), 1)
    lower = np.tril(factor[:rank, :rank])
    return np.asarray(pivots[:rank] - 1, dtype=np.intp), lower if lower[0, 0] > 0.0 else np.ones((1, 1))


def roots_on(family: KernelFamily, name: str, columns: Sequence[int], landmarks: Array, start: int) -> tuple[Root, ...]:
    """Return the roots of the family's kernels on these features, their coordinates beginning at column `start`."""
    family.check(landmarks)
    base, roots = family.base(landmarks, landmarks), []
    for value in family.values():
        spec = KernelSpec(f"{family.describe(value)} on {name}", family, value, tuple(columns))
        roots.append(Root(spec, *pivoted_root(family.profile(base, value)), start))
        start += len(roots[-1].pivots)
    return tuple(roots)


def blocks(n: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of points that are mapped together: none is in two chunks of factors of that length."""
    for first in range(0, n, length):
        last = min(first + length, n)
        for start in range(first, last, CHUNK):
            yield start, min(start + CHUNK, last)


def factors_of(maps: FeatureMaps, points: Array, first: int) -> Factors:
    """Return the coordinates of points (n, d), the first of which is number `first`, in single precision."""
    rows = np.empty((len(points), maps.width), dtype=np.float32)
    maps.write(points, rows, first=first)
    return rows


def _squares(rows: Factors) -> list[Array]:
    """Return the sums of squares in each column, (R,), of the points that were mapped together."""
    return [_sum_of_squares(rows[start:stop]) for start, stop in blocks(len(rows), len(rows))]


def _sum_of_squares(rows: Factors) -> Array:
    return np.asarray(np.einsum("ir,ir->r", rows, rows, dtype=np.float64))


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
        approximation: Nystrom,
        seed: int,
        max_bytes: int,
        progress: Progress | None,
    ) -> None:
        self.points, self.normalize, self.counts, self.progress = points, normalize, counts, progress
        self.landmarks, self.choice, self.max_bytes = approximation.landmarks, approximation.choice, max_bytes
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
        zero_kernels(sizes[:, None], [root.spec.name for subset in subsets for root in subset.roots])  # all are refused

    @staticmethod
    def item_bytes(n: int, columns: int, max_bytes: int) -> int:
        """Return the bytes of an entry of the factors."""
        return 8 if 8 * n * columns <= min(PRECISE, max_bytes) else 4

    def build(self, on_disk: bool = False, folder: Folder = None) -> tuple[Factors, Accuracy]:
        """Return the factors (n, R), and how good they are; `on_disk`: they are written to a file in `folder`."""
        n, maps = len(self.points), self.maps
        diagonals: list[Array] = []
        if on_disk:
            factors = written(self._mapped(None, diagonals), maps.width, np.float32, folder)
        else:
            kind = np.float64 if self.item_bytes(n, maps.width, self.max_bytes) == 8 else np.float32
            factors = np.empty((n, maps.width), dtype=kind)
            for _ in self._mapped(factors, diagonals):
                pass
        return factors, self._accuracy(factors, diagonals)

    def build_there(self, client: Any, X: Any) -> tuple[Factors, Accuracy]:
        """Return the same on a Dask cluster: X is the array or Dask array of the samples."""
        factors: Any = ClusterFactors(client, X, self.maps.width, factors_of, self.maps)
        diagonals: list[Array] = []
        share, length = 0.0, chunk_length(factors.shape) / len(self.points)
        with interruptible(lambda: self._report(SHARE_OF_LANDMARKS + (1.0 - SHARE_OF_LANDMARKS) * share)):
            for sums in each(factors, _squares):
                diagonals += sums
                share = min(share + length, 1.0)
        return factors, self._accuracy(factors, diagonals)

    def _accuracy(self, factors: Factors, diagonals: list[Array]) -> Accuracy:
        kept = np.add.reduceat(added(diagonals), self.maps.starts[:-1])
        lost = np.maximum(self._traces - kept, 0.0) / np.maximum(self._traces, 1e-300)
        return Accuracy(self._traces, lost, self._sampled_errors(factors))

    def _mapped(self, factors: Factors | None, diagonals: list[Array]) -> Iterator[Factors]:
        """Yield the rows of the factors, written where they belong if that is given; add their squares to `diagonals`.

        Without such a place the same memory is yielded again and again.
        """
        n, maps = len(self.points), self.maps
        block = np.empty((min(CHUNK, n), maps.width), dtype=np.float32) if factors is None else factors
        for start, stop in blocks(n, chunk_length((n, maps.width))):
            rows = block[: stop - start] if factors is None else factors[start:stop]
            maps.write(self.points[start:stop], rows, first=start)
            diagonals.append(_sum_of_squares(rows))
            self._report(SHARE_OF_LANDMARKS + (1.0 - SHARE_OF_LANDMARKS) * stop / n)
            yield rows

    def _landmarks(self, family: KernelFamily, columns: tuple[int, ...], chosen: dict[tuple[int, ...], Array]) -> Array:
        if self.choice == "leverage":
            seen = sample(self.points, columns, self.landmarks, self.rng)
            values = family.values()

            def between(left: Array, right: Array) -> Array:
                base = family.base(left, right)
                return np.asarray(sum(family.profile(base, value) for value in values)) / len(values)

            own = np.asarray(sum(family.diagonal(seen, value) for value in values)) / len(values)
            return by_leverage(seen, self.landmarks, self.rng, between, own)
        if columns not in chosen:
            seen = sample(self.points, columns, self.landmarks, self.rng)
            chosen[columns] = by_distance(seen, self.landmarks, self.rng)
        return chosen[columns]

    def _sized(self, subsets: Sequence[Subset]) -> tuple[Array, Array]:
        """Return the scale of every kernel's coordinates, 1 where each point has its own, and its exact trace then.

        Raises `KernelError` where one cannot be normalised.
        """
        sizes, traces = [], []
        for subset in subsets:
            columns = list(subset.columns)
            for root in subset.roots:
                diagonal = np.concatenate(
                    [
                        subset.family.diagonal(self.points[start : start + ROWS][:, columns], root.spec.value)
                        for start in range(0, len(self.points), ROWS)
                    ]
                )
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
