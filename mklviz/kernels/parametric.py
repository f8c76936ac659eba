"""A kernel with learned parameters d >= 0 on given points: what a sum and a product of kernels are special cases of.

    dJ/dd_k = -1/2 beta'(dK_d/dd_k) beta,       J(d) = max_beta  D_loss(beta) - 1/2 beta'K_d beta

The kernel is asked tile by tile, so that no evaluation takes long, and for pairs of support vectors only where that is
enough. As with products the problem is not convex: minima may differ, and none is certified.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 3: any kernel that is differentiable in d.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import in_pieces, spending
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import MEMORY_LIMIT, feature_labels, own_points, refuse_if_too_large
from mklviz.kernels.interface import Access, Bank, Cross, Kind, Part, check_columns, column_names, of_table
from mklviz.kernels.parametrizations import LearnedPolynomial, ParametricKernel, SumOfKernels
from mklviz.kernels.parametrizations._checks import check_kernel, check_names
from mklviz.kernels.parametrizations._kernel import asked_slopes, asked_values, shown
from mklviz.kernels.storage.rows import tiles
from mklviz.kernels.storage.triangles import mirror
from mklviz.quoting import fact_table
from mklviz.typing import Array, Indices

TILE = 2**17  # entries asked for at once: some milliseconds where the kernel is quick, and 1 MB
_WORKSPACE = 2  # matrices of n by n that one use of the kernel takes


class ParametricBank(Bank):
    """A kernel of m parameters on n samples.

    Build one with `build`. Weights are the parameters d.

    Attributes
    ----------
    kernel : ParametricKernel
    names : list of str
        The parameters'.
    n_samples : int
    nbytes : int
        Memory the samples take.
    backend : str
        How the kernel is kept, for people.
    convex : bool
        False: K_d is not linear in d.
    kind : str
        "parametric".
    access : str
        "matrix".

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> mv.ParametricBank.build(train.X, mv.LearnedGaussian())
    ParametricBank(Gaussian, 13 parameters, 135 samples)
    """

    convex = False
    kind: Kind = "parametric"
    access: Access = "matrix"

    def __init__(self, kernel: ParametricKernel, points: Array, names: Sequence[str]) -> None:
        self.kernel = kernel
        self._points = points
        self.names = list(names)
        self.n_samples = len(points)
        self.nbytes = points.nbytes
        self.backend = f"{kernel.label} computed from the points"

    def __repr__(self) -> str:
        return f"ParametricBank({self.kernel.label}, {len(self)} parameters, {self.n_samples} samples)"

    def _repr_html_(self) -> str:
        rows = [
            ("parameters", f"{len(self):,}"),
            ("samples", f"{self.n_samples:,}"),
            ("kept as", f"points; {self.nbytes / 2**20:.1f} MB"),
            ("first", ", ".join(self.names[:3])),
        ]
        return fact_table(self.kernel.label[:1].upper() + self.kernel.label[1:], rows)

    @staticmethod
    def check_size(n: int, n_features: int, max_bytes: int = MEMORY_LIMIT) -> int:
        """Return the bytes that using a kernel on n samples takes, or raise `BankTooLarge`."""
        size = 8 * n * (n_features + _WORKSPACE * n)
        refuse_if_too_large(1, n, size, max_bytes, "use fewer samples")
        return size

    @classmethod
    def build(
        cls,
        X: ArrayLike,
        kernel: ParametricKernel | Sequence[ParametricKernel],
        feature_names: Sequence[str] | None = None,
        max_bytes: int = MEMORY_LIMIT,
    ) -> ParametricBank:
        """Check a kernel on samples and take it.

        Parameters
        ----------
        X : (n, d) array
            Samples, standardized as a rule.
        kernel : ParametricKernel, or a sequence of them
            Several are added, each with parameters of its own.
        feature_names : sequence of str, optional
            x1, x2, ... by default.
        max_bytes : int
            Memory allowed.

        Raises
        ------
        KernelError, BankTooLarge
            With a sentence that says what is wrong; where values and derivatives do not fit together, with the
            numbers.
        """
        points = own_points(X)
        features = feature_labels(feature_names, points.shape[1], X)
        terms = _terms(kernel)
        own = [check_names(term, features) for term in terms]
        chosen = terms[0] if len(terms) == 1 else SumOfKernels(terms, features)
        cls.check_size(len(points), points.shape[1], max_bytes)
        for term, some in zip(terms, own, strict=True):  # each alone: beside a large one the others are rounding
            check_kernel(term, points, some)
        bank = cls(chosen, points, check_names(chosen, features))
        return of_table(bank, feature_names, column_names(X))

    @spending("combine")
    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d``, (n, n) in C order, written into `out` if given."""
        n = self.n_samples
        combined = np.empty((n, n)) if out is None else out
        rows = _tiles(n)

        def compute(k: int) -> None:
            some = rows[k]
            combined[some, : some.stop] = _values(self.kernel, self._points[some], self._points[: some.stop], weights)

        in_pieces(compute, len(rows), "computing the kernel")
        mirror(combined)
        return combined

    @spending("combine")
    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``, like v (n,) or (n, c); only samples with v_i != 0 cost anything."""
        return _times(self.kernel, self._points, self._points, weights, v)

    @spending("gradient")
    def slopes(self, weights: Array, signed: Array, kernel: Array | None = None) -> Array:
        """Return ``-1/2 beta'(dK_d/dd_k) beta`` for every k, (m,), summed over columns: see `Bank.slopes`.

        Raises `KernelError` where a derivative is no finite number.
        """
        beta = signed.reshape(self.n_samples, -1)
        support = np.flatnonzero(beta.any(axis=1))
        points, beta = self._points[support], np.ascontiguousarray(beta[support])
        rows = _tiles(len(support))
        sums = np.zeros((len(rows), len(self)))

        def add(k: int) -> None:
            some = rows[k]
            charges = beta[some] @ beta[: some.stop].T
            charges[:, : some.start] *= 2.0  # which stands for the pairs right of the diagonal tile as well
            pair = points[some], points[: some.stop]
            sums[k] = asked_slopes(self.kernel, pair, weights, charges, self.names)

        in_pieces(add, len(rows), f"computing the slopes of {len(self):,} parameters")
        return np.asarray(-0.5 * sums.sum(0))

    def part(self, which: Indices | None = None, samples: Indices | None = None) -> ParametricPart:
        """Return the kernel between any point and `samples`, of the parameters `which` alone; all by default."""
        which = np.arange(len(self)) if which is None else which
        samples = np.arange(self.n_samples) if samples is None else samples
        return ParametricPart(self.kernel, self._points[samples], which, (len(self), self.n_samples))

    def miniatures(self, X: Array) -> list[ParametricBank]:
        """Return a bank on the points X (n, d) that needs the same compiled functions."""
        bank = ParametricBank.build(X, LearnedPolynomial())  # what is compiled knows no kernel
        bank.access = self.access
        return [bank]


class ParametricCross(Cross):
    """The kernel between new points and samples of a bank."""

    part: ParametricPart

    def _check(self) -> None:
        check_columns(self.new, self.part.points.shape[1])

    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``K_d(new, samples)`` for the new points from `start` to `stop`."""
        part, every = self.part, self.part.spread(weights)
        new = self.new[start : len(self) if stop is None else stop]
        out = np.empty((len(new), len(part.points)))
        for some in tiles(len(new), len(part.points), TILE) if out.size else ():
            out[some] = _values(part.kernel, new[some], part.points, every)
        return out

    def apply(self, weights: Array, signed: Array) -> Array:
        """Return ``K_d(new, samples) signed``, (n_new,) or (n_new, c)."""
        return _times(self.part.kernel, self.new, self.part.points, self.part.spread(weights), signed)


