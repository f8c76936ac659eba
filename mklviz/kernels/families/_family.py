"""A kernel family is k(x, z) = profile(base(x, z); parameter): one base matrix serves all its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, islice
from math import comb
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from mklviz.errors import KernelError
from mklviz.numbers import is_number
from mklviz.typing import Array

Columns = tuple[int, ...]

ERROR = 1e-4  # of the largest value, above what single precision rounds
CHECKED = 64  # samples among which a function is seen to be a kernel
LARGEST_SUBSET = 8  # features in a random subset
MOST_SUBSETS = 1_000_000
_GRAMMAR = (
    f'use "all", "each", "all+each", "views", "random:100" (random subsets, at most {MOST_SUBSETS:,}) or a list of'
    " columns."
)
FAR = 4.0  # times the range of a feature, beyond which its mean is subtracted
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _centre(points: Array) -> Array | float:
    """Return the mean in features far from the origin, where squares would cancel; 0 in others."""
    if not len(points):
        return 0.0
    mean = points.mean(0)
    return np.where(np.abs(mean) > FAR * np.ptp(points, axis=0), mean, 0.0)


def squared_distances(left: Array, right: Array, scales: Array | float = 1.0) -> Array:
    """Return ``||scales (x_i - z_j)||^2`` as an (n_left, n_right) array."""
    alone, left, right = left is right, np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if left.shape[1] == 1:  # exact, where the expanded square would cancel
        apart = np.subtract.outer(left[:, 0], right[:, 0])
        apart *= scales
        return np.square(apart, out=apart)
    centre = _centre(right)
    right = (right - centre) * scales
    left = right if alone else (left - centre) * scales
    squares, products = (left**2).sum(1)[:, None] + (right**2).sum(1)[None, :], left @ right.T
    products *= 2.0
    squares -= products
    if alone:  # rounding leaves about 1e-15 where it must be zero
        np.fill_diagonal(squares, 0.0)
    return np.maximum(squares, 0.0, out=squares)


def manhattan_distances(left: Array, right: Array) -> Array:
    """Return ``sum_c |x_ic - z_jc|`` as an (n_left, n_right) array."""
    total = np.zeros((len(left), len(right)))
    for column in range(left.shape[1]):
        total += np.abs(np.subtract.outer(left[:, column], right[:, column]))
    return total


def inner_products(left: Array, right: Array) -> Array:
    """Return ``x_i' z_j`` as an (n_left, n_right) array."""
    return np.asarray(left @ right.T, dtype=np.float64)


def power_of_two(value: float) -> str:
    """Write a width the way the papers do: 2⁻¹ where it is a power of two, plain digits elsewhere."""
    exponent = np.log2(value)
    if np.isclose(exponent, round(exponent), atol=1e-12):
        return "2" + str(round(exponent)).translate(_SUPERSCRIPTS)
    return f"{value:g}"


def positive(values: Sequence[float], what: str) -> tuple[float, ...]:
    """Return `values` as a tuple of positive, finite floats or say what is wrong with them."""
    try:
        entries = () if isinstance(values, str) else tuple(values)
    except TypeError:
        entries = ()
    if not entries or not all(is_number(value) and value > 0 for value in entries):
        raise KernelError(f"{what} must be a list of positive, finite numbers, but {values!r:.80} was given.")
    checked = tuple(float(value) for value in entries)
    if not all(1e-100 < value < 1e100 for value in checked):  # their squares must be numbers too
        raise KernelError(f"{what} must be of ordinary size, but {list(checked)} was given.")
    return checked


@lru_cache(maxsize=8)
def random_subsets(count: int, n_features: int) -> tuple[Columns, ...]:
    """Return `count` different random subsets of 1 to 8 of the features, the same ones whenever it is asked."""
    rng = np.random.default_rng(count)
    largest = min(LARGEST_SUBSET, n_features)
    there_are = sum(comb(n_features, size) for size in range(1, largest + 1))
    if count > there_are:
        raise KernelError(
            f'on="random:{count}" asks for more than the {there_are:,} subsets of 1 to {largest} of {n_features}'
            " features."
        )
    if 2 * count > there_are:
        every = [chosen for size in range(1, largest + 1) for chosen in combinations(range(n_features), size)]
        return tuple(every[k] for k in rng.permutation(there_are)[:count])
    subsets: dict[Columns, None] = {}
    while len(subsets) < count:
        order = np.argsort(rng.random((count, n_features)), axis=1)[:, :largest]
        sizes = rng.integers(1, largest + 1, count)
        subsets.update((tuple(sorted(row[:size].tolist())), None) for row, size in zip(order, sizes, strict=True))
    return tuple(islice(subsets, count))


