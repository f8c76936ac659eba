"""Public names whose packages are not installed: they can be imported, listed and shown, and say so when used."""

from __future__ import annotations

from typing import Any, NoReturn

from mklviz.errors import MissingPackage

__all__ = ["stand_in"]


class _Absent(type):
    """The metaclass of stand-ins for classes that cannot be imported."""

    _sentence: str

    def __call__(cls, *arguments: Any, **named: Any) -> NoReturn:
        raise MissingPackage(cls._sentence)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # an inspection needs no package
            raise AttributeError(name)
        raise MissingPackage(cls._sentence)


def stand_in(name: str, error: MissingPackage) -> type:
    """Return a stand-in called `name` that raises `error` anew at every call or access."""
    sentence = str(error)
    return _Absent(name, (), {"__doc__": sentence, "__module__": "mklviz", "_sentence": sentence})