@dataclass(frozen=True)
class ParametricPart(Part):
    """The kernel between any point and some samples, of some parameters while all others are zero."""

    crosses = ParametricCross
    kernel: ParametricKernel
    points: Array  # (n_part, d)
    which: Indices  # the parameters' places among all
    bank_shape: tuple[int, int]  # number of parameters and of samples of the bank


def _terms(kernel: object) -> list[ParametricKernel]:
    """Return the kernels to be added, or raise `KernelError` if they are none."""
    listed = isinstance(kernel, Iterable) and not isinstance(kernel, (str, ParametricKernel))
    several = list(kernel) if listed else [kernel]  # type: ignore[call-overload]
    for one in several:
        if isinstance(one, type) and issubclass(one, ParametricKernel):
            raise KernelError(
                f"A parametric bank takes a kernel, but was given the class {one.__name__}: write {one.__name__}(),"
                " with its arguments if it has any."
            )
    terms = [one for one in several if isinstance(one, ParametricKernel)]
    if not several or len(terms) < len(several):
        raise KernelError(
            "A parametric bank takes a ParametricKernel, such as LearnedPolynomial(degree=2), or several to be added,"
            f" but was given {kernel!r:.80}."
        )
    return terms


def _values(kernel: ParametricKernel, left: Array, right: Array, weights: Array) -> Array:
    """Return the kernel's values, or say at which parameters they are no numbers: no SVM should be asked then."""
    values = asked_values(kernel, left, right, weights)
    if not np.isfinite(values).all():
        raise KernelError(
            f"The {kernel.label} has values that are not finite at d = {shown(weights)}, where a solver looked."
        )
    return values


def _times(kernel: ParametricKernel, left: Array, right: Array, weights: Array, v: Array) -> Array:
    """Return ``K_d(left, right) v``, block by block."""
    columns = v if v.ndim == 2 else v[:, None]
    used = np.flatnonzero(columns.any(axis=1))
    right, columns = right[used], columns[used]
    out = np.zeros((len(left), columns.shape[1]))
    for some in tiles(len(left), len(used), TILE) if len(used) else ():
        out[some] = _values(kernel, left[some], right, weights) @ columns
    return out.reshape(len(left), *v.shape[1:])


def _tiles(n: int) -> list[slice]:
    """Return ranges of rows of a lower triangle, each one tile: the longer the rows, the fewer."""
    edges = [0]
    while edges[-1] < n:
        start = edges[-1]
        step = int(0.5 * ((start**2 + 4.0 * TILE) ** 0.5 - start))  # step (start + step) = TILE
        edges.append(min(start + max(step, 1), n))
    return [slice(start, stop) for start, stop in pairwise(edges)]
