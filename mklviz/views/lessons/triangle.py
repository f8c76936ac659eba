"""The mixes of three kernels in the HTML of a page: a figure in which a script plays the paths of a recorded race.

All colours are variables of CSS, so that one picture is light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from mklviz.language import ENGLISH, Language
from mklviz.numbers import share_text
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import SOLVED_PATHS, problem_data
from mklviz.views.look.palette import DASHES, RunStyle

TRIANGLE_SCRIPT = SOLVED_PATHS + beside(__file__, "triangle.js")
TRIANGLE_STYLE = beside(__file__, "triangle.css")
Heights = Sequence[Sequence[float]]  # the objective on the triangle, see `pictures.triangle_mesh`

_MIXES = "The mixes of three kernels, a triangle; light where the objective is low"


def triangle_figure(traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], language: Language = ENGLISH) -> str:
    """Return the figure that the script fills with the paths of runs."""
    *labels, last = (style.label for style in styles.values())
    legend = "".join(
        f'<span><svg viewBox="0 0 30 8" aria-hidden="true"><path d="M0 4H30" stroke="{style.colour}" stroke-width="3"'
        f' stroke-dasharray="{DASHES[style.dash]}"/></svg>{escape(style.label)}</span>'
        for style in styles.values()
    )
    names = language("{some} and {last}", some=", ".join(labels), last=last) if labels else last
    label = language("Paths of {names} over the mixes of three kernels", names=names)
    return (
        f'<figure class="map" aria-label="{escape(label)}">'
        f'<div class="head"><div class="legend">{legend}</div><span class="said"></span>'
        '<button type="button" class="play" hidden></button></div>'
        f'<svg class="mixes" viewBox="-290 -290 580 456" role="group" aria-label="{language(_MIXES)}"></svg>'
        '<div class="under">'
        f'<span class="hint">{_proof(traces, language)}</span>'
        f'<button type="button" class="undo" hidden>{language("Undo")}</button>'
        f'<button type="button" class="clear" hidden>{language("Clear old paths")}</button></div></figure>'
    )


def triangle_data(
    traces: Mapping[str, Trace],
    styles: Mapping[str, RunStyle],
    problem: Problem,
    recorded: str,
    kernels: Sequence[str],
    heights: Heights,
) -> dict[str, object]:
    """Return what the script draws: paths over `kernels`, the best point, and the problem, to be solved anew."""
    runs = [
        {"key": key, "solver": traces[key].solver, "label": style.label, "colour": style.colour}
        | {"dash": DASHES[style.dash]}
        for key, style in styles.items()
    ]
    best = min((trace.best for trace in traces.values()), key=lambda iterate: iterate.objective)
    paths = {key: [_shares(weights) for weights in trace.weights] for key, trace in traces.items()}
    return {
        **{"kernels": kernels, "heights": lattice(heights), "recorded": recorded},
        **{"runs": runs, "paths": paths, "best": _shares(best.weights), "problem": problem_data(problem)},
    }


def lattice(heights: Heights) -> list[float]:
    """Return the objective on a lattice of the triangle, row by row from its foot."""
    sides = len(heights) - 1
    nodes = [(second, third) for third in range(sides + 1) for second in range(sides + 1 - third)]
    along = [np.interp(b / max(b + c, 1), np.linspace(0.0, 1.0, sides + 1), heights[sides - b - c]) for b, c in nodes]
    return [float(f"{height:.6g}") for height in along]


def _proof(traces: Mapping[str, Trace], language: Language) -> str:
    """Return what runs have proved of their ends, in a sentence."""
    gap = max(float(trace.gap[-1]) for trace in traces.values())
    share = language.number(share_text(gap)).replace(" ", "\N{NO-BREAK SPACE}")
    return language(
        "Each path ends with a proof: its best point lies at most {gap} above the lowest objective there is.", gap=share
    )


def _shares(weights: Array) -> list[float]:
    return [round(float(weight), 4) for weight in weights]
