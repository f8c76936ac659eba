"""Finding plugins: every public module of a package, in alphabetical order; one new file is one new plugin."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def module_names(package: ModuleType) -> list[str]:
    """Return the names of the modules of `package` without leading underscore, in alphabetical order."""
    return sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_"))


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield those modules."""
    for name in module_names(package):
        yield importlib.import_module(f"{package.__name__}.{name}")


def classes(package: ModuleType, base: type[T]) -> Iterator[type[T]]:
    """Yield the subclasses of `base` that the modules of `package` define themselves."""
    for module in modules(package):
        yield from classes_in(module, base)


def classes_in(module: ModuleType, base: type[T]) -> Iterator[type[T]]:
    """Yield the subclasses of `base` that `module` defines itself."""
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, base) and found is not base and found.__module__ == module.__name__:
            yield found
