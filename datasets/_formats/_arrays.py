"""Named arrays, as NumPy and MATLAB keep them, made into samples, labels and kernels, whatever they are called.

``y`` is the vector of that name or one like it, or the only one; kernels are (m, n, n), (n, n, m) or symmetric (n, n)
arrays of its length, or distances without their diagonal, such as SciPy's vectors; other arrays with a row (or a
column) for each label are the samples, several of them views; pictures (n, h, w) are rows of their points.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, takewhile
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from .._cells import LABEL_NAMES
from .._dataset import Array, DataError, Dataset
from .._file_kind import check_size, reading
from .._frame import dataset_from_frame, kernels_of
from .._grams import FEWEST, GramFiles, checked, symmetric
from .._labels import Labels, code_labels
from .._table_options import FileFacts, Progress, TableOptions, refuse_unused

if TYPE_CHECKING:
    import pandas as pd

_Y = ("y", "labels", "label", "target", "targets", "gnd", "class", "classes", "group", "gt", "ytrain", "y_train", "ytr")
_X = ("x", "data", "fea", "features", "feature", "samples", "xtrain", "x_train", "xtr")
NAMES = ("feature_names", "kernel_names", "target_names")
_PART = re.compile(r"[ _.-]*(test|train)(ing)?[ _.-]*|[_.-](te?|tr)$|[_.-]?(trn|tst)$|(?<=\d)tra$|(?<=^[xy])(te|tr)$")
_KERNEL = re.compile(r"^k[\d_]*$|kernel|gram")  # names by which a matrix is meant as a kernel


def called_labels(name: str) -> bool:
    """Whether a file is called as labels are, which may be those of a part."""
    return _PART.sub("", name.lower()) in (*_Y, *LABEL_NAMES)


def pairs_to_test(names: Sequence[str], wanted: Sequence[str] = ()) -> dict[str, str]:
    """Return the names of rows to test, those wanted or those with "test" in them, with the name of the others."""
    plain = {name: _PART.sub("", name.lower()) for name in names}
    meant = [name for name in names if name in wanted]
    tests = meant or [name for name in names if (match := _PART.search(name.lower())) and "tr" not in match[0]]
    others = [name for name in names if name not in tests]
    alike = [[name for name in others if plain[name] == plain[test] or len(meant) == len(others)] for test in tests]
    return {test: names[0] for test, names in zip(tests, alike, strict=True)} if all(len(f) == 1 for f in alike) else {}


def numbered(arrays: dict[str, NDArray[Any]], rows: Collection[int] = ()) -> NDArray[np.bool_] | None:
    """Take the numbers of rows to test and of all others, from 0 or 1, out of arrays; return which rows are tested.

    `rows`: of tables beside the arrays.
    """
    labels = _labels_among(arrays)
    lengths = {*rows} if labels is None else {*rows, arrays[labels].size}
    for test, train in pairs_to_test([*arrays]).items():
        first, second = arrays[train], arrays[test]
        vectors = all(
            max(one.shape, default=0) == one.size > 0 and one.dtype.kind in "iufUSO" for one in (first, second)
        )
        if not vectors or called_labels(train) or first.size + second.size not in lengths:
            continue
        with suppress(ValueError, TypeError):  # of words
            numbers = np.concatenate([first.ravel(), second.ravel()]).astype(np.float64)
            order = np.argsort(numbers)
            if numbers.min() in (0, 1) and np.array_equal(numbers[order], numbers.min() + np.arange(len(order))):
                del arrays[train], arrays[test]
                return order >= first.size
    return None


def _stacked(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_] | None]:
    """Return arrays with rows to test below the others, and which they are; as they are where these do not fit."""
    made, lengths, pairs = dict(arrays), set[tuple[int, int]](), pairs_to_test([*arrays])
    for test, train in pairs.items():
        parts = arrays[train], made.pop(test)
        above, below = (part.reshape(-1) if max(part.shape, default=0) == part.size else part for part in parts)
        kernel = above.ndim > 1 and above.shape[0] == above.shape[1]
        if kernel or above.shape[1:] != below.shape[1:]:
            return dict(arrays), None
        lengths.add((len(above), len(below)))
        made[train] = np.concatenate([above, below])
    labels = _labels_among(made)
    rows = labels in pairs.values() or any(made[train].ndim > 1 for train in pairs.values())  # not numbers of some
    if labels is None or not rows or len(lengths) != 1 or made[labels].size != sum(*lengths):
        return dict(arrays), None
    return made, np.repeat([False, True], lengths.pop())


def read_arrays(
    arrays: Mapping[str, NDArray[Any]], name: str, options: TableOptions, progress: Progress, dialect: str
) -> Dataset:
    """Return the data set in arrays of a file, of which one alone may be a table."""
    alone = table_among(arrays, name)
    if alone is not None:
        return dataset_from_frame(frame_of(alone, name), options, name, FileFacts(dialect=dialect), progress)
    refuse_unused(options, (), name)
    return dataset_of(arrays, name)


def table_among(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any] | None:
    """Return the only array of the file `name`, unless it is square, or called as samples, labels or kernels are."""
    ((key, array), *others) = arrays.items() or [("", np.zeros(0))]
    called = _PART.sub("", key.lower().rpartition(".")[2])
    meant = key != name and (called in (*_X, *_Y) or _KERNEL.search(called))
    oblong = array.ndim == 2 and array.shape[0] != array.shape[1]
    return array if not others and (array.dtype.names or (oblong and not meant)) else None


def frame_of(array: NDArray[Any], name: str) -> pd.DataFrame:
    """Return a single array as a table."""
    import pandas as pd

    if array.dtype.names is None and array.ndim != 2:
        raise DataError(f"{name} holds an array of shape {array.shape}, which is no table.")
    with reading(f"{name} is no table"):
        columns = list(array.dtype.names or (f"x{j + 1}" for j in range(array.shape[1])))
        rows = array if array.dtype.names is None else array.ravel()
        return pd.DataFrame(rows, columns=columns, index=range(1, len(rows) + 1))


def dataset_of(arrays: Mapping[str, NDArray[Any]], name: str) -> Dataset:
    """Return the data set in the arrays of a file, or raise `DataError` with a hint at what it holds."""
    arrays = dict(arrays)
    held_out = numbered(arrays)
    if held_out is None:
        arrays, held_out = _stacked(arrays)
    y, tables, kernels, names = _sorted_out(arrays, name)
    if y is None or not (tables or kernels):
        for key, array in arrays.items():
            if y is not None and array.ndim == 3 and array.dtype.kind in "biuf" and array.shape.count(len(y[1])) > 1:
                _refuse_kernels(key, array.astype(np.float64), len(y[1]), name)
        described = listed([f"{key} {array.shape}" for key, array in arrays.items()])
        lacking = "no labels, such as an array y (n,)" if y is None else "nothing to learn from"
        lacking += "" if y is None else f" with {len(y[1]):,} samples, as many as there are labels"
        raise DataError(
            f"{name} holds {described or 'nothing'}: {lacking}. It must hold y and X (n, d), or y and grams (m, n, n);"
            " labels may also be a file of their own, given together with this one."
        )
    made = _made(_labels_of(*y, name), tables, kernels, names, name)
    used = {y[0], *tables, *kernels, *NAMES}
    left = [f"{key} {array.shape}" for key, array in arrays.items() if key not in used]
    notes = (*made.notes, f"Not used of {name}: {listed(left)}.") if left else made.notes
    square = [key for key, table in tables.items() if table.shape[0] == table.shape[1]]
    notes += (f"Not symmetric, and read as features: {listed(square)}.",) if square else ()
    n = len(made.y)
    pairs = [f"{key} {arrays[key].shape}" for key in kernels if n not in arrays[key].shape]
    notes += (f"Taken for the distances between {n} samples, each pair once: {listed(pairs)}.",) if pairs else ()
    return replace(made, notes=notes, held_out=held_out)


def _made(
    labels: Labels,
    tables: Mapping[str, Array],
    kernels: Mapping[str, Array],
    names: Mapping[str, tuple[str, ...]],
    name: str,
) -> Dataset:
    """Return the data set of labels and what was found with them."""
    X = np.hstack([*tables.values()]) if tables else np.zeros((len(labels.y), 0))
    more = kernels_of(kernels, slice(None)) if kernels else {}
    if kernels and ("kernel_names" in names or len(kernels) == 1):
        more["kernel_names"] = names.get("kernel_names", ())
    if len(tables) > 1:
        ends = np.cumsum([0, *(table.shape[1] for table in tables.values())]).tolist()
        more["groups"] = tuple(tuple(range(a, b)) for a, b in pairwise(ends))
        more["feature_names"] = tuple(f"{key}: {j + 1}" for key, table in tables.items() for j in range(table.shape[1]))
    elif tables and "feature_names" in names:
        more["feature_names"] = names["feature_names"]
    return labels.dataset(name, X, **more)


def dense(matrix: Any) -> Array:
    """Return a compressed sparse matrix with its zeros, or raise `ValueError`: a damaged one would end the process."""
    if (np.diff(matrix.indptr) < 0).any():  # at which SciPy does not look where the last is zero or less
        raise ValueError("its rows do not follow each other")
    matrix.check_format()
    return np.asarray(matrix.toarray())


def _sorted_out(
    arrays: Mapping[str, NDArray[Any]], name: str
) -> tuple[tuple[str, NDArray[Any]] | None, dict[str, Array], dict[str, Array], dict[str, tuple[str, ...]]]:
    """Return labels with what they are called, tables of samples and kernels by what they are called, and names."""
    names = {key: _texts(arrays[key], key) for key in NAMES if key in arrays}
    rest = {key: array for key, array in arrays.items() if key not in NAMES and (array.size > 1 or key == "grams")}
    y_key = _labels_among(rest)
    y = None if y_key is None else (y_key, _vector(rest.pop(y_key), name))
    n = None if y is None else len(y[1])
    tables, kernels = dict[str, Array](), dict[str, Array]()
    for key, given in rest.items():
        array = given if n is None else _with_diagonal(given, n)
        if array.dtype.kind not in "biuf" or array.ndim < 2:
            _refuse_if_meant(key, array, name)
            continue
        if isinstance(array, GramFiles) and n in (None, array.shape[1]):
            kernels[key] = checked(array)
            continue
        numbers, square = np.asarray(array, dtype=np.float64), len({*array.shape, n or array.shape[0]}) == 1
        meant = key.lower() in ("grams", "gram", "kernels") or (square and _KERNEL.search(key.lower()))
        as_kernels = None if key.lower() in _X else kernels_in(np.nan_to_num(numbers), n)
        if as_kernels is not None and np.isfinite(numbers).all():
            kernels[key] = as_kernels
        elif as_kernels is not None or meant:
            _refuse_kernels(key, numbers, n, name)
        elif numbers.ndim == 2 and (n is None or n in numbers.shape or key.lower() in _X):
            turned = n is not None and len(numbers) != n == numbers.shape[1]
            tables[key] = np.ascontiguousarray(numbers.T) if turned else numbers
        elif (
            n is not None
            and n in (len(numbers), numbers.shape[-1])
            and (numbers.shape.count(n) == 1 or key.lower() in _X)
        ):
            flat = (numbers if len(numbers) == n else np.moveaxis(numbers, -1, 0)).reshape(n, -1)
            check_size(name, *flat.shape)
            tables[key] = flat
    chosen = [key for key in tables if key.lower() in _X]
    return y, {key: tables[key] for key in chosen} or tables, kernels, names


def _with_diagonal(array: NDArray[Any], n: int) -> NDArray[Any]:
    """Return distances that stand there once each, in a vector as SciPy's or a triangle, as a matrix; others as is."""
    vector = max(array.shape, default=0) == array.size == n * (n - 1) // 2
    if n < FEWEST or not (vector or array.shape == (n - 1, n - 1)):
        return array
    try:
        numbers = np.asarray(array, dtype=np.float64)
    except ValueError:  # of words
        return array
    if not (numbers >= 0).all() or not (vector or _is_triangle(numbers)):
        return array
    row, column = np.triu_indices(n, 1)
    whole = np.zeros((n, n))
    whole[row, column] = numbers.ravel() if vector else numbers[row, column - 1]
    return np.asarray(whole + whole.T)