def views_of(feature_names: Sequence[str]) -> dict[str, Columns]:
    """Return the columns of each view, by what the names of its features begin with; "all" where they do not."""
    views: dict[str, Columns] = {}
    for j, name in enumerate(feature_names):
        view = name.partition(": ")[0] if ": " in name else "all"
        views[view] = (*views.get(view, ()), j)
    return views


class OneFeature(NamedTuple):
    """A kernel of numbers x and z: exp(a (x - z)²), exp(a |x - z|) or (a + x z)^b."""

    shape: Literal["exp square", "exp size", "power"]
    a: float
    b: float = 0.0


@dataclass(frozen=True)
class KernelFamily:
    """Base class of kernel families.

    Parameters
    ----------
    on : "all", "each", "all+each", "views", "random:COUNT" or sequence of columns
        On which features the kernels are built: one set on all of them, one set per feature, both, one set on each
        view (the features whose names begin alike, up to a colon, as those of several tables do), one set on each of
        so many random subsets of 1 to 8 features, or one set on the listed columns (numbers from 0, or feature names).
    """

    name_: ClassVar[str] = ""
    label: ClassVar[str] = ""
    parameter: ClassVar[str] = ""  # the parameter's name in the constructor and on screen
    of_distances: ClassVar[bool] = False  # whether the base is the squared distance, computed faster between columns
    of_differences: ClassVar[bool] = False  # whether values stay what they are when all points are moved
    on: str | Sequence[int | str] = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _read_on(self.on))

    def values(self) -> tuple[float, ...]:
        """Return the parameters, one kernel each per feature subset; 1 where the family has none."""
        return tuple(getattr(self, self.parameter)) if self.parameter else (1.0,)

    def base(self, left: Array, right: Array) -> Array:
        """Return the (n_left, n_right) matrix all parameters share."""
        raise NotImplementedError

    def profile(self, base: Array, value: float) -> Array:
        """Return the kernel matrix for the parameter `value`; families without a parameter have only the base."""
        if self.parameter:
            raise NotImplementedError
        return base

    def check(self, points: Array) -> None:
        """Raise `KernelError` if, at these points, this is no kernel, as functions that people give may be."""

    def from_distances(self, distances: Array) -> Array:
        """Return the base that given distances make, for families that are functions of a distance."""
        raise KernelError(
            f"A {self.label} kernel is no function of a distance: take Gaussian, exp(-D²/(2w²)), or Laplacian kernels,"
            " exp(-D/w)."
        )

    def describe(self, value: float) -> str:
        """Return the kernel's short name, without its columns."""
        raise NotImplementedError

    def diagonal(self, points: Array, value: float) -> Array:
        """Return k(x_i, x_i) as an (n,) array."""
        base = np.array([self.base(row[None, :], row[None, :])[0, 0] for row in points])
        return self.profile(base, value)

    def on_one_feature(self, value: float) -> OneFeature | None:
        """Return the formula by which compiled code computes the kernel on one feature, None if there is none."""
        return None

    @property
    def streams(self) -> bool:
        """Whether a bank can compute these kernels whenever it needs them instead of keeping them."""
        return False

    def subsets(self, n_features: int, feature_names: Sequence[str]) -> list[tuple[str, Columns]]:
        """Return the (name, columns) pairs that `on` asks for, or raise `KernelError` where there are none."""
        _read_on(self.on)  # a family of one's own may have checks that leave this one out
        everything: tuple[str, Columns] = ("all", tuple(range(n_features)))
        each: list[tuple[str, Columns]] = [(feature_names[j], (j,)) for j in range(n_features)]
        if isinstance(self.on, str):
            grammar = {"all": [everything], "each": each, "all+each": [everything, *each]}
            if self.on == "views":
                return list(views_of(feature_names).items())
            kind, _, count = self.on.partition(":")
            if kind == "random":
                return [(_shown(c, feature_names), c) for c in random_subsets(int(count), n_features)]
            return grammar[self.on]
        columns = tuple(_column(entry, n_features, feature_names) for entry in self.on)
        if not columns or len(set(columns)) < len(columns):
            raise KernelError("on=[...] must list at least one column and each only once.")
        return [(_shown(columns, feature_names), columns)]


@dataclass(frozen=True)
class Widths(KernelFamily):
    """Base class of families of kernels exp(-D / w) or the like, of several widths w, with ones on their diagonals."""

    parameter: ClassVar[str] = "widths"
    widths: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", positive(self.widths, f"{self.label} widths"))

    def from_distances(self, distances: Array) -> Array:
        return distances

    def profile(self, base: Array, value: float) -> Array:
        return np.asarray(np.exp(base * (-1.0 / value)))

    def diagonal(self, points: Array, value: float) -> Array:
        return np.ones(len(points))


