"""From a DataFrame to a data set: what each column holds, which is predicted, what is done where values are missing.

Notes say all that is done, and the same frame with the same options gives the same data set.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklviz.numbers import counted
from mklviz.quoting import MOST_NAME, listed, one_line

from ._cells import column, in_quotes, target_name, words_listed
from ._columns import MOST_WORDS, Rows, TableColumn, cell_text, read_columns
from ._dataset import Array, DataError, Dataset
from ._file_kind import check_size
from ._grams import matrix_apart, together, without_labels
from ._labels import code_labels, most_classes, one_class
from ._table_options import FILL, LEAVE_OUT, NOTHING, FileFacts, Progress, Role, TableOptions, TableSummary

if TYPE_CHECKING:
    import pandas as pd

FEW = 0.1  # up to this share of rows with missing values are left out, more are filled in
_LEFT = {"date": "date: left out", "identifier": "row numbers: left out", "text": "text: left out"}
_ASSUMED = re.compile(" taken to hold ")
SHOWN_ROWS, SHOWN_COLUMNS = 8, 40
MOST_OFFERED = 1000  # targets, where none can be used
_PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}
_CALLED = ("is_test", "is_train", "istest", "istrain")
_OF_WORDS = ("category", "Categorical", "Enum", "dictionary")  # types of columns, of pandas, polars and pyarrow
_TESTED = "it says which rows are tested"
_GENES = re.compile(
    r"\W*(genes?|probe|transcript|otu|taxon|peptide|protein|id_ref|symbol|ens(g\d|embl)|hugo|\d+_at)",
    re.IGNORECASE,
)
_ENDS = ("source target", "src dst", "from to", "node1 node2", "u v", "i j", "row col")
_EDGES = "Its rows look like edges of a graph: give a row for each of its nodes, or a kernel for every pair of them."


def unique_names(names: Sequence[str], name: str) -> tuple[list[str], list[str]]:
    """Return the names of columns, each once, and notes on those that came twice; `name` is the file's."""
    seen, unique, notes = {*names}, dict[str, None](), list[str]()
    for j, text in enumerate(names):
        called, count = text or f"column {j + 1}", 1
        if len(called) > MOST_NAME:
            raise DataError(
                f"Column {j + 1} of {name} has a name of {len(called):,} letters; a name has at most {MOST_NAME}."
            )
        while called in unique or (count > 1 and called in seen):
            count += 1
            called = f"{text or f'column {j + 1}'} ({count})"
        if count > 1:
            notes.append(f"Two columns are called {in_quotes(text)}: the later one is {in_quotes(called)}.")
        unique[called] = None
    return list(unique), notes


def dataset_from_frame(
    frame: pd.DataFrame,
    options: TableOptions | None = None,
    name: str = "the table",
    facts: FileFacts | None = None,
    progress: Progress = lambda _fraction: None,
) -> Dataset:
    """Return the data set that a DataFrame holds, with the summary of what was done to it.

    `name` is the file's. The index of the frame says in which row of the file each row stands; texts become numbers
    where they are.
    """
    options, facts = options or TableOptions(), facts or FileFacts()
    meant = [each for each, what in facts.roles.items() if "target" in what and each not in options.leave_out]
    if meant and options.target is None:
        options = replace(options, target=meant[0])
        facts = replace(facts, assumed=(*facts.assumed, f"The target is {column(meant[0])}, as the file says."))
    try:
        return _dataset(frame, options, name, facts, progress)
    except DataError as error:
        error.columns = tuple(map(str, frame.columns[:MOST_OFFERED]))
        raise


