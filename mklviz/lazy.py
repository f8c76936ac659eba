"""What is loaded or computed when it is first needed: libraries, and properties without a lock.

Libraries that only some problems need are imported when such a problem is posed, and not while a solver runs: its
clock would count it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

__all__ = ["Later", "cached_property", "words"]


class Later:
    """Stands for a module until it is loaded, or until one of its names is asked for.

    `module`: the module's full name.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def load(self) -> ModuleType:
        """Import the module now."""
        return importlib.import_module(self._module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspecting or copying it needs no module
            raise AttributeError(name)
        value = getattr(self.load(), name)
        setattr(self, name, value)
        return value


words = Later("mklviz.recipe.words")  # reads kernels, losses, regularizers and solvers, for those whose things it makes


# -- properties that are computed when they are first asked for
#
# A step may be left in the middle, for others to work meanwhile (`mklviz.engine.scheduler`). That of functools holds a
# lock while it computes, in Python 3.11 one for all instances: the next caller would wait for one that waits for it.

T = TypeVar("T")


class cached_property(Generic[T]):
    """A property that becomes an attribute; two threads may both compute it, and then keep the same value."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
