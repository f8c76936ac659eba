"""What there is to choose from, one list each: ``mklviz datasets | losses | regularizers | solvers | scenarios``."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["LISTS"]


def _datasets() -> None:
    from mklviz.datasets import describe_datasets

    for info in describe_datasets():
        size = f"{info.n_samples:>7,} x {info.n_features:<4}"
        print(f"{info.name:<16}{size} {info.task:<11}{' / '.join(info.classes) or 'numbers'}  ({info.kind})")


def _losses() -> None:
    from mklviz.problem import loss_families

    _families(loss_families())


def _regularizers() -> None:
    from mklviz.problem import regularizer_families

    _families(regularizer_families())


def _families(families: Mapping[str, Any]) -> None:
    """Print each class as its registry name with all options, and the first line of what it says of itself."""
    width = 2 + max(map(len, families))
    for name, family in families.items():
        options = ",".join(f"{field.name}={field.default}" for field in dataclasses.fields(family) if field.init)
        said = (family.__doc__ or family.label).strip().splitlines()[0]
        print(_filled(said, f"{name:<{width}}", width))
        if options:
            print(f"{'':<{width}}{name}:{options}")


def _solvers() -> None:
    from mklviz.engine import KINDS, solver_classes

    for name, solver in solver_classes().items():
        print(_filled(f"{solver.label}. {solver.paper}", f"{name:<12}", 12))
        for option, value in solver().options().items():
            print(_filled(solver.param[option].doc or "", f"{'':<12}{option}={value} ", 16))
    print("\nWhich solver, measured as CPU time to a gap of 1 %; `mklviz run` takes it where none is named:")
    for kind in KINDS:
        print(_filled(f"{kind.what}: it {kind.why}. {kind.measured}", f"{kind.solver:<12}", 12))


def _scenarios() -> None:
    from mklviz.scenarios import scenarios

    width = 2 + max(map(len, scenarios()))
    for name, scenario in scenarios().items():
        entries = [" with ".join([c.name, *dict(c.options)]) for c in scenario.recipe.solvers]
        print(f"{name:<{width}}{scenario.title} ({scenario.recipe.data.source}: {', '.join(entries)})")
        print(_filled(scenario.look_for, " " * width, width))


def _filled(text: str, begin: str, indent: int) -> str:
    return textwrap.fill(begin + text, 110, subsequent_indent=" " * indent, replace_whitespace=False)


LISTS: dict[str, Callable[[], None]] = {
    "datasets": _datasets,
    "losses": _losses,
    "regularizers": _regularizers,
    "solvers": _solvers,
    "scenarios": _scenarios,
}