def _read_on(on: str | Sequence[int | str]) -> str | tuple[int | str, ...]:
    """Return what a family is built on, columns as a tuple, or say that it is not in the grammar."""
    if isinstance(on, str):
        kind, _, count = on.partition(":")
        random = kind == "random" and count.isdecimal() and len(count) < 10 and 0 < int(count) <= MOST_SUBSETS
        if not random and on not in ("all", "each", "all+each", "views"):
            raise KernelError(f"on={on!r:.80} is not known: {_GRAMMAR}")
        return on
    try:
        columns = tuple(on)
    except TypeError:
        raise KernelError(f"on={on!r:.80} is not known: {_GRAMMAR}") from None
    for entry in columns:
        if isinstance(entry, bool) or not isinstance(entry, (int, np.integer, str)):
            raise KernelError(f"on=[...] lists columns by number or name, but {entry!r:.80} is neither.")
    if not columns:
        raise KernelError("on=[...] must list at least one column and each only once.")
    return columns


def _shown(columns: Columns, feature_names: Sequence[str]) -> str:
    if len(columns) <= 3:
        return ", ".join(feature_names[j] for j in columns)
    return f"{feature_names[columns[0]]}, {feature_names[columns[1]]}, … ({len(columns)} columns)"


def _column(entry: int | str, n_features: int, feature_names: Sequence[str]) -> int:
    if isinstance(entry, str) and entry in feature_names:
        return list(feature_names).index(entry)
    if isinstance(entry, (int, np.integer)) and 0 <= entry < n_features:
        return int(entry)
    behind = [j for j, name in enumerate(feature_names) if name.endswith(f"__{entry}")]  # step__name, of scikit-learn
    if isinstance(entry, str) and len(behind) == 1:
        return behind[0]
    raise KernelError(
        f"There is no column {entry!r:.80}. Columns: {', '.join(feature_names[:4])}{', …' if n_features > 4 else ''}"
        f" (numbers 0 to {n_features - 1})."
    )


# A kernel given as a Python function k(X, Z) of two tables of points; it has no name that words could call it by.


@dataclass(frozen=True)
class FunctionKernel(KernelFamily):
    """A kernel computed by a function, such as those of ``sklearn.metrics.pairwise``.

    Parameters
    ----------
    function : callable
        Takes points (n, d) and points (k, d), returns the (n, k) kernel values; symmetric positive semidefinite.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> sine = mv.FunctionKernel(function=lambda X, Z: 1.0 + np.cos(X - Z.T), on="each")
    >>> mv.KernelBank.build(np.eye(3), [sine])
    KernelBank(3 kernels, 3 samples, 0.0 MB: 3 packed)
    """

    label: ClassVar[str] = "Function"
    function: Callable[[Array, Array], Array] | None = None
    on: str | Sequence[int | str] = field(default="all", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.function is None or not callable(self.function):
            raise KernelError(f"A kernel is given as a function of two tables of points, not as {self.function!r:.80}.")

    def base(self, left: Array, right: Array) -> Array:
        assert self.function is not None
        try:
            values = np.asarray(self.function(left, right), dtype=np.float64)
        except (TypeError, ValueError, IndexError) as error:
            raise KernelError(
                f"The kernel {self.describe(1.0)} could not be computed between tables of points, {left.shape} and"
                f" {right.shape}, whose rows are the points: {error}"
            ) from error
        if values.shape != (len(left), len(right)) or not np.isfinite(values).all():
            raise KernelError(
                f"The kernel {self.describe(1.0)} must return ({len(left)}, {len(right)}) finite numbers for so many"
                f" points; it returned an array of shape {values.shape}."
            )
        return values

    def check(self, points: Array) -> None:
        few = points[np.linspace(0, len(points) - 1, min(len(points), CHECKED)).astype(np.intp)]
        K, alone = self.base(few, few), self.base(few[::2], few)
        most, fault = ERROR * float(np.abs(K).max()), ""
        if np.abs(K - K.T).max() > most:
            fault = "symmetric: k(X, Z) must be k(Z, X) transposed."
        elif np.abs(K[::2] - alone).max() > most:
            fault = "a function of two points: its values change with the other points it is called with."
        elif (least := float(np.linalg.eigvalsh(K)[0])) < -max(most, ERROR * float(np.trace(K))):
            fault = (
                f"positive semidefinite: among {len(few)} of the samples it has the eigenvalue {least:.3g}. Take"
                ' another kernel, or repair its matrix: KernelBank.from_grams([k(X, X)], repair="clip"), or an'
                ' estimator with kernels="precomputed", repair="clip".'
            )
        if fault:
            raise KernelError(f"The kernel {self.describe(1.0)} is not {fault}")

    def describe(self, value: float) -> str:
        function = getattr(self.function, "func", self.function)  # of functools.partial, whose text is an address
        return f"{getattr(function, '__name__', function)!s:.60}".strip("<>")
