"""A data set is a table X (n, d) with labels y (n,), and where it came from.

Labels are -1 and +1 for two classes, 0, 1, ..., K-1 for more, and real numbers for regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklviz.numbers import is_number, is_switch, is_whole
from mklviz.quoting import fact_table, listed, quote

from ._grams import Array as Array
from ._grams import GramFiles
from ._table_options import DataError as DataError
from ._table_options import TableOptions, TableSummary

Indices = NDArray[np.intp]
Task = Literal["binary", "multiclass", "regression"]

_DISTANCES = "The matrices have zeros on their diagonals: they are distances, and kernels are made of them."


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples, labels and their provenance; arrays are float64, copied and read-only.

    Parameters
    ----------
    name : str
        The word `load_dataset` knows it by, or the file's name.
    X : array (n, d)
        Samples; d is 0 where only Gram matrices are given.
    y : array (n,)
        -1 and +1 for ``binary``, 0..K-1 for ``multiclass``, real numbers for ``regression``.
    classes : tuple of str
        Label texts by code: for two classes ``classes[0]`` is -1 and ``classes[1]`` is +1. Empty for regression.
    feature_names : tuple of str
        One per column of X; ``x1, x2, ...`` where none are given.
    title, source, licence, doi, citation : str
        What it is called, where it comes from, what one may do with it, whom to cite.
    notes : tuple of str
        Sentences worth reading before trusting a result.
    grams : array (m, n, n) or None
        Precomputed kernel matrices; in the test half of a split (m, n_test, n_train), test rows against
        training columns. Those of .npy files over 1 GB in all stay there: ``grams[k]`` reads one.
    kernel_names : tuple of str
        One per Gram matrix; ``K1, K2, ...`` where none are given.
    distances : bool
        Whether `grams` holds distances, of which kernels are made: square matrices without negative numbers that all
        have zeros on their diagonals are recognised as such.
    held_out : array (n,) of bool or None
        Which samples are tested, where the data say it: `split` follows them.
    absent : array (n, views) of bool or None
        Which samples have no value of their own in which of the `groups`.
    informative : tuple of int or None
        Columns of X that carry the signal, where that is known (generated data).
    groups : tuple of tuples of int, or None
        Columns of X that belong together, one kernel each.
    table : TableSummary or None
        How a table of one's own was read, and what was done to it.

    Raises
    ------
    DataError
        If shapes, labels or names do not fit each other, or a value is not finite.

    Examples
    --------
    >>> mv.Dataset("mine", X=np.eye(2), y=np.array([-1.0, 1.0]), feature_names=("age", "height"))
    <Dataset 'mine', 2 samples, 2 features, binary: -1 / +1>
    """

    name: str
    X: Array
    y: Array
    title: str = ""
    task: Task = "binary"
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    source: str = ""
    licence: str = ""
    doi: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    grams: Array | None = None
    kernel_names: tuple[str, ...] = ()
    informative: tuple[int, ...] | None = None
    groups: tuple[tuple[int, ...], ...] | None = None
    table: TableSummary | None = None
    distances: bool = False
    held_out: NDArray[np.bool_] | None = None
    absent: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        X, y = _frozen("X", self.X, 2), _frozen("y", self.y, 1)
        if len(X) != len(y):
            raise DataError(f"X has {len(X)} rows but y has {len(y)} labels; there must be one label per row.")
        if not len(y):
            raise DataError("The data set has no samples.")
        self._set(X=X, y=y, title=self.title or self.name)
        self._set(feature_names=_names("feature name", "x", self.feature_names, X.shape[1]))
        self._set(classes=_check_labels(y, self.task, tuple(self.classes)))
        if self.grams is not None:
            in_files = isinstance(self.grams, GramFiles)  # which were checked when they were found
            grams: Any = self.grams if in_files else _frozen("grams", self.grams, 3)
            if grams.shape[1] != len(y) or not len(grams):
                raise DataError(
                    f"grams has shape {grams.shape}; expected (m, {len(y)}, {len(y)}): "
                    f"m Gram matrices of the {len(y)} samples in y."
                )
            self._set(grams=grams, kernel_names=_names("kernel name", "K", self.kernel_names, len(grams)))
            if not (in_files or self.distances) and _are_distances(grams):
                self._set(distances=True, notes=(*self.notes, _DISTANCES))
        elif not X.shape[1]:
            raise DataError("X has no columns and there are no Gram matrices; one of the two is needed.")
        for name in ("held_out", "absent"):
            if getattr(self, name) is not None:
                part = np.array(getattr(self, name))
                if part.dtype != bool or part.shape[:1] != y.shape:
                    raise DataError(f"{name} must say True or False of each of the {len(y)} samples.")
                part.setflags(write=False)
                self._set(**{name: part})
        _check_columns("informative", self.informative or (), X.shape[1])
        _check_columns("groups", [j for group in self.groups or () for j in group], X.shape[1])

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    def __repr__(self) -> str:
        size = f"{self.n_samples} samples, {self.n_features} features"
        what = "distance" if self.distances else "Gram"
        grams = "" if self.grams is None else f", {len(self.grams)} {what} matrices"
        labels = f": {' / '.join(self.classes)}" if self.classes else ""
        return f"<Dataset {self.name!r}, {size}{grams}, {self.task}{labels}>"

    def _repr_html_(self) -> str:
        counts = [f"{text} ({len(rows):,})" for text, rows in self._parts()] if self.classes else []
        rows = [
            ("samples", f"{self.n_samples:,}"),
            ("features", f"{self.n_features:,}" if self.n_features else ""),
            ("distances" if self.distances else "Gram matrices", "" if self.grams is None else f"{len(self.grams):,}"),
            ("classes", ", ".join(counts)),
            ("source", self.source),
            ("licence", self.licence),
            ("citation", self.citation),
            *(("note", note) for note in self.notes),
        ]
        return fact_table(self.title, rows)

    @classmethod
    def from_frame(
        cls,
        df: Any,
        target: str | int | None = None,
        missing: str | None = None,
        task: str | None = None,
        leave_out: Sequence[str] = (),
        na: Sequence[str] = (),
        name: str = "frame",
        test: str | None = None,
    ) -> Dataset:
        """Return the data set in a DataFrame of pandas or polars, as `read_dataset` does with a table in a file.

        The index is no column: where it holds something to learn from, hand over ``df.reset_index()``.

        Parameters
        ----------
        df : DataFrame
        target, missing, task, leave_out, na, test
            See `read_dataset`.
        name : str
            Name of the data set.
        """
        target = str(target) if is_whole(target) else target  # as pandas names columns that have no names
        options = TableOptions.checked(target, missing, task=task, leave_out=leave_out, na=na, test=test)
        read: Dataset = import_module(f"{__package__}._frame").from_frame(df, options, name)  # which makes data sets
        return read

    def split(self, train: float = 0.5, seed: int = 0, standardize: bool = True) -> tuple[Dataset, Dataset]:
        """Split into a training and a test part, class by class in equal shares.

        The training part has exactly ``int(train * n)`` samples; both parts keep the order of the rows.
        Columns that are constant in the training part carry nothing and are dropped from both parts, with a
        note that names them. Gram matrices become (m, n_train, n_train) and, for the test part,
        (m, n_test, n_train): test rows against training columns. They are never standardized, but distances are
        divided by their mean between training samples. Where the data say which samples are tested, `held_out`, they
        are, whatever the share and the seed.

        Parameters
        ----------
        train : float
            Share of the samples to train on, between 0 and 1.
        seed : int
            Seed of the random choice; the same seed gives the same split.
        standardize : bool
            Shift and scale each column by its mean and standard deviation in the training part.

        Raises
        ------
        DataError
            If a part would be empty, or a class would be missing from the training part.
        """
        if not (is_number(train) and 0 < train < 1):
            shown = train if is_number(train) else f"{train!r:.80}"
            raise DataError(f"train must be a share of the samples between 0 and 1, such as 0.5, not {shown}.")
        if not (is_whole(seed) and seed >= 0):
            raise DataError(f"The seed must be a whole number not below zero, such as 0, but {seed!r:.80} was given.")
        if not is_switch(standardize):
            raise DataError(f"standardize must be True or False, but {standardize!r:.80} was given.")
        if self.held_out is None:
            chosen = _training_rows(self.y, self._parts(), train, seed)
            return _halves(self, chosen, np.setdiff1d(np.arange(self.n_samples), chosen), standardize, f"seed {seed}")
        chosen, tested = np.flatnonzero(~self.held_out), np.flatnonzero(self.held_out)
        lacking = [text or "sample" for text, rows in self._parts() if not (~self.held_out[rows]).any()]
        if lacking or not len(tested):
            what = f"train on of class {quote(lacking[0])}" if lacking else "test on"
            raise DataError(f"The rows that {self.title} keeps for the test leave none to {what}: choose others.")
        return _halves(self, chosen, tested, standardize, "the rows to test that the data name")

    def n_train(self, share: float) -> int:
        """Return how many samples `split` trains on."""
        return int(share * self.n_samples) if self.held_out is None else int((~self.held_out).sum())

    def against_rest(self, positive: str) -> Dataset:
        """Return the same samples with two classes: +1 for the class `positive`, -1 for all others."""
        if self.task != "multiclass":
            raise DataError(f"{self.title} does not have more than two classes to set one against the rest.")
        if positive not in self.classes:
            raise DataError(f"{self.title} has no class {quote(positive)}; there are {listed(self.classes)}.")
        return replace(
            self,
            y=np.where(self.y == self.classes.index(positive), 1.0, -1.0),
            task="binary",
            classes=("the rest", positive),
            title=f"{self.title}: {positive} against the rest",
        )

    def _parts(self) -> list[tuple[str, Indices]]:
        """Rows of each class that has some, with the class's label text; all rows as one part for regression."""
        if self.task == "regression":
            return [("", np.arange(self.n_samples))]
        codes = (-1, 1) if self.task == "binary" else range(len(self.classes))
        rows = [(text, np.flatnonzero(self.y == code)) for code, text in zip(codes, self.classes, strict=True)]
        return [(text, mine) for text, mine in rows if len(mine)]


