"""A user's own data, known by a digest: "sha256:" and the hash of everything but what they are called.

Column and class names count, as kernels and classes may be chosen by them; the title and where the data came from do
not: those belong to the visitor who brought the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from mklviz.datasets import Dataset

__all__ = ["OWN", "anonymous", "digest", "signed"]

OWN = "sha256:"
_NAMES = ("name", "title", "source", "licence", "doi", "citation")

_digests: WeakKeyDictionary[Dataset, str] = WeakKeyDictionary()  # a recipe asks for it again at every change


def digest(data: Dataset) -> str:
    """Return the digest that a recipe knows these data by; it is computed once for each object."""
    if data not in _digests:
        _digests[data] = _computed(data)
    return _digests[data]


def _computed(data: Dataset) -> str:
    words = (data.task, data.classes, data.feature_names, data.kernel_names, data.X.shape)
    content = hashlib.sha256(repr(words).encode())
    for values in (data.X, data.y, data.grams):
        if values is not None:
            content.update(values.tobytes())
    return OWN + content.hexdigest()


def anonymous(data: Dataset) -> Dataset:
    """Return the data without what belongs to the visitor who brought them, fit to be kept for all."""
    nothing: dict[str, Any] = dict.fromkeys(_NAMES, "")
    return replace(data, **{**nothing, "name": "the file", "title": "The file", "notes": (), "table": None})


def signed(part: Dataset, data: Dataset, positive: str | None) -> Dataset:
    """Return a part of anonymous data under the names of `data`, the whole."""
    whole = data if positive is None else data.against_rest(positive)
    names = {name: getattr(whole, name) for name in _NAMES}
    return replace(part, **names, notes=data.notes + part.notes, table=data.table)
