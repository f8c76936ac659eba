"""Finding plug-ins: every public module of a folder, and every module that an installed package names for it.

    [project.entry-points."mklviz.solvers"]
    frank-wolfe = "my_package.frank_wolfe"

makes the module a file of the folder in all but place. The groups are mklviz.solvers, .kernels, .losses, .regularizers,
.datasets, .scenarios, .claims and .tabs. What cannot be used is left out, with a sentence on it; the rest works.

Data sets use it as well, so it stands on the standard library alone.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")

_GROUPS = {
    "mklviz.kernels.families": "mklviz.kernels",
    "mklviz.problem.losses": "mklviz.losses",
    "mklviz.problem.regularizers": "mklviz.regularizers",
    "mklviz.reproduce.claims": "mklviz.claims",
    "mklviz.views.tabs": "mklviz.tabs",
}
"""Groups of entry points that are not called by the package."""

_NAME = re.compile(r'^    name_\b.*= "([\w-]+)"', re.MULTILINE)
_reasons: dict[str, str] = {}  # the reason why a plug-in is left out, by its place


@dataclass(frozen=True)
class _Source:
    """Where a plug-in comes from: its name, what to import, and how people find it."""

    name: str
    module: str
    where: str
    folder: str


def left_out() -> tuple[str, ...]:
    """Return a sentence for each plug-in looked at so far that cannot be used, with where it is and what is wrong."""
    return tuple(f"{where} is left out: {why}" for where, why in _reasons.items() if why)


def names(package: str) -> list[str]:
    """Return the names of a package's plug-ins, from their files or by entry points, without importing any."""
    return sorted(name for source in _sources(package) for name in _written_names(source))


def _written_names(source: _Source) -> list[str]:
    """Return each `name_` that a file gives, or else the file's own name."""
    file = Path(source.folder, f"{source.name}.py")
    given = _NAME.findall(file.read_text(encoding="utf-8")) if source.folder and file.is_file() else []
    return given or [source.name.replace("_", "-")]


def modules_with(
    package: ModuleType, what: str, misfit: Callable[[ModuleType, Iterable[ModuleType]], str] | None = None
) -> dict[str, ModuleType]:
    """Import the plug-in modules of `package` that define `what`, and return them by their names.

    `misfit` may say in a sentence why a module cannot be used beside those that can, or "".
    """
    usable: dict[str, ModuleType] = {}
    for source in _sources(package.__name__):
        module = _imported(source)
        if module is None:
            continue
        if not hasattr(module, what):
            leave_out(source.where, f"it defines no {what}.")
        elif source.name in usable:
            leave_out(source.where, f"its name {source.name!r} is already that of {usable[source.name].__name__}.")
        elif misfit is not None and (why := misfit(module, usable.values())):
            leave_out(source.where, why)
        else:
            usable[source.name] = module
    return usable


def module_called(package: ModuleType, name: str) -> ModuleType | None:
    """Import the plug-in module of that name, and none of the others; None where there is none that can be used."""
    for source in _sources(package.__name__):
        if source.name.replace("_", "-") == name.replace("_", "-"):
            return _imported(source)
    return None


