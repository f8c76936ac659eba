"""What a problem asks of its kernels, whether they are added, K_d = sum_k d_k K_k, multiplied, or have parameters d."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklviz.context import slices
from mklviz.datasets import GramFiles
from mklviz.errors import BankTooLarge, KernelError, UnsupportedProblem
from mklviz.limits import LIMITS
from mklviz.quoting import listed
from mklviz.typing import Array, Indices, Single

T = TypeVar("T")

# Kernels between new points and samples of a bank, K_d(x, x_i) = sum_k d_k K_k(x, x_i), scaled as the bank's own.
#
# Only what is asked for is computed: kernels with weight, samples that matter, and so many new points at a time that a
# block of the (n_new, n) matrix stays small.


class Cross(ABC):
    """Kernels between points `new` and samples of a bank, added or multiplied, computed when asked for."""

    block = 2**20  # entries formed at a time, 8 MB; a few such blocks are alive together

    def __init__(self, part: Any, new: Array) -> None:
        if not (isinstance(new, GramFiles) or np.isfinite(new).all()):  # files were looked at as they were read
            raise KernelError("New points must be finite in every entry: fill in or drop missing values.")
        self.part, self.new = part, new
        self._check()

    @abstractmethod
    def _check(self) -> None:
        """Raise `KernelError` unless the new points fit the part."""

    def __len__(self) -> int:
        return self.new.shape[-2]

    @abstractmethod
    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``K_d(new, samples)`` for the new points from `start` to `stop`, (stop - start, n)."""

    def apply(self, weights: Array, signed: Array) -> Array:
        """Return ``K_d(new, samples) signed``, like signed (n,) or (n, c), block by block of new points."""
        out = np.zeros((len(self), *signed.shape[1:]))
        for some in slices(len(self), max(1, self.block // max(1, len(signed)))):
            out[some] = self.combine(weights, some.start, some.stop) @ signed
        return out


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array, or say that it does not fit into memory; anything else as it is."""
    if not (hasattr(X, "toarray") and hasattr(X, "nnz")):
        return X
    size, most = 8 * X.shape[0] * X.shape[1], LIMITS.bank_bytes
    if size > most:
        raise BankTooLarge(
            f"X with its zeros takes {size / 2**30:.1f} GB, but {most / 2**30:.1f} GB are allowed: reduce its"
            ' columns, as by TruncatedSVD, or give kernels="precomputed" the products X @ X.T.'
        )
    return X.toarray()


def numbers(values: ArrayLike, what: str) -> Array:
    """Return `values`, which may be sparse, as an array, or say that they are not numbers, or that some are missing."""
    refuse_masked(values, what)
    try:
        array = np.asarray(dense(values))
        if array.dtype.kind not in "biufO":  # NumPy would drop imaginary parts and read strings
            raise TypeError(f"not {array.dtype}")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise KernelError(f"{what} must hold numbers only, in rows of one length ({error}).") from None


def refuse_masked(values: object, what: str) -> None:
    """Raise `KernelError` if `values` is an array with masked entries: what is beneath the mask must not count.

    A Dask array is not read for it: a mask that hides nothing is refused, too.
    """
    if isinstance(getattr(values, "_meta", None), np.ma.MaskedArray):
        raise KernelError(f"{what} is a masked Dask array: fill its entries in, as dask.array.ma.filled does.")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise KernelError(
            f"{what} has {count:,} masked {'entry' if count == 1 else 'entries'}, whose values are missing: fill them"
            " in, or leave out the samples or features they belong to."
        )


def column_names(X: object) -> tuple[str, ...] | None:
    """Return what the columns of a table of pandas, polars or Arrow are called; None of arrays and numbered ones."""
    for names in (getattr(X, "columns", None), getattr(getattr(X, "schema", None), "names", None)):
        if isinstance(names, Iterable) and all(isinstance(name, str) for name in names):
            return tuple(names)
    return None


def of_table(bank: T, *names: Sequence[str] | None) -> T:
    """Return the bank, with whose names of columns, those given and those of the table, `in_order` compares others."""
    known = (tuple(map(str, columns)) for columns in names if columns is not None)
    vars(bank)["table_columns"] = tuple(filter(None, known))  # an iterator of names has been read by now
    return bank


def in_order(new: Any, bank: object) -> Any:
    """Return new points, or raise `KernelError` if they are a table whose columns are not those of the samples."""
    given, known = column_names(new), getattr(bank, "table_columns", ())
    if given and known and given not in known:
        raise KernelError(
            f"New points have the columns {listed(given)}, where the samples have {listed(known[0])}, in this order:"
            " take those columns, as in X_new[names]."
        )
    return new


def check_columns(new: Array, width: int) -> None:
    """Raise `KernelError` unless `new` is an (n_new, width) array."""
    if new.ndim != 2 or new.shape[1] != width:
        raise KernelError(f"New points need {width} columns, but an array of shape {new.shape} was given.")


def check_values(new: Array, what: str, whole: tuple[int, int], part: tuple[int, int]) -> bool:
    """Return whether values for new points, (m, n_new, n), are those of the whole bank and not of a part, (m, n) each.

    Raises `KernelError` unless they are of either; `what` was given for the samples.
    """
    shape = (new.shape[0], new.shape[2]) if new.ndim == 3 else None
    if shape not in (whole, part):
        only = "" if part == whole else f", or ({part[0]}, n_new, {part[1]}) for the part in use"
        raise KernelError(
            f"{what}: new points need an array of shape ({whole[0]}, n_new, {whole[1]}){only}, but {new.shape} was"
            " given."
        )
    return shape == whole


Access = Literal["matrix", "rows", "factors"]
Kind = Literal["sum", "product", "parametric"]
NO_TERMS = (
    "There are no terms v'K_k v of single kernels: that takes a sum of kernels. The derivatives of products and of"
    " kernels with parameters are what slopes(weights, v) gives."
)


class Part(Protocol):
    """Some kernels of a bank between any point and some of its samples, without Gram matrices.

    `bank_shape`: number of kernels and of samples of the bank; `crosses`: what they are between new points and these.
    """

    crosses: ClassVar[type[Cross]]
    which: Indices  # the kernels' places in the bank
    bank_shape: tuple[int, int]

    def spread(self, weights: Array) -> Array:
        """Return weights (len(which),) of the part's kernels as weights (m,) of all."""
        every = np.zeros(self.bank_shape[0])
        every[self.which] = weights
        return every

    def merged(self, signed: Array) -> tuple[Part, Array]:
        """Return a part with dual variables that make the same function: of one sample per column, where one will do.

        `signed`: (len(samples),) or (len(samples), c).
        """
        return self, signed

    def cross(self, X_new: ArrayLike) -> Cross:
        """Return the kernels between new points and the part's samples, or raise `KernelError` if they do not fit."""
        new: Any = X_new if isinstance(X_new, GramFiles) else numbers(X_new, "The array of new points")
        return self.crosses(self, new)


class Bank(Protocol):
    """m kernels on the same n samples, and the kernel K_d that weights d make of them.

    `access`: what a solver of the problem at fixed weights is given: K_d itself; a `RowKernel`, where n is so large
    that K_d is never formed; or factors of it, see `FactorBank`. `combine` raises `BankTooLarge` unless it is "matrix".
    """

    # whether ``beta'K_d beta`` is linear in d, as it is where kernels are added. Only then is the problem convex, has
    # it a lower bound, and do `quad` and `products` mean anything; elsewhere they raise `UnsupportedProblem`
    convex: bool
    kind: Kind  # whether the weights belong to kernels that are added or multiplied, or are parameters of one kernel
    n_samples: int
    nbytes: int  # memory the kernels take
    backend: str  # how they are stored, for people
    access: Access
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d``, (n, n) in C order, written into `out` if given."""

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``."""

    def slopes(self, weights: Array, signed: Array, kernel: Array | None = None) -> Array:
        """Return the gradient in d of ``J = max_beta D_loss(beta) - 1/2 beta'K_d beta`` at its maximiser, (m,).

        `weights` (m,); `signed` (n,): the maximiser beta; `kernel` (n, n): ``K_d``, where the caller has it. Where
        kernels are added it is ``-1/2 beta'K_k beta`` for every k, the same at all weights.
        """
        return -0.5 * self.quad(signed)

    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v`` for every kernel, (m,)."""
        raise UnsupportedProblem(NO_TERMS)

    def products(self, v: Array, which: Indices) -> Array:
        """Return ``K_k v`` for the kernels k in `which`, (len(which), n)."""
        raise UnsupportedProblem(NO_TERMS)

    def part(self, which: Indices | None = None, samples: Indices | None = None) -> Part:
        """Return the kernels `which` between any point and `samples`; all by default."""

    def cross(self, X_new: ArrayLike) -> Cross:
        """Return the kernels between new points (n_new, d) and the bank's samples.

        Gram matrices and distances that were given take those of new points, (m, n_new, n).
        """
        return self.part().cross(in_order(X_new, self))

    # what a bank may be able to do besides

    def quad_error(self, v: Array, quad: Array) -> Array:
        """Return how far `quad` (m,) may be from ``v'K_k v`` by rounding, at most, as far as the bank knows."""
        return np.zeros_like(quad)

    def quad_compensated(self, v: Array, which: Indices) -> tuple[Array, Array]:
        """Return ``v'K_k v`` as if computed with twice the digits, and ``|v|'|K_k||v|``, for the kernels in `which`.

        The latter is 0 for kernels given by factors, whose forms are sums of squares. Elsewhere it is `quad`.
        """
        return self.quad(v)[which], np.zeros(len(which))

    @property
    def rounding_pays(self) -> bool:
        """Whether `combine_rounded` and `apply` take less than `combine`."""
        return False

    def combine_rounded(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d`` like `combine`, its entries right to about 1e-6; `apply` stays exact."""
        return self.combine(weights, out)

    def error(self, weights: Array) -> tuple[float, float]:
        """Return the relative trace error of the worst kernel with weight, and of K_d; nan where kernels are exact."""
        return math.nan, math.nan

    def words(self, weights: Array | None = None, whose: str = "") -> str:
        """Say what is approximate, and how exact, also by a solver's weights (m,) if given; "" where all is exact."""
        return ""

    def miniatures(self, X: Array) -> Sequence[Bank]:
        """Return banks on the points X (n, d) that together need the same compiled functions."""
        return []


class RowKernel(Protocol):
    """K_d by rows, none of which is kept longer than it is needed."""

    cache_bytes: int  # memory that rows kept for later may take

    def rows(self, which: Indices) -> Single:
        """Return the rows `which` of K_d, (len(which), n), in single precision."""

    def apply(self, v: Array) -> Array:
        """Return ``K_d v`` (n,) in double precision; only samples with v_i != 0 cost anything."""

    def only(self, keep: Indices) -> RowKernel:
        """Return the kernel between the samples `keep`."""


class RowBank(Bank, Protocol):
    """A bank whose `access` is "rows"."""

    def kernel(self, weights: Array) -> RowKernel:
        """Return K_d by rows."""


class FactorBank(Bank, Protocol):
    """A bank whose `access` is "factors"."""

    def factors(self, weights: Array) -> tuple[NDArray[np.floating], Array]:
        """Return Z (R, n) and w (R,) with ``K_d = Z' diag(w) Z``, of the kernels with weight only."""


@runtime_checkable
class Divisible(Protocol):
    """Extra abilities of a bank that can be restricted to some of its samples, with the same scaling."""

    def only(self, keep: Indices) -> Bank:
        """Return the bank on the samples `keep`, ascending."""


@runtime_checkable
class Movable(Part, Protocol):
    """Extra abilities of a part whose kernels are added and can be had between any points."""

    def at(self, points: Array | None) -> Part:
        """Return the kernels between any point and `points`, or all samples where kernel values were given."""
