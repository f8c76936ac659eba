"""A data set in short, without loading it: the line in a menu, a table or a citation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from ._dataset import Array, Dataset, Task

Kind = Literal["table", "generated", "fetched"]


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
