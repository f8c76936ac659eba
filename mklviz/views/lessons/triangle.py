"""The triangle of three kernels in the HTML of a page, with the paths of a recorded race to run over it.

    shares p of three kernels  ->  (LEFT + SIDE (p_2 + p_3 / 2),  FOOT - SIDE sqrt(3/4) p_3)     in units of the viewBox

All colours are variables of CSS, so that one picture is light and dark. The script beside it draws the paths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from contourpy import FillType, contour_generator

from mklviz.analysis.weight_map import Mesh
from mklviz.language import ENGLISH, Language
from mklviz.numbers import share_text
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.columns import contour_levels
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import SOLVED_PATHS, problem_data
from mklviz.views.lessons.pictures import kernel_titles, triangle_mesh
from mklviz.views.look.palette import DASHES, RunStyle

TRIANGLE_SCRIPT = SOLVED_PATHS + beside(__file__, "triangle.js")
TRIANGLE_STYLE = beside(__file__, "triangle.css")
Heights = Sequence[Sequence[float]]  # the objective on the triangle, see `triangle_mesh`
VIEW = "50 16 580 456"
LEFT, FOOT, SIDE = 115.0, 436.0, 450.0
BANDS = 12  # shades of the objective
NAMES = (  # where those of the kernels stand, within the picture in large type as well
    (LEFT - 60, FOOT + 26, "start"),
    (LEFT + SIDE + 60, FOOT + 26, "end"),
    (LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE - 12, "middle"),
)
CORNERS = np.array([[LEFT, FOOT], [LEFT + SIDE, FOOT], [LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE]])


def triangle_figure(
    traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], heights: Heights, language: Language = ENGLISH
) -> str:
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
        f'{triangle_svg([*map(language, kernel_titles(traces))], heights, language)}<div class="under">'
        f'<span class="hint">{_proof(traces, language)}</span>'
        f'<button type="button" class="undo" hidden>{language("Undo")}</button>'
        f'<button type="button" class="clear" hidden>{language("Clear old paths")}</button></div></figure>'
    )


def triangle_data(
    traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], problem: Problem, recorded: str, kernels: Sequence[str]
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
        **{"left": LEFT, "foot": FOOT, "side": SIDE, "kernels": kernels, "recorded": recorded},
        **{"runs": runs, "paths": paths, "best": _shares(best.weights), "problem": problem_data(problem)},
    }


def triangle_svg(titles: Sequence[str], heights: Heights, language: Language = ENGLISH) -> str:
    """Return the triangle with its shades and the names of its corners, without paths."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in CORNERS)
    names = "".join(
        f'<text class="corner" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">'
        f"{escape(language('kernel {k}: {title}', k=number, title=title))}</text>"
        for number, (title, (x, y, anchor)) in enumerate(zip(titles, NAMES, strict=True), 1)
    )
    label = language("The mixes of three kernels, a triangle; light where the objective is low")
    return (
        f'<svg viewBox="{VIEW}" role="group" aria-label="{label}">'
        f'<polygon class="ground" points="{corners}"/>{_shades(heights)}<polygon class="side"'
        f' points="{corners}"/>{names}<g class="ghosts"></g><g class="paths"></g></svg>'
    )


def _shades(heights: Heights) -> str:
    """Return the areas above each level of the objective, which darken one another where they overlap."""
    mesh = triangle_mesh(heights)
    if mesh is None:
        return ""
    levels = contour_levels(mesh[2], BANDS)[1:-1]
    return "".join(f'<path class="shade" d="{_above(mesh, level)}"/>' for level in levels)


def _above(mesh: Mesh, level: float) -> str:
    """Return the area in which the objective is above a level, as a path."""
    across, up, height = mesh
    x, y = LEFT + SIDE * across, FOOT - SIDE * up
    filled: Any = contour_generator(x, y, height, fill_type=FillType.OuterOffset).filled(level, np.inf)
    return "".join(
        _ring(points[begin:end])
        for points, offsets in zip(filled[0], filled[1], strict=True)
        for begin, end in pairwise(offsets)
    )


def _ring(points: Array) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points[:-1]) + "Z"


def _proof(traces: Mapping[str, Trace], language: Language) -> str:
    """Return what runs have proved of their ends, in a sentence."""
    gap = max(float(trace.gap[-1]) for trace in traces.values())
    share = language.number(share_text(gap)).replace(" ", "\N{NO-BREAK SPACE}")
    return language(
        "Each path ends with a proof: its best point lies at most {gap} above the lowest objective there is.", gap=share
    )


def _shares(weights: Array) -> list[float]:
    return [round(float(weight), 4) for weight in weights]
