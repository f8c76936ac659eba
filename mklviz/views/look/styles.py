"""How runs are drawn, as their solvers are: one that enters twice varies dash, marker and shade. And tables in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, count
from typing import Any

from mklviz.contract import Solver
from mklviz.engine import Race, make_solver
from mklviz.engine.race import BRANCH_DASH
from mklviz.engine.registry import MARKERS, style_of
from mklviz.errors import MklvizError, ProblemError
from mklviz.glossary import GLOSSARY
from mklviz.recipe.words import read_solvers
from mklviz.record import Trace
from mklviz.record.summary import label as label_of
from mklviz.reproduce.answering import VERDICT_SIGNS
from mklviz.reproduce.claim import DOES_NOT, PARTLY, REPRODUCES
from mklviz.views.look.palette import DASHES, RunStyle, Theme, mixed, readable


def race_styles(race: Race, theme: Theme) -> dict[str, RunStyle]:
    """Return the style of each run of a live race."""
    return solver_styles({key: run.solver for key, run in race.runs.items()}, theme)


def solver_styles(solvers: Mapping[str, Solver], theme: Theme) -> dict[str, RunStyle]:
    """Return the style that the run of each solver has or will have, by the keys of the runs."""
    labels = {key: str(solver.name) if key == solver.name_ else key for key, solver in solvers.items()}
    return _styles({key: (labels[key], solver.name_, solver) for key, solver in solvers.items()}, theme)


def run_styles(traces: Mapping[str, Trace], theme: Theme) -> dict[str, RunStyle]:
    """Return the style of each recorded run, by the solver that its trace names."""
    return _styles({key: (label_of(key, t), t.solver, solver_of(t)) for key, t in traces.items()}, theme)


def written_styles(solvers: Sequence[str], theme: Theme) -> dict[str, RunStyle]:
    """Return the style of each solver that is written as in recipes, "level:lam=0.5"; of other texts, too."""
    return _styles({text: _entry(text) for text in solvers}, theme)


def _entry(text: str) -> tuple[str, str, Solver | None]:
    try:
        (choice,) = read_solvers(text)
        solver = choice.make()
    except (MklvizError, ValueError):  # of a package that is not installed here
        return text, text, None
    options = text.removeprefix(choice.name).lstrip(":")
    return f"{solver.name}{f', {options}' if options else ''}", solver.name_, solver


def _styles(entries: Mapping[str, tuple[str, str, Solver | None]], theme: Theme) -> dict[str, RunStyle]:
    """Return each solver's own style; where it enters twice, other dashes, markers and shades, while there are."""
    styles: dict[str, RunStyle] = {}
    seen: dict[str, list[str]] = {}
    markers = [style_of(type(solver)).marker for _, _, solver in entries.values() if solver is not None]
    for key, (label, name, solver) in entries.items():
        taken = seen.setdefault(name, [])
        own = style_of(Solver if solver is None else type(solver))
        set_dash = "" if solver is None else solver.dash  # a setting may have a dash of its own
        dash = min((set_dash or own.dash, *DASHES), key=taken.count)
        colour = _shade(own.colour_dark if theme.dark else own.colour, len(taken), theme)
        marker = min(MARKERS, key=markers.count) if taken else own.marker
        taken.append(dash)
        markers.append(marker)
        styles[key] = RunStyle(label, colour, dash, marker)
    return styles


def own_style(kind: type[Solver], label: str, theme: Theme) -> RunStyle:
    """Return the style of a solver that enters once."""
    own = style_of(kind)
    return RunStyle(label, readable(own.colour_dark if theme.dark else own.colour, theme.card), own.dash, own.marker)


def _shade(colour: str, before: int, theme: Theme) -> str:
    """Return the shade of a solver's colour that has so many `before` it: by turns strong, near the text, and faint."""
    ends = (colour, mixed(colour, theme.text, 0.6), mixed(colour, theme.card, 0.35))
    return readable(ends[before % len(ends)], theme.card)


def solver_of(trace: Trace) -> Solver | None:
    """Return the solver of a trace, None where it no longer exists or takes other options now."""
    try:
        solver = make_solver(trace.solver, **trace.options)
    except MklvizError:
        return None
    if trace.origin is not None:
        solver.dash = BRANCH_DASH  # type: ignore[misc]
    return solver


# -- the verdict on a claim looks like the end of a run, with a sign that tells it apart without its colour


_STYLES = {REPRODUCES: "converged", PARTLY: "limit", DOES_NOT: "failed"}


def verdict_html(verdict: str) -> str:
    """Return a verdict as a word with its sign."""
    look, sign = _STYLES.get(verdict, "rule"), VERDICT_SIGNS[verdict]
    return f'<span class="word {look}"><i aria-hidden="true" data-sign="{sign}"></i>{escape(verdict)}</span>'


def title(text: str, *, term: str = "", beside: str = "") -> str:
    """Return a card's heading with `beside` (HTML) to its right; a `term` of the glossary is explained behind it."""
    return f'<div class="title"><h3>{escape(text)}{help_mark(term) if term else ""}</h3>{beside}</div>'


def help_mark(term: str) -> str:
    """Return a question mark that says in one sentence what a term of the glossary means."""
    sentence = escape(f"{term[0].upper()}{term[1:]}: {GLOSSARY[term]}")
    return f'<span class="help" role="note" tabindex="0" aria-label="{sentence}" data-tip="{sentence}"></span>'


MILESTONES = "results milestones"  # class of a table that is no wider than its text


def table_html(
    caption: str, heads: Iterable[tuple[str, str]], rows: Iterable[str], kind: str = "results", above: str = ""
) -> str:
    """Return a table that scrolls; `heads` are names in HTML and what they mean, `above` is a row over them."""
    named = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in heads)
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}"><caption class="unseen">{escape(caption)}</caption>'
        f"<thead>{above}<tr>{named}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def row_html(head: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


# -- runs as they are given, one by one, in lists or in mappings


def traces_of(*given: Any) -> dict[str, Trace]:
    """Return the runs that have taken a step by their keys in a mapping, or else by their solvers, numbered.

    Raises `ProblemError` for anything else, and where there is none.
    """
    runs: dict[str, Trace] = {}
    for name, trace in _named(given):
        if len(trace):
            numbered = (f"{name or trace.label} {number}" for number in count(2))
            runs[next(key for key in chain([name or trace.solver], numbered) if key not in runs)] = trace
    if not runs:
        raise ProblemError("There is nothing to show: give at least one trace that has taken a step.")
    return runs


def _named(given: Any) -> Iterator[tuple[str, Trace]]:
    """Yield traces with their keys in a mapping, "" for those that have none."""
    if isinstance(given, Trace):
        yield "", given
    elif isinstance(given, Mapping):
        yield from ((str(name), trace) for name, inner in given.items() for _, trace in _named(inner))
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        for inner in given:
            yield from _named(inner)
    else:
        raise ProblemError(f"Give traces, as mv.solve returns them or race.traces holds them, not {given!r:.60}.")