def _dataset(frame: pd.DataFrame, options: TableOptions, name: str, facts: FileFacts, progress: Progress) -> Dataset:
    unlabelled = options.target == NOTHING and NOTHING not in frame
    kernel = None if facts.grams else matrix_apart(frame, None if unlabelled else options.target, alone=True)
    if kernel is not None:
        if len(kernel[2]) == kernel[1].shape[1] and not unlabelled:
            raise without_labels(name, len(kernel[0]))
        frame, facts = kernel[1], replace(facts, grams={name: kernel[0][None]})
    own = frame
    frame = frame.assign(**{NOTHING: 1}) if unlabelled else frame
    if frame.shape[1] in (2, 3) and _are_edges(frame, facts.header is not False):
        facts = replace(facts, assumed=(*facts.assumed, _EDGES))
    if frame.shape[1] < 2 and not facts.grams:
        problem = f"{name} has one column; expected at least one column to learn from and one to predict."
        raise DataError(" ".join([problem, *facts.assumed]))
    check_size(name, *frame.shape)
    check_columns(options, list(own.columns), name)
    if not len(frame):
        raise DataError(f"{name} has a header and no rows below it.")
    columns, written = read_columns(frame, options, facts, progress)
    marker, tested, tests = _tested(columns, options, facts, name)
    columns = [replace(each, role="nothing", aside=_TESTED) if each is marker else each for each in columns]
    held = columns[: own.shape[1]]  # by the table itself
    targets = _targets(held or columns, options.leave_out)
    label = next(each for each in columns if each.name == (options.target or targets[0]))
    used = [each for each in columns if each is not label and not each.aside]
    if not (used or facts.grams):
        reasons = [f"{column(each.name)}: {each.aside}" for each in columns if each is not label][:3]
        what = "Choose another target, or give columns of numbers or of words that come again"
        raise DataError(f"{name} has nothing to predict {column(label.name)} from: {'; '.join(reasons)}. {what}.")
    check_size(name, len(frame), sum(len(each.names) for each in used))
    kept = _kept(label, used, options.missing)
    codes, inverse = np.unique(label.codes[kept.rows], return_inverse=True)
    texts = label.texts()
    named = [texts[code] for code in codes]
    declared = "words" in facts.roles.get(label.name, "") and len(named) <= most_classes(len(inverse))
    task = options.task or ("classes" if declared else None)
    labels = one_class(inverse) if unlabelled else code_labels(named, column(label.name), inverse, task)
    assumed = tuple(text for text in facts.assumed if not _ASSUMED.search(text))
    tested = None if tested is None else tested[kept.rows]
    apart = () if tested is None else (f"{int(tested.sum()):,} of {len(tested):,} rows are tested, not trained on.",)
    done = (*assumed, *written, *kept.notes, *apart, *_column_notes(columns, label, kept.missing))
    comma = ["decimal comma"] if any(each.startswith("Commas in") for each in written) else []
    dialect = ", ".join([*filter(None, [facts.dialect]), *comma, f"{len(frame):,} rows"])
    test = options.test if marker is None else marker.name
    shown = replace(options, target=label.name, missing=kept.missing, header=facts.header, test=test)
    absent = None if facts.absent is None else facts.absent[kept.rows]
    lacking = 0 if absent is None else int(absent.any(axis=1).sum())
    summary = TableSummary(
        shown, targets, kept.gaps, len(frame), facts.named, done, dialect, facts.sheets,
        _roles(held, label, labels.task), _first(own), tests, lacking,
        {each.name: each.spelling for each in (*used, label) if each.spelling}, unlabelled,
    )  # fmt: skip
    features = tuple(feature for each in used for feature in each.names)
    given: dict[str, Any] = {} if not facts.grams else kernels_of(facts.grams, kept.rows)
    dataset = labels.dataset(name, _values(used, kept.rows, progress), feature_names=features, **given)
    unit = (f"The target is in {label.unit}.",) if label.unit and labels.task == "regression" else ()
    guessed = unit if options.target is not None else (f"The target is {column(label.name)}.", *unit)
    called = (columns[0].name, *map(str, columns[0].values[:1])) if columns[0].aside else ()
    if options.target is None and any(map(_GENES.match, called)):
        guessed += ("Each row is a sample: where the columns are, as in tables of genes, turn the table first.",)
    notes = (*dataset.notes, *filter(_ASSUMED.search, facts.assumed), *guessed, *done)
    return replace(dataset, notes=notes, table=summary, held_out=tested, absent=absent)


def _are_edges(frame: pd.DataFrame, named: bool) -> bool:
    """Whether rows look like edges of a graph: by their names, or by whole numbers without names, which ascend at one
    end and come again at the other, each pair once."""
    first, second = frame.iloc[:, 0], frame.iloc[:, 1]
    if named or frame.shape[1] > 2:
        ends = re.sub(r"(node)?_?id\b|_", "", " ".join(frame.columns[:2]).lower())
        known = ends in _ENDS and not any(map(target_name, frame.columns[2:]))
        return known and bool(first.map(str).isin(second.map(str)).any())
    if first.is_unique or not all(first.str.isdecimal() & second.str.isdecimal()):
        return False
    again = 2 * len({*first} & {*second}) > len({*second}) > MOST_WORDS
    return again and first.astype(float).is_monotonic_increasing and not frame.duplicated().any()