def _frozen(name: str, values: ArrayLike, ndim: int) -> Array:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):  # a copy would drop the mask
        raise DataError(f"{name} is masked in some entries; missing values must be filled in or left out.")
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of numbers; it holds something else.") from None
    if array.ndim != ndim:
        raise DataError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}; its shape is {array.shape}.")
    if not np.isfinite(array).all():
        where = ", ".join(str(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise DataError(
            f"{name}[{where}] is not a finite number: fill it in or leave its row out beforehand. Tables, as in CSV or"
            ' a DataFrame, are filled in by the option missing="fill".'
        )
    array.setflags(write=False)
    return array


def _names(what: str, letter: str, names: Sequence[str], count: int) -> tuple[str, ...]:
    if names and len(names) != count:
        raise DataError(f"There are {len(names)} {what}s for {count}; give one for each, or none.")
    return tuple(str(name) for name in names) or tuple(f"{letter}{j + 1}" for j in range(count))


def _check_labels(y: Array, task: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    if task == "regression":
        if classes:
            raise DataError("A regression data set has no classes; leave them out.")
        return ()
    if task not in ("binary", "multiclass"):
        raise DataError(f"There is no task {task!r:.80}; it is binary, multiclass or regression.")
    if task == "binary":
        classes, allowed = classes or ("-1", "+1"), np.array([-1.0, 1.0])
        if len(classes) != 2:
            raise DataError(f"A binary data set has two classes, not {len(classes)}.")
    else:
        classes = classes or tuple(str(k) for k in range(int(y.max()) + 1))
        allowed = np.arange(len(classes), dtype=np.float64)
    wrong = np.flatnonzero(~np.isin(y, allowed))
    if len(wrong):
        codes = "-1 and +1" if task == "binary" else f"0, 1, ..., {len(classes) - 1}"
        raise DataError(f"Label {y[wrong[0]]:g} of sample {wrong[0]} is none of the codes {codes}.")
    return classes


def _check_columns(name: str, columns: Iterable[int], count: int) -> None:
    wrong = [j for j in columns if not 0 <= j < count]
    if wrong:
        raise DataError(f"{name} mentions column {wrong[0]}, but X has the columns 0 to {count - 1}.")


def _training_rows(y: Array, parts: list[tuple[str, Indices]], train: float, seed: int) -> Indices:
    """Rows to train on: each class gives its share, leftovers go to the largest remainders."""
    total = int(train * len(y) + 1e-9)
    if not 0 < total < len(y):
        raise DataError(f"train={train:g} of {len(y)} samples leaves one part empty; change the share or add samples.")
    wanted = np.array([total * len(rows) / len(y) for _, rows in parts])
    quota = np.floor(wanted + 1e-9).astype(int)
    for k in np.argsort(quota - wanted, kind="stable")[: total - quota.sum()]:
        quota[k] += 1
    for (text, rows), count in zip(parts, quota, strict=True):
        if not count:
            raise DataError(
                f"No sample of class {text!r} would be in the training part: the data set has {len(rows)} of that "
                f"class among {len(y)} samples and train={train:g}. Train on a larger share, or leave the class out."
            )
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(rows)[:count] for (_, rows), count in zip(parts, quota, strict=True)]
    return np.sort(np.concatenate(chosen))


def _halves(ds: Dataset, chosen: Indices, held_out: Indices, standardize: bool, by: str) -> tuple[Dataset, Dataset]:
    X = ds.X[chosen]
    keep = np.flatnonzero(X.max(axis=0) > X.min(axis=0)) if X.size else np.arange(0)
    if ds.n_features and not len(keep):
        raise DataError(f"Every column of {ds.name!r} is constant in the training part; there is nothing to learn.")
    shift, scale = _moments(ds, X, keep) if standardize else (0.0, 1.0)
    remaining = set(keep.tolist())
    dropped = [ds.feature_names[j] for j in range(ds.n_features) if j not in remaining]
    shared: dict[str, Any] = {
        "feature_names": tuple(ds.feature_names[j] for j in keep),
        "informative": None if ds.informative is None else _renumber(ds.informative, keep),
        "groups": None if ds.groups is None else tuple(_renumber(group, keep) for group in ds.groups),
    }
    notes = ds.notes + ((f"Dropped, being constant in the training part: {listed(dropped)}.",) if dropped else ())
    if standardize and len(keep):
        notes += ("Standardized by the means and standard deviations of the training part.",)

    grams = None if ds.grams is None else _square(ds.grams)[:, :, chosen]
    if grams is not None and ds.distances and standardize:
        grams = grams / grams[:, chosen].mean(axis=(1, 2), keepdims=True)
        notes += ("Distances are divided by their mean between training samples.",)

    def half(word: str, rows: Indices) -> Dataset:
        return replace(
            ds,
            X=(ds.X[np.ix_(rows, keep)] - shift) / scale,
            y=ds.y[rows],
            grams=None if grams is None else grams[:, rows],
            held_out=None,
            absent=None if ds.absent is None else ds.absent[rows],
            notes=(*notes, f"The {word} part of a split with {by}: {len(rows)} of {ds.n_samples} samples."),
            **shared,
        )

    return half("training", chosen), half("test", held_out)


def _moments(ds: Dataset, X: Array, keep: Indices) -> tuple[Array, Array]:
    """Means and standard deviations of the columns `keep`, or a sentence on the first whose square is no number."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        shift, scale = X[:, keep].mean(axis=0), X[:, keep].std(axis=0)
        wrong = np.flatnonzero(~(np.isfinite(shift) & np.isfinite(scale) & (scale > 0.0)))
    if len(wrong):
        j = int(keep[wrong[0]])
        raise DataError(
            f"Column {quote(ds.feature_names[j])} cannot be standardized: its numbers reach"
            f" {np.abs(X[:, j]).max():.3g}, and their squares are no numbers any more."
            " Use another unit, or leave the column out."
        )
    return shift, scale


def _renumber(columns: Iterable[int], keep: Indices) -> tuple[int, ...]:
    """Column numbers after only the columns `keep` are left; the others disappear."""
    new_index = {int(old): new for new, old in enumerate(keep)}
    return tuple(new_index[j] for j in columns if j in new_index)


def _are_distances(grams: Array) -> bool:
    """Whether all matrices have zeros on their diagonals and nothing negative, as no kernel but zero has."""
    most = grams.max(axis=(1, 2))
    diagonals = np.abs(np.diagonal(grams, axis1=1, axis2=2)).max(axis=1)
    square = grams.shape[1] == grams.shape[2] and bool((most > 0.0).all() and (diagonals <= 1e-6 * most).all())
    return square and bool((grams.min(axis=(1, 2)) >= -1e-6 * most).all())


def _square(grams: Array) -> Array:
    if grams.shape[1] != grams.shape[2]:
        raise DataError("This is the test half of a split: its Gram matrices are not square. Split the whole instead.")
    return grams