def named(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Return the subclasses of `base` that the plug-ins of `package` define, in the order of their `name_`."""
    return dict(_named(_sources(package.__name__), base))  # type: ignore[arg-type]


@cache
def _named(sources: tuple[_Source, ...], base: type[T]) -> dict[str, type[T]]:
    usable: dict[str, type[T]] = {}
    for source in sources:
        module = _imported(source)
        own = [] if module is None else [made for made in classes_in(module, base) if _name(made)]
        if module is not None and not own:
            leave_out(source.where, f"it defines no {base.__name__} with a name_.")
        for made in own:
            why = unfit(made, usable)
            if why:
                leave_out(source.where, why)
            else:
                usable[_name(made)] = made
    return dict(sorted(usable.items()))


def classes(package: ModuleType, base: type[T], needed: Sequence[str]) -> Iterator[type[T]]:
    """Yield the subclasses of `base` that the plug-ins of `package` define and that say all that is `needed`."""
    for source in _sources(package.__name__):
        module = _imported(source)
        own = [] if module is None else list(classes_in(module, base))
        if module is not None and not own:
            leave_out(source.where, f"it defines no {base.__name__}.")
        for made in own:
            missing = [name for name in needed if not hasattr(made, name)]
            if missing:
                leave_out(source.where, f"{made.__name__} does not define {', '.join(missing)}.")
            else:
                yield made


def classes_in(module: ModuleType, base: type[T]) -> Iterator[type[T]]:
    """Yield the subclasses of `base` that `module` defines itself."""
    for _, made in inspect.getmembers(module, inspect.isclass):
        if issubclass(made, base) and made is not base and made.__module__ == module.__name__:
            yield made


def _name(made: type) -> str:
    return str(getattr(made, "name_", ""))


def unfit(made: type, taken: dict[str, type[T]]) -> str:
    """Return why a class cannot be used beside those whose names are taken, or ""."""
    missing = sorted({*getattr(made, "__abstractmethods__", ()), *getattr(made, "lacking", list)()})
    if missing:
        return f"{made.__name__} does not define {', '.join(missing)}."
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(made).parameters.values()
    bare = [entry.name for entry in parameters if entry.default is entry.empty and entry.kind not in kinds]
    if bare:
        return f"{made.__name__} has no default for {', '.join(bare)}."
    other = taken.get(_name(made))
    return f"its name {_name(made)!r} is already that of {other.__module__}." if other else ""


def _sources(package: str) -> tuple[_Source, ...]:
    """Return the sources of a package's plug-ins, in alphabetical order; it need not be imported."""
    return _listed(package, _folders(package))


@cache
def _listed(package: str, folders: tuple[str, ...]) -> tuple[_Source, ...]:
    own = [
        _Source(info.name, f"{package}.{info.name}", f"{package.rpartition('.')[2]}/{info.name}.py", folder)
        for folder in folders
        for info in pkgutil.iter_modules([folder])
        if not info.name.startswith("_")
    ]
    return tuple(sorted([*own, *_entered(_GROUPS.get(package, package))], key=lambda source: source.name))


def _folders(package: str) -> tuple[str, ...]:
    if package in sys.modules:
        return tuple(sys.modules[package].__path__)
    return (str(Path(__file__).parent.joinpath(*package.split(".")[1:])),)


def _entered(group: str) -> tuple[_Source, ...]:
    """Return what installed packages name in a group."""
    from importlib.metadata import entry_points  # takes a moment, which help and the like need not wait for

    points = {(point.name, point.module): point for point in entry_points(group=group)}  # a package may be seen twice
    return tuple(
        _Source(name, module, f"{module} (package {point.dist.name if point.dist else module.partition('.')[0]})", "")
        for (name, module), point in points.items()
    )


@cache
def _imported(source: _Source) -> ModuleType | None:
    """Import a plug-in, or leave it out; once, whether it can be used or not."""
    try:
        return importlib.import_module(source.module)
    except (Exception, SystemExit) as error:  # no error in one file may affect the others
        leave_out(source.where, what_is_wrong(error))
        return None


def leave_out(where: str, why: str) -> None:
    """Note why a plug-in cannot be used; "" where it now can."""
    _reasons[where] = why


def what_is_wrong(error: BaseException, importer: str = __file__) -> str:
    """Say what is wrong with a module that could not be imported by the file `importer`, and in which line."""
    if isinstance(error, SyntaxError):
        line, text = error.lineno, error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        skipped = (importer, importlib.__file__)
        own = (frame.lineno for frame in frames if frame.filename not in skipped and "<frozen" not in frame.filename)
        line, text = next(own, None), str(error)
    where = f" in line {line}" if line else ""
    return f"{type(error).__name__}{where}{f', {text}' if text else ''}".rstrip(".") + "."