def _tested(
    columns: Sequence[TableColumn], options: TableOptions, facts: FileFacts, name: str
) -> tuple[TableColumn | None, NDArray[np.bool_] | None, tuple[str, ...]]:
    """Return the column that says which rows are tested, these rows, and what else may say it."""
    able = {each.name: rows for each in columns if (rows := _test_rows(each)) is not None}
    tests = (*able, *facts.tests)
    if facts.held_out is not None:
        return None, facts.held_out, tests
    worded = [each.name for each in columns if each.role != "numbers" and {*map(str.lower, each.texts())} <= _PARTS]
    sure = [each.name for each in columns if each.name.lower() in _CALLED or each.name in worded]
    free = [name for name in sure if name in able and name not in (options.target, *options.leave_out)]
    wanted = options.test or next(iter(free), None)
    marker = next((each for each in columns if each.name == wanted), None)
    if wanted is not None and wanted not in able:
        held = f"holds {words_listed(marker.words)}" if marker else "is no column of it, and no file beside it"
        raise DataError(
            f"test is a column of {name} of which some words begin with test and others do not, or the name of one of"
            f" several files; {in_quotes(wanted)} {held}."
        )
    return marker, None if wanted is None else able[wanted], tests


def _test_rows(made: TableColumn) -> NDArray[np.bool_] | None:
    """Return in which rows a column says that they are tested; None where it says nothing of the kind."""
    texts = [text.lower() for text in made.texts()] if len(made.values) <= MOST_WORDS else []
    test = np.array([text.startswith("test") for text in texts])
    name = made.name.lower()
    if len(texts) == 2 and not test.any() and ("test" in name or "train" in name):
        test = np.array([(text in ("1", "true", "yes")) == ("test" in name) for text in texts])
    return np.append(test, False)[made.codes] if test.any() and not test.all() else None


def kernels_of(kernels: Mapping[str, Array], rows: Rows | slice) -> dict[str, Any]:
    """Return kernels (m, n, n) by their files between some samples, as `Dataset` takes them."""
    called = [f"{stem} {k + 1}" if len(m) > 1 else stem for stem, m in kernels.items() for k in range(len(m))]
    return {"grams": together([*kernels.values()])[:, rows][:, :, rows], "kernel_names": tuple(called)}


def check_columns(options: TableOptions, names: Sequence[str], name: str) -> None:
    """Refuse a target or columns left out that the table does not have, and too many columns."""
    for wanted in (*([] if options.target in (None, NOTHING) else [options.target]), *options.leave_out):
        if wanted not in names:
            raise DataError(f"There is no {column(wanted)}. Columns: {listed(names)}.")
    if options.target in options.leave_out:
        raise DataError(f"The {column(str(options.target))} is the target: it cannot be left out of {name}.")


# -- what is said of it


def _column_notes(columns: Sequence[TableColumn], label: TableColumn, missing: str | None) -> Iterator[str]:
    """Yield what became of the columns."""
    for each in columns:
        if each.odd:
            odd = words_listed([in_quotes(str(value)) for value in each.odd])
            yield f"Column {in_quotes(each.name)} holds numbers; {odd} there counts as missing."
        words = each.words if each.role == "words" else []
        lower = Counter(map(str.lower, words))
        alike = [in_quotes(word) for word in words if lower[word.lower()] > 1]
        if alike:
            yield f"Column {in_quotes(each.name)} tells {words_listed(alike)} apart, which differ by capitals alone."
        if each is label:
            continue
        if each.aside:
            yield f"Column {in_quotes(each.name)} is set aside: {each.aside}."
        elif each.role == "words":
            text = f"Column {in_quotes(each.name)} holds words ({words_listed(each.words)})"
            two = f"1 stands for {in_quotes(each.words[-1])}"
            yield f"{text}: {two if len(each.words) == 2 else 'one column for each word'}."
        if not each.aside and each.gaps and missing == FILL:
            values = "1 missing value of {} is" if each.gaps == 1 else f"{each.gaps:,} missing values of {{}} are"
            yield f"{values.format(column(each.name))} filled in by {each.filling()[1]}."


def _roles(columns: Sequence[TableColumn], label: TableColumn, task: str) -> tuple[tuple[str, Role, str], ...]:
    """Return what each column became, in a few words."""

    def became(each: TableColumn) -> tuple[str, Role, str]:
        if each is label:
            return each.name, "target", "target: numbers" if task == "regression" else "target: classes"
        if each.aside:
            role: Role = "nothing" if each.role in ("numbers", "words") else each.role
            return each.name, role, _LEFT.get(role, "left out")
        words = f"words as {counted(len(each.names), 'column')}"
        return each.name, each.role, "number" if each.role == "numbers" else words

    return tuple(map(became, columns))


