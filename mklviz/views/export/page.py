"""One HTML file that shows a recorded race wherever it is opened, with a cursor over its steps and no server.

The page holds runs as numbers, thinned and rounded, what each solver did at each step, and the charts that a script
draws of them over the axis chosen there; colours are variables of its style sheet, so that it is light or dark where it
is read. Its security policy lets this one script run, by its digest, and nothing be loaded: what came from elsewhere,
such as names of columns, stays text.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import IO, Any

from mklviz._version import __version__
from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.engine.race import narrated
from mklviz.errors import MklvizError
from mklviz.language import ENGLISH, Language
from mklviz.problem import Problem
from mklviz.record import FINAL, Trace
from mklviz.record.archive import replacing
from mklviz.record.bundle import write_bundle
from mklviz.record.summary import Reference, label, result_at, write_parquet, write_table
from mklviz.views.chart import columns, race_charts
from mklviz.views.chart.axes import NUMBERS, X_AXES
from mklviz.views.chart.description import Axis, Chart, LineMark, RuleMark
from mklviz.views.chart.pixels import moving_picture, still_picture
from mklviz.views.chart.svg_pictures import race_frames, race_still
from mklviz.views.geometry.map_chart import LOW_AND_HIGH
from mklviz.views.host.beside import WORDS_SCRIPT, beside
from mklviz.views.host.solved_paths import SOLVER, solves_alone
from mklviz.views.lessons.pictures import kernel_titles
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE, Heights, triangle_data, triangle_figure
from mklviz.views.look.palette import DARK, DASHES, LIGHT, MARKERS, TEXT_CSS, RunStyle, Theme, run_name, tokens
from mklviz.views.look.styles import run_styles, solver_of, traces_of
from mklviz.views.race import results
from mklviz.views.session.session import Session, difference, recipe_of

LARGE = ("objective", "gap", "step")
PAGE = replace(
    LIGHT, muted="var(--mk-muted)", kernels=tuple(f"var(--kernel-{slot})" for slot in range(len(LIGHT.kernels)))
)


def page_styles(styles: Mapping[str, RunStyle]) -> dict[str, RunStyle]:
    """Return how runs are drawn in the colours of the page, which are variables of its style sheet."""
    return {key: replace(style, colour=f"var(--run-{k})") for k, (key, style) in enumerate(styles.items())}


def page_charts(styles: Mapping[str, RunStyle], options: race_charts.ChartOptions) -> dict[str, Any]:
    """Return the charts of all runs by their names, those of each run's weights, and the horizontal axes."""
    charts = race_charts.race_charts(styles, replace(options, above=False))
    weights = [race_charts.weights_chart(key, style, options) for key, style in styles.items()]
    return {
        "axes": {column: _axis(race_charts.x_axis(replace(options, x=column))) for column in X_AXES},
        "charts": {name: _chart(charts[name]) for name in LARGE}
        | {"above": _chart(race_charts.objective_chart(styles, replace(options, above=True)))},
        "weights": [_chart(chart) for chart in weights],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    words = {"title": chart.title, "heading": results.chart_heading(replace(chart, term=""), with_note=True)}
    return words | {"y": _axis(chart.y), "marks": [_mark(mark) for mark in chart.marks]}


def _axis(axis: Axis) -> dict[str, Any]:
    start = None if math.isnan(axis.start) else axis.start
    return {"label": axis.label, "log": axis.log, "start": start, "whole": axis.whole, "numbers": axis.numbers}


def _mark(mark: Any) -> dict[str, Any]:
    """Return a line over the horizontal axis chosen, or a rule across; what is empty is left out."""
    drawn = {"table": mark.table, "column": mark.y, "across": isinstance(mark, RuleMark), "dash": DASHES[mark.dash]}
    drawn |= {name: getattr(mark, name) for name in ("colour", "width", "alpha")}
    if isinstance(mark, LineMark) and mark.marker:
        drawn["marker"] = MARKERS.get(mark.marker, MARKERS["circle"])
    return {name: value for name, value in drawn.items() if value}


Numbers = Callable[[Iterable[float], int], Any]  # writes numbers of so many digits for a script

MOST_STEPS = 600  # that are kept of a run
MOST_IN_ALL = 2400  # that are kept of a race: the page stays below a megabyte
FEWEST = 100  # that are kept of a run, however many there are
DIGITS = {"iteration": 15, "svm_solves": 15, "objective": 6} | dict.fromkeys(
    ("seconds", "above", "gap", "own_gap", "step"), 4
)


@dataclass(frozen=True)
class Recorded:
    """Runs on one problem, and the words for it."""

    traces: Mapping[str, Trace]
    solvers: Mapping[str, Solver] = field(default_factory=dict)  # the solvers of the runs, as far as they are known
    noun: str = "kernel"  # what has weights
    gap: float | None = None  # at which the runs stopped
    data: str = ""  # name of the data set, "" if unknown

    @property
    def begun(self) -> dict[str, Trace]:
        """The runs that have something to draw."""
        return {key: trace for key, trace in self.traces.items() if len(trace)}

    def page_data(self, in_all: int = MOST_IN_ALL) -> dict[str, Any]:
        """Return all that a script draws of the runs, at most `in_all` steps of them together; `null` is a hole."""
        begun = self.begun
        slots = columns.race_slots(self.traces.values())
        reference, by_epoch = Reference.of(begun.values()), race_charts.epochs(self.solvers.values())
        options = race_charts.ChartOptions(PAGE, gap_tolerance=self.gap, by_epoch=by_epoch, noun=self.noun)
        most = max(min(MOST_STEPS, in_all // len(begun)), FEWEST)
        runs = {
            key: run_data(key, trace, self.solvers.get(key), most, slots.slots, reference, rounded)
            for key, trace in begun.items()
        }
        shown = columns.WEIGHT_COLUMNS[: len(slots.slots)]
        tops = {key: max(weight or 0.0 for column in shown for weight in run[column]) for key, run in runs.items()}
        enlarged, styles = race_charts.enlargements(tops), page_styles(run_styles(begun, LIGHT))
        pills = {key: results.weights_pills(trace.motion, enlarged[key]) for key, trace in begun.items()}
        return {
            "ended": all(trace.status in FINAL for trace in self.traces.values()),
            "left_out": thinned(begun, most),
            "runs": [run | {"top": [tops[key]], "pills": pills[key]} for key, run in runs.items()],
            **words_data(styles, race_charts.recorded_options(options, begun.values()), slots),
        }


def recorded(shown: Race | Trace | Mapping[str, Trace] | Iterable[Trace]) -> Recorded:
    """Return the runs to show, or raise `MklvizError` if there are none or they belong to several problems."""
    traces = traces_of(shown.traces if isinstance(shown, Race) else shown)
    if isinstance(shown, Race):
        traces, solvers = shown.traces, {key: run.solver for key, run in shown.runs.items()}
    else:
        solvers = {key: solver for key, trace in traces.items() if (solver := solver_of(trace)) is not None}
    if wrong := difference(traces.values()):
        raise MklvizError(wrong)
    recipe = recipe_of(next(iter(traces.values())))
    if recipe is None:
        return Recorded(traces, solvers, shown.facts.noun if isinstance(shown, Race) else "kernel")
    noun = "parameter" if recipe.kernels.combination == "polynomial" else "kernel"
    return Recorded(traces, solvers, noun, recipe.goal, "" if recipe.data.own else recipe.data.source)


def words_data(
    styles: Mapping[str, RunStyle], options: race_charts.ChartOptions, slots: columns.KernelSlots
) -> dict[str, Any]:
    """Return what a script needs besides the runs: words, names and charts."""
    options = replace(options, coloured=slots.coloured)
    return {
        "boundless": bool(options.no_bound),
        "squashed": options.above,
        "names": {key: run_name(style) for key, style in styles.items()},
        "colours": {key: style.colour for key, style in styles.items()},
        "heads": results.result_heads(options.noun),
        **{state: results.status_html(state) for state in ("past", "later")},
        "way": results.WAY,
        "way_heads": results.WAY_HEADS,
        "kernels": slots.shown,
        "weights_heading": results.weights_heading(slots, PAGE, options.noun),
        race_charts.STOP: {"y": [options.gap_tolerance]},
        **page_charts(styles, options),
    }


def thinned(traces: Mapping[str, Trace], most: int) -> str:
    """Say how many steps are left out of the longest run, where any are."""
    longest = max(traces.values(), key=len)
    steps = len(kept_steps(len(longest), most))
    return f"Of {len(longest):,} steps of {longest.label} this page keeps {steps:,}." if steps < len(longest) else ""


def run_data(
    key: str, trace: Trace, solver: Solver | None, most: int, kernels: list[int], reference: Reference, numbers: Numbers
) -> dict[str, Any]:
    """Return the columns of one run at the steps that are kept, as `numbers` writes them, and the words for it."""
    status, length = trace.status, len(trace)  # in this order: a final status makes the trace final
    steps = kept_steps(length, most)
    lines, weights = columns.line_columns(trace, steps, reference), columns.weight_columns(trace, steps, kernels)
    return {
        **{"key": key, "table": race_charts.run_table(key), "label": label(key, trace)},
        **{"state": status, "status": results.status_html(status, trace.reason), "reason": trace.reason},
        "outside": results.words_outside(trace),
        "way": results.way_cells(trace, reference),
        **{column: numbers(lines[column], digits) for column, digits in DIGITS.items()},
        **{column: numbers(weights[column], 3) for column in columns.WEIGHT_COLUMNS[: len(kernels)]},
        "cells": ["\t".join(results.result_cells(result_at(trace, t), trace.motion_at(t))) for t in steps],
        "narration": [] if solver is None else [narrated(solver, trace, t) for t in steps],
    }


def kept_steps(length: int, most: int) -> list[int]:
    """Return the steps that are kept, the last one always among them."""
    steps = [*range(0, length, -(-length // most))]
    return steps if steps[-1] == length - 1 else [*steps, length - 1]


def rounded(values: Iterable[float], digits: int) -> list[float | None]:
    """Return numbers with so many digits, None for what cannot be drawn; whole ones without a point."""
    short = (float(f"{value:.{digits}g}") if abs(value) <= columns.LARGEST_DRAWN else None for value in values)
    return [int(value) if value is not None and value.is_integer() else value for value in short]


_SHOWS = 'wholePage(RaceView).show(JSON.parse(textOf("#data")))\n'
_PLAYS = 'playTriangle(document.querySelector(".map"), JSON.parse(textOf(".triangle")), textOf(".solver"))\n'
PICTURE_COLOURS = (
    ":is(.map, .curve) { flex-basis: 100%; --mk-head: 16px; --mk-small: 13px; --mk-words: 14px; --mk-label: 15px;"
    + "".join(
        f" --mk-{name}: light-dark({LOW_AND_HIGH[False][k]}, {LOW_AND_HIGH[True][k]});"
        for k, name in enumerate(("low", "high"))
    )
    + " } @media (max-width: 599px) { :is(.map, .curve) { --mk-label: 22px; } }"
)
MOST_TOLD = 700_000  # characters of a problem: the page stays below a megabyte
_MORE = "Enable JavaScript to see the figures: a script in this file draws them, and loads nothing."


def save_html(runs: Race | Trace | Mapping[str, Trace] | Iterable[Trace], path: str | Path) -> None:
    """Write recorded runs as one HTML page that needs no server: figures, a cursor over the steps, and the results.

    Parameters
    ----------
    runs : Race, Trace, mapping of str to Trace or iterable of Trace
        Of one problem.
    path : str or Path
        A file that was there is replaced whole.

    Raises
    ------
    MklvizError
        If no run has a step yet, or if they are of several problems.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.save_html(mv.solve(problem, "level"), "level.html")
    """
    page = race_page(runs).encode()
    with replacing(path) as file:
        file.write(page)


def race_page(
    runs: Race | Trace | Mapping[str, Trace] | Iterable[Trace],
    title: str = "",
    lead: str = "",
    in_all: int = MOST_IN_ALL,
    problem: Problem | None = None,
    heights: Heights = (),
) -> str:
    """Return what `save_html` writes.

    `title`: one of its own; `lead`: HTML that stands first; `in_all`: most steps that are kept of all runs together;
    `problem`: that of runs which are no race, where it is known; `heights`: its objective over three kernels.
    """
    shown = recorded(runs)
    if isinstance(runs, Race) and not runs.missing and in_all >= MOST_IN_ALL:  # a notebook stays small without it
        problem = runs.problem
    data = shown.page_data(in_all=in_all)
    heading = "A race" if len(data["runs"]) > 1 else "A run"
    title = title or (f"{heading} on {data_title(shown.data)}" if shown.data else f"{heading} of mklviz")
    names = ", ".join(run["label"] for run in data["runs"])
    style, shows = page_colours(partial(run_styles, shown.begun)), _SHOWS
    if triangle := _triangle(shown.traces, problem, heights):
        lead, style, shows = (
            lead + triangle,
            style + PICTURE_COLOURS + TRIANGLE_STYLE,
            TRIANGLE_SCRIPT + _PLAYS + shows,
        )
    posed = next(iter(shown.traces.values())).problem
    return page(title, f"{title}: {names}", posed, data, style, shows, lead)


def _triangle(traces: Mapping[str, Trace], problem: Problem | None, heights: Heights) -> str:
    """Return the triangle of three kernels, whose start can be dragged; "" where a browser cannot solve the paths."""
    begun = {key: trace for key, trace in traces.items() if len(trace) and trace.origin is None}
    solvers = {key: solver for key, trace in begun.items() if (solver := solver_of(trace))}
    if problem is None or problem.m != 3 or len(solvers) < len(traces) or not solves_alone(problem, solvers):
        return ""
    styles = page_styles(run_styles(begun, LIGHT))
    data = _json(triangle_data(begun, styles, problem, "recorded", kernel_titles(begun), heights))
    if len(data) > MOST_TOLD:
        return ""
    scripts = f'<script type="text/plain" class="solver">{SOLVER}</script>'
    return f'{triangle_figure(begun, styles)}<script type="application/json" class="triangle">{data}</script>{scripts}'


def data_title(name: str) -> str:
    """Return what a data set is called in headings."""
    return name.replace("_", " ").capitalize()


def page(
    title: str,
    long_title: str,
    problem: str,
    data: Mapping[str, Any],
    colours: str,
    shows: str,
    lead: str = "",
    language: Language = ENGLISH,
) -> str:
    """Return a page of recorded runs, whose `data` the script `shows` draws; `lead`: HTML that stands first."""
    script = f'"use strict"\n{figures_script()}{shows}'
    style, told = f"{colours}\n{FIGURES_STYLE}", _json(data)
    return (
        f'<!doctype html>\n<html lang="{language.code}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="mklviz {escape(__version__)}"><title>{escape(long_title)}</title>'
        f'<style>{style}</style></head>\n<body class="recording">'
        f"<header><h1>{escape(title)}</h1><p>{escape(problem)}</p>{lead}</header>"
        f'<main id="race"><noscript><p class="card">{escape(language(_MORE))}</p></noscript></main>'
        f'\n<script type="application/json" id="data">{told}</script>\n'
        f"{language.script(script + told)}<script>{script}</script></body></html>\n"
    )


def figures_script() -> str:
    """Return the script of the figures, in which numbers at ticks are written as on the dashboard."""
    written = ", ".join(f"{name}: (tick) => {{ {body} }}" for name, body in NUMBERS.items())
    scripts = "".join(beside(__file__, name) for name in ("figure.js", "race.js"))
    return f"const NUMBERS = {{ {written} }}\n{WORDS_SCRIPT}{scripts}"


FIGURES_STYLE = TEXT_CSS + beside(__file__, "page.css")  # of the figures, which stand in an element of class recording


def _policy(script: str) -> str:
    """Return a policy under which `script` runs and nothing else, and nothing is loaded."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    works = " worker-src blob:;" if "new Worker(" in script else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';{works} base-uri 'none'"


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON that nothing in it can end: a browser looks for tags before it looks for quotes."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def page_colours(styled: Callable[[Theme], Mapping[str, RunStyle]]) -> str:
    """Return the style sheet of the colours of runs, as `styled` in a theme, light or dark as the page is read."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {colours(styled(DARK), DARK)} }} }}"
    return f":root {{ color-scheme: light dark; {colours(styled(LIGHT), LIGHT)} }} {dark}"


def colours(styles: Mapping[str, RunStyle], theme: Theme) -> str:
    """Return the colours of a page of runs as CSS variables."""
    runs = "".join(f"--run-{index}: {style.colour};" for index, style in enumerate(styles.values()))
    return tokens(theme) + runs + "".join(f"--kernel-{index}: {colour};" for index, colour in enumerate(theme.kernels))


# -- the files of the race that is shown: a page, a picture, its runs and a table, each with its name and its bytes


def race_file(ending: str, session: Session, report: Callable[[float], None] = lambda _: None) -> tuple[str, bytes]:
    """Return a file of the race that a session shows, of one of the `KINDS`; `report` is told how much is done."""
    source = "own-data" if session.recipe is None or session.recipe.data.own else session.recipe.data.source
    if ending in _WRITERS:
        file = io.BytesIO()
        _WRITERS[ending]({key: trace for key, trace in session.traces.items() if len(trace)}, file)
        content = file.getvalue()
    elif ending == "html":
        content = race_page(session.race).encode()
    elif ending == "gif":
        content = moving_picture(_reported([*race_frames(session.race, session.tolerance)], report), ".gif")
    else:
        content = still_picture(race_still(session.race, session.tolerance), f".{ending}")
    return f"mklviz-{source}.{ending}", content


def _reported(frames: Sequence[str], report: Callable[[float], None]) -> Iterator[str]:
    for k, frame in enumerate(frames):
        report(k / len(frames))
        yield frame


_WRITERS: Mapping[str, Callable[[Mapping[str, Trace], IO[bytes]], None]] = {
    **{"zip": write_bundle, "csv": write_table, "parquet": write_parquet}
}
KINDS = (  # label, what it is for, ending
    ("Page (HTML)", "All steps with a cursor, for any browser, without a server", "html"),
    ("Picture (SVG)", "Objective, gap and weights as they stand", "svg"),
    ("Picture (PNG)", "The same in pixels, for slides", "png"),
    ("Moving picture (GIF)", "The race as it went, for slides", "gif"),
    ("Runs (zip)", "Everything that was recorded, to be opened here, or in Python with mv.Trace.load", "zip"),
    ("Steps (CSV)", "A table with a row for every step of every solver", "csv"),
    ("Steps (Parquet)", "The same table for pandas, Spark or DuckDB, with its numbers as they are", "parquet"),
)
