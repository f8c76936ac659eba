"""Every module of this folder that has a ``load`` function is one data set, called by its name, and so is every table.

To add one, add a file: ``load(**options) -> Dataset`` and, so that menus need not load it, ``INFO``, its
`DatasetInfo`. A name that starts with an underscore is a helper. Installed packages may name further modules.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

from mklviz.plugins import left_out, modules_with
from mklviz.quoting import hint

from ._dataset import DataError, Dataset
from ._info import DatasetInfo, TableInfo, tables


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