def _first(frame: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    rows = frame.iloc[:SHOWN_ROWS, :SHOWN_COLUMNS].astype(object).itertuples(index=False, name=None)
    return tuple(
        tuple(one_line("" if isinstance(cell, float) and isnan(cell) else cell_text(cell), 40) for cell in row)
        for row in rows
    )


# -- the target


def _targets(columns: Sequence[TableColumn], left_out: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that can be predicted, the best guess first."""
    columns = [each for each in columns if each.name not in left_out] or columns
    able = [each for each in columns if _predictable(each)] or columns
    best = _guess(columns, able)
    return tuple(each.name for each in (best, *(other for other in able if other is not best)))


def _predictable(candidate: TableColumn) -> bool:
    present = len(candidate.codes) - candidate.gaps
    if candidate.aside:
        most = min(most_classes(present), present - 1)
        return candidate.role == "text" and 1 < len(candidate.values) <= most
    return candidate.role == "numbers" or len(candidate.values) > 1


def _guess(columns: Sequence[TableColumn], able: Sequence[TableColumn]) -> TableColumn:
    """Return the column that is called so, else the first where it alone holds words, else the last."""
    holding = ("numbers", "words", "text")
    named = [each for each in columns if target_name(each.name) and each.role in holding]
    called = [each for each in named if each in able or len(each.values) < 2 or len(columns) == 2]
    ends = [each for each in (columns[-1], columns[0]) if each in called]
    inner = [each for each in called if target_name(each.name) != "y"]  # which may be a coordinate
    if ends or inner:
        return (ends + inner)[0]
    alone = sum(each.role in ("words", columns[0].role) for each in columns) == 1
    only = alone and columns[0].role in ("words", "text") and columns[-1].role == "numbers"
    return columns[0] if only and columns[0] in able else able[-1]


# -- missing values


class _Kept(NamedTuple):
    """Rows that are used, what is done where a value is missing, how many rows that concerns, and what to say of it."""

    rows: Rows
    missing: str | None
    gaps: int
    notes: tuple[str, ...]


def _kept(label: TableColumn, used: Sequence[TableColumn], asked: str | None) -> _Kept:
    labelled = ~label.missing
    if not labelled.any():
        raise DataError(f"Column {in_quotes(label.name)} is empty: choose another target.")
    whole = np.logical_and.reduce([labelled, *(~each.missing for each in used)])
    gaps = int(labelled.sum() - whole.sum())
    notes = (f"{_counted(label.gaps)} left out, where {column(label.name)} is empty.",) if label.gaps else ()
    if not gaps:
        return _Kept(np.flatnonzero(labelled), None, 0, notes)
    if (asked or (LEAVE_OUT if gaps <= FEW * labelled.sum() else FILL)) == FILL:
        return _Kept(np.flatnonzero(labelled), FILL, gaps, notes)
    if not whole.any():
        raise DataError("A value is missing in every row: fill in the missing values instead of leaving rows out.")
    note = f"{_counted(gaps)} left out, where a value is missing."
    return _Kept(np.flatnonzero(whole), LEAVE_OUT, gaps, (*notes, note))


def _counted(rows: int) -> str:
    return "1 row is" if rows == 1 else f"{rows:,} rows are"


def _values(used: Sequence[TableColumn], rows: Rows, progress: Progress) -> Array:
    """Return the numbers that kernels see (n, d), with missing values filled in."""
    X = np.empty((len(rows), sum(len(each.names) for each in used)))
    start = 0
    for k, each in enumerate(used):
        block = each.numbers(rows)
        if each.gaps:
            block = np.where(np.isnan(block), each.filling()[0], block)
        X[:, start : start + block.shape[1]] = block
        start += block.shape[1]
        progress((1.0 + k / len(used)) / 2)
    return X


# -- frames from Python


def from_frame(data: Any, options: TableOptions, name: str) -> Dataset:
    """Return the data set in a DataFrame of pandas, or of a library whose columns become NumPy arrays, as polars'."""
    import pandas as pd

    try:
        whole = data.collect() if hasattr(data, "collect_schema") and hasattr(data, "collect") else data
        names = getattr(whole, "column_names", None) or whole.columns  # of pyarrow, or of polars
        frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame({key: whole[key].to_numpy() for key in names})
    except (AttributeError, TypeError):
        raise DataError(f"df must be a DataFrame, of pandas or polars, but {type(data).__name__} was given.") from None
    parts = (key if isinstance(key, tuple) else (key,) for key in frame.columns)
    names, notes = unique_names([" ".join(str(part) for part in key if part != "") for key in parts], name)
    of_pyarrow = getattr(getattr(whole, "schema", None), "types", ())
    kinds = map(str, getattr(whole, "dtypes", of_pyarrow))
    roles = {called: "words" for called, kind in zip(names, kinds, strict=False) if kind.startswith(_OF_WORDS)}
    frame = frame.set_axis(names, axis=1).set_axis(range(1, len(frame) + 1), axis=0)
    return dataset_from_frame(frame, options, name, FileFacts(assumed=tuple(notes), roles=roles))