def _is_triangle(matrix: Array) -> bool:
    """Whether a symmetric matrix came of a triangle: it is no matrix of distances itself, and no kernel by its size."""
    size, whole = np.diag(matrix), symmetric(matrix)
    if whole is None or whole is not matrix:  # with zeros on one side
        return whole is not None
    return bool(size.any() and (matrix**2 > np.outer(size, size) * 1.001).any())


def _refuse_if_meant(key: str, array: NDArray[Any], name: str) -> None:
    dimensions = {"x": 2, "grams": 3}.get(key.lower())
    if dimensions:
        shape = f"have {dimensions} dimensions; its shape is {array.shape}"
        wanted = shape if array.dtype.kind in "biuf" else f"hold real numbers, not {array.dtype}"
        raise DataError(f"Array {key} of {name} must {wanted}.")


def _refuse_kernels(key: str, array: Array, n: int | None, name: str) -> None:
    if array.ndim == 3 and array.shape[0] == array.shape[1]:
        array = np.moveaxis(array, 2, 0)
    square = array.ndim >= 2 and array.shape[-1] == array.shape[-2] == n
    if square:
        for k, matrix in enumerate(array if array.ndim == 3 else array[None]):
            if not np.isfinite(matrix).all():
                i, j = np.argwhere(~np.isfinite(matrix))[0]
                raise DataError(f"Gram matrix {k} of array {key} holds {matrix[i, j]:g} between samples {i} and {j}.")
            if symmetric(matrix) is None:
                raise DataError(f"Gram matrix {k} of array {key} is not symmetric; a kernel matrix must be.")
    raise DataError(f"Array {key} has shape {array.shape}; expected (m, {n}, {n}), since y has {n} labels.")


