"""Finding plugins: every public module of a package, in alphabetical order; one new file is one new plugin."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules of `package` whose names have no leading underscore."""
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
        if not info.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{info.name}")


def classes(package: ModuleType, base: type[T]) -> Iterator[type[T]]:
    """Yield the subclasses of `base` that the modules of `package` define themselves."""
    for module in modules(package):
        for _, found in inspect.getmembers(module, inspect.isclass):
            if issubclass(found, base) and found is not base and found.__module__ == module.__name__:
                yield found
