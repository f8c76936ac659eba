"""Solvers by name, and their styles: every file in the solvers folder is one, and nothing else has to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import param

import mklviz.solvers
from mklviz.contract import Solver
from mklviz.errors import ProblemError, UnknownName
from mklviz.lazy import words
from mklviz.plugins import classes_in, left_out, module_called, named
from mklviz.problem import Problem
from mklviz.quoting import hint


def solver_classes() -> dict[str, type[Solver]]:
    """Return every solver found, by registry name."""
    return named(mklviz.solvers, Solver)


def available_solvers(problem: Problem | None = None) -> list[str]:
    """Return the names of all solvers, or of those that can solve `problem`.

    Examples
    --------
    >>> "level" in mv.available_solvers()
    True
    """
    classes = solver_classes()
    return [name for name in classes if problem is None or not why_not(classes[name](), problem)]


def why_not(solver: Solver, problem: Problem) -> str:
    """Return "" or why a solver cannot solve `problem`; an error of one solver must not stop the others."""
    try:
        return solver.refusal(problem)
    except Exception as error:
        return f"{solver.label} broke down when asked about this problem ({type(error).__name__}: {error})."


def make_solver(solver: str | Solver, **options: Any) -> Solver:
    """Return a solver from its name and options, also in words, "level:lam=0.5"; a ready solver is returned as it is.

    Raises
    ------
    UnknownName
        If no solver has that name.
    ProblemError
        If an option does not exist or has a value out of bounds.

    Examples
    --------
    >>> mv.make_solver("level:lam=0.5").lam
    0.5
    """
    if isinstance(solver, Solver):
        if options:
            raise ProblemError("Options belong to a solver's name; set those of a ready solver on the solver.")
        return solver
    if not isinstance(solver, str):
        raise ProblemError(f"A solver is given by its name, such as 'level', or ready made, not as {solver!r:.80}.")
    if not solver or {*":, \t\n"} & {*solver}:
        chosen = words.read_solvers(solver)
        if len(chosen) != 1:
            raise ProblemError(f"One solver is asked for, but {solver!r:.80} names {len(chosen)}.")
        solver, options = chosen[0].name, {**dict(chosen[0].options), **options}
    kind = _class_called(solver)
    unknown = sorted(set(options) - set(kind.param))
    if unknown:
        known = ", ".join(sorted(key for key in kind.param if key != "name"))
        raise ProblemError(f"{kind.label} has no option {unknown[0]!r:.80}. Its options are: {known}.")
    for key, value in options.items():
        option = kind.param[key]
        try:
            kind(**{key: value})
            fits = not (isinstance(value, bool) and isinstance(option, param.Number))
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ProblemError(f"{kind.label} cannot take {key}={value!r:.80}: it must be {_expected(option)}.")
    return kind(**options)


def _expected(option: param.Parameter[Any]) -> str:
    """Return what an option may be, as the end of a sentence."""
    if isinstance(option, param.Selector):
        return "one of " + ", ".join(repr(value) for value in option.objects)
    if isinstance(option, param.Boolean):
        return "True or False"
    kind = "a whole number" if isinstance(option, param.Integer) else "a number"
    if not isinstance(option, param.Number):
        return f"of the type of {option.default!r}"
    low, high = option.bounds or (None, None)
    limits = [f"not {side} {limit:g}" for side, limit in (("below", low), ("above", high)) if limit is not None]
    return f"{kind} {' and '.join(limits)}".strip() + (", or None" if option.allow_None else "")


def _class_called(name: str) -> type[Solver]:
    """Return the solver of that name; if its file has the same name, no other solver is imported."""
    module = module_called(mklviz.solvers, name)
    for made in classes_in(module, Solver) if module else ():
        if made.name_ == name:
            return made
    classes = solver_classes()
    if name not in classes:
        sentence = f"There is no solver called {name!r:.80}; {hint(str(name), classes)}"
        raise UnknownName(" ".join([sentence, *left_out()]))
    return classes[name]


# The style of each solver: its class may choose it, and whatever the class leaves open is unlike all other solvers.
#
# While markers and dashes last, no two solvers share both, so that they differ without colours too; a solver that names
# no colour gets one of its own while there are any. Free styles are given in the order of the registry, so a solver
# looks the same every time.

DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
MARKERS = (
    *("circle", "square", "triangle", "inverted_triangle", "diamond", "hex", "star", "plus", "cross"),
    *("square_pin", "triangle_pin"),
)
_FREE_COLOURS = (
    ("#E50BF9", "#CE06E0"),
    ("#F90B5A", "#F90B5A"),
    ("#0618E0", "#5664FB"),
    ("#04A404", "#06E006"),
    ("#E00697", "#E00697"),
    ("#4B0202", "#EF0606"),
    ("#024B14", "#65FB8A"),
    ("#BA4A4A", "#BE5555"),
    ("#4B023E", "#FC83E8"),
)
"""For light and dark pages, each as far from those of the solvers shipped and from those before it as CIELAB allows."""


@dataclass(frozen=True)
class Style:
    """Colours (hex, of 3:1 contrast on light and on dark pages), line dash and marker."""

    colour: str
    colour_dark: str
    dash: str
    marker: str


def style_of(solver: type[Solver]) -> Style:
    """Return how a solver is drawn; one that is not in the registry is drawn as if it came last."""
    classes = list(solver_classes().values())
    return styles_of(tuple(classes if solver in classes else [*classes, solver]))[solver]


def styles_of(classes: tuple[type[Solver], ...]) -> dict[type[Solver], Style]:
    """Return all styles: first the complete ones, then the others, completed from what is left."""
    styles: dict[type[Solver], Style] = {}
    for solver in sorted(classes, key=lambda made: not all((made.colour, made.colour_dark, made.dash, made.marker))):
        styles[solver] = _completed(solver, list(styles.values()))
    return styles


def _completed(solver: type[Solver], others: list[Style]) -> Style:
    """Return the style of a class, completed by what the others leave."""
    pairs = [(style.marker, style.dash) for style in others]
    markers = [solver.marker] if solver.marker else sorted(MARKERS, key=lambda mark: [m for m, _ in pairs].count(mark))
    dashes = [solver.dash] if solver.dash else sorted(DASHES, key=lambda dash: [d for _, d in pairs].count(dash))
    marker, dash = next((pair for pair in product(markers, dashes) if pair not in pairs), (markers[0], dashes[0]))
    colours = [(style.colour, style.colour_dark) for style in others]
    light, dark = min(_FREE_COLOURS, key=colours.count)
    # one colour alone serves both pages: what is drawn is mixed until it stands out
    return Style(
        solver.colour or solver.colour_dark or light, solver.colour_dark or solver.colour or dark, dash, marker
    )