def kernels_in(array: Array, n: int | None) -> Array | None:
    """Return an array as kernels (m, n, n), or None where it holds none on n samples."""
    for kernels in (array[None],) if array.ndim == 2 else (array, np.moveaxis(array, 2, 0)) if array.ndim == 3 else ():
        if kernels.shape[1] == kernels.shape[2] and n in (None, kernels.shape[1]):
            whole = [*takewhile(lambda each: each is not None, map(symmetric, kernels))]
            if len(whole) == len(kernels):
                as_given = all(np.may_share_memory(each, kernels) for each in whole)
                return np.ascontiguousarray(kernels) if as_given else np.array(whole)
    return None


def _labels_among(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Return which array holds the labels: the one that is called so, or the only vector."""
    lower = {key.lower().rpartition(".")[2]: key for key in arrays}
    for called in _Y:
        if called in lower:
            return lower[called]
    vectors = [key for key, array in arrays.items() if max(array.shape, default=0) == array.size]
    sizes = {length for key, array in arrays.items() if key not in vectors for length in array.shape}
    counts = {key: arrays[key].size for key in vectors}
    pairs = {*counts.values()} - {3}  # 3 samples have 3 distances
    fitting = [key for key, count in counts.items() if count in sizes or comb(count, 2) in pairs]
    return fitting[0] if len(fitting) == 1 else None


def _vector(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels as a vector: also one in a column or row, or with a column for each class."""
    if max(array.shape, default=0) == array.size:
        return array.reshape(-1)
    if array.ndim == 2 and array.dtype.kind in "biuf":
        table = array if array.shape[0] >= array.shape[1] else array.T
        if (np.sum(table == table.max(), axis=1) == 1).all() and len(np.unique(table)) == 2:
            return np.asarray(table.argmax(axis=1) + 1)
    raise DataError(f"The labels of {name} must have shape (n,); their shape is {array.shape}.")


def _labels_of(key: str, array: NDArray[Any], name: str) -> Labels:
    """Return labels, numbers or texts, coded."""
    if array.dtype.kind not in "biufUSO":
        raise DataError(f"Array {key} of {name} must hold numbers or text, not {array.dtype}.")
    texts = [_text(value, key, name) for value in array.tolist()]
    place = {text: k for k, text in enumerate(sorted({*texts}))}  # an array of texts is as wide as its longest
    return code_labels([*place], f"array {key}", np.array([place[text] for text in texts]))


def _text(value: Any, key: str, name: str) -> str:
    """Label as text: whole numbers without a point, so that 1.0 and 1 are one label."""
    if isinstance(value, (str, bytes)):
        return (value.decode("utf-8", "replace") if isinstance(value, bytes) else value).strip()
    if value is None or not np.isfinite(float(value)):
        raise DataError(f"Array {key} of {name} holds {value}; every label must be a finite number or a text.")
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def _texts(array: NDArray[Any], key: str) -> tuple[str, ...]:
    if array.ndim != 1 or array.dtype.kind not in "UO":
        raise DataError(f"Array {key} must be a one-dimensional array of text; it is {array.dtype}, {array.shape}.")
    return tuple(str(value) for value in array)
