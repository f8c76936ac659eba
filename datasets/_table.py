"""Tables shipped with the package: ``tables/NAME.csv``, numbers and, in the last column, the class text or the target.

The numbers stand in the files as their source wrote them, so that reading them is exact. Long tables are compressed,
``tables/NAME.csv.gz``; checksums are those of the text. ``tables/cards.toml`` tells of those that need no code.
"""

from __future__ import annotations

import gzip
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from ._dataset import DataError, Dataset
from ._info import DatasetInfo, task_of

UCI = "UCI Machine Learning Repository"
KEEL = f"{UCI}, by way of the KEEL data set repository"
CC_BY = "CC BY 4.0"


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


def table_info(
    name: str, title: str, shape: tuple[int, int], classes: tuple[str, ...], *,
    doi: str, by: str = "", citation: str = "", source: str = UCI, licence: str = CC_BY, **more: Any,
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

    return {name: table_info(name, **{key: given(each) for key, each in said.items()}) for name, said in cards.items()}


def _text(name: str) -> str:
    tables = resources.files(__package__).joinpath("tables")
    try:
        if tables.joinpath(f"{name}.csv.gz").is_file():
            return gzip.decompress(tables.joinpath(f"{name}.csv.gz").read_bytes()).decode()
        return tables.joinpath(f"{name}.csv").read_text(encoding="utf-8")
    except OSError:
        raise DataError(f"The table of {name!r} is missing from the installation; install mklviz again.") from None
