"""A data set in short, without loading it: the line in a menu, a table or a citation; and the tables that are shipped.

``tables/cards.toml`` tells of them, and ``tables/NAME.csv`` holds numbers, as their source wrote them, and in the last
column the class text or the target. Long ones are compressed, ``tables/NAME.csv.gz``; checksums are of the text.

Every module of this folder that has a ``load`` function is one data set, called by its name, and so is every table. To
add one, add a file: ``load(**options) -> Dataset`` and, so that menus need not load it, ``INFO``, its `DatasetInfo`. A
name that starts with an underscore is a helper. Installed packages may name further modules.
"""

from __future__ import annotations

import gzip
import inspect
import sys
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklviz.plugins import left_out, modules_with
from mklviz.quoting import hint

from ._dataset import Array, DataError, Dataset, Task

Kind = Literal["table", "generated", "fetched"]
UCI = "UCI Machine Learning Repository"
LICENCE = "none needed: drawn by mklviz"


@dataclass(frozen=True)
class DatasetInfo:
    """A data set's card.

    `name`, `title`: the word `load_dataset` knows it by, and a readable name; `n_samples`, `n_features`: shape of X;
    for generated data, the shape with default options; `classes`: label texts by code: for two classes the first is -1,
    the second +1; `kind`: measured and shipped as a table, drawn from a formula, or measured and fetched from the
    network when loaded; `notes`: sentences worth reading before trusting a result; `sha256`: checksum of the table;
    empty for generated data.
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    task: Task
    classes: tuple[str, ...]
    kind: Kind
    source: str
    licence: str
    doi: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features, (n, d)."""
        return self.n_samples, self.n_features

    def dataset(self, X: Array, y: NDArray[Any], notes: tuple[str, ...] = (), **more: Any) -> Dataset:
        """Return the data set that the card is of."""
        shared = ("name", "title", "task", "classes", "source", "licence", "doi", "citation")
        return Dataset(X=X, y=y, notes=self.notes + notes, **{key: getattr(self, key) for key in shared}, **more)


def task_of(classes: tuple[str, ...]) -> Task:
    """Return what a data set with these classes poses; none mean numbers."""
    return "binary" if len(classes) == 2 else "multiclass" if classes else "regression"


# -- generated data


def generated_info(
    name: str, title: str, shape: tuple[int, int], classes: tuple[str, ...], source: str, notes: tuple[str, ...] = ()
) -> DatasetInfo:
    """Card of a generated data set; `shape` is (n, d) with default options, no `classes` mean regression."""
    task = task_of(classes)
    return DatasetInfo(name, title, *shape, task, classes, "generated", source, LICENCE, notes=notes)


def at_least(least: int, **counts: int) -> None:
    """Raise `DataError` unless every count is a whole number of at least `least`."""
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise DataError(f"{name} must be a whole number of at least {least}, not {value!r:.80}.")


def not_negative(**amounts: float) -> None:
    """Raise `DataError` unless every amount is a finite number of at least 0."""
    for name, value in amounts.items():
        if not isinstance(value, (int, float)) or not 0 <= value < np.inf:
            raise DataError(f"{name} must be a number of at least 0, not {value!r:.80}.")


# -- shipped tables


@dataclass(frozen=True)
class TableInfo(DatasetInfo):
    """The card of a shipped table, which reads the table as well."""

    def load(self) -> Dataset:
        """Read the table."""
        header, *lines = _text(self.name).splitlines()
        rows, _, labels = zip(*(line.rpartition(",") for line in lines), strict=True)
        code = {text: float(k) for k, text in enumerate(self.classes)}
        y = np.array([code[label] if self.classes else float(label) for label in labels])
        X = np.loadtxt(rows, delimiter=",", ndmin=2)
        return self.dataset(X, 2.0 * y - 1.0 if self.task == "binary" else y, feature_names=header.split(",")[:-1])


def _card(
    name: str, title: str, shape: tuple[int, int], classes: tuple[str, ...], *,
    doi: str, by: str = "", citation: str = "", source: str = UCI, licence: str = "CC BY 4.0", **more: Any,
) -> TableInfo:  # fmt: skip
    """Return the card of a table; `by` is the authors and the year of one of UCI's, `shape` is (n, d)."""
    where = f" https://doi.org/{doi}" if doi else ""
    return TableInfo(
        name, title, *shape, task_of(classes), classes, "table", source, licence, doi,
        citation or f"{by}. {title} [Dataset]. {UCI}.{where}", **more,
    )  # fmt: skip


@cache
def tables() -> dict[str, TableInfo]:
    """Return the cards of the tables that need no code, by their names."""
    cards = tomllib.loads(resources.files(__package__).joinpath("tables", "cards.toml").read_text(encoding="utf-8"))

    def given(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    return {name: _card(name, **{key: given(each) for key, each in card.items()}) for name, card in cards.items()}


def _text(name: str) -> str:
    tables = resources.files(__package__).joinpath("tables")
    try:
        if tables.joinpath(f"{name}.csv.gz").is_file():
            return gzip.decompress(tables.joinpath(f"{name}.csv.gz").read_bytes()).decode()
        return tables.joinpath(f"{name}.csv").read_text(encoding="utf-8")
    except OSError:
        raise DataError(f"The table of {name!r} is missing from the installation; install mklviz again.") from None


# -- all data sets, by their names


def list_datasets() -> list[str]:
    """Names of all data sets, in alphabetical order.

    Examples
    --------
    >>> "heart" in mv.list_datasets()
    True
    """
    return sorted(_modules())


def load_dataset(name: str, **options: Any) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    **options
        Passed to the data set; generated data take ``n``, ``seed`` and more, tables take none.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If there is no such data set, or it has no such option.

    Examples
    --------
    >>> mv.load_dataset("heart").X.shape
    (270, 13)
    """
    load = _find(name).load
    known = list(inspect.signature(load).parameters)
    for option in options:
        if option not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise DataError(f"The data set {name!r:.80} has no option {option!r:.80}; {takes}.")
    dataset: Dataset = load(**options)
    return dataset


def describe_datasets() -> tuple[DatasetInfo, ...]:
    """Cards of all data sets, in the order of `list_datasets`, without loading the tables."""
    return tuple(describe_dataset(name) for name in list_datasets())


def _modules() -> dict[str, ModuleType | TableInfo]:
    return {**tables(), **modules_with(sys.modules[__package__], "load")}


def _find(name: str) -> ModuleType | TableInfo:
    modules = _modules()
    if name not in modules:
        file = Path(str(name)).suffix or set(str(name)) & set("/\\")
        helps = "a file is read by mv.read_dataset(path)." if file else hint(str(name), sorted(modules))
        sentence = f"There is no data set {name!r:.80}; {helps}"
        raise DataError(" ".join([sentence, *left_out()]))
    return modules[name]


def describe_dataset(name: str) -> DatasetInfo:
    """Return the card of one data set, or raise `DataError` if there is none of that name."""
    module = _find(name)
    info = getattr(module, "INFO", module)
    if isinstance(info, DatasetInfo):
        return info
    dataset = load_dataset(name)
    shared = {field.name: getattr(dataset, field.name) for field in fields(DatasetInfo) if hasattr(dataset, field.name)}
    return DatasetInfo(**{**shared, "name": name, "kind": "table"})
