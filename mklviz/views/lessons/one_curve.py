"""The first lesson: one convex curve in the HTML of a page, on which SILP and Level step (`one_curve.js`).

    cuts  f(x_t) + f'(x_t) (x - x_t) <= f(x);     SILP: least x of the highest cut;     Level: nearest x where it is
    at most  level = lambda best + (1 - lambda) bound

On two kernels x is the weight of one, and f the objective of the SVM. Reference: Xu, Jin, King and Lyu, An extended
level method for efficient multiple kernel learning, section 3.1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from mklviz.kernels import Gaussian
from mklviz.language import ENGLISH, Language
from mklviz.recipe import KernelChoice
from mklviz.scenarios import load_scenario
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import problem_data
from mklviz.views.lessons.pictures import QUESTION_MARK
from mklviz.views.look.palette import Theme

CURVE_TITLE = "Where does the next step go?"
CURVE_IN_SHORT = "One curve, its cuts, a bound and a level."
_FIGURE, CURVE_SCRIPT, CURVE_STYLE = (
    beside(__file__, name) for name in ("one_curve.html", "one_curve.js", "one_curve.css")
)
"""Script and style stand behind those of the triangle."""
_FEATURES = {1: "sex", 2: "chest pain"}  # of Heart, with few values: a page carries their kernels in 2 kB


def curve_figure(language: Language = ENGLISH, asks: bool = True) -> str:
    """Return the curve in HTML, with its question; or without, where a race has two kernels of its own."""
    alone = _FIGURE[_FIGURE.index("<figure") :].replace("[[two kernels of Heart]]", "[[these two kernels]]")
    return language.marked(_FIGURE if asks else alone)


@cache
def two_kernels() -> dict[str, Any]:
    """Return two kernels of real data for the script."""
    families = tuple(Gaussian(widths=(1.0,), on=[feature]) for feature in _FEATURES)
    recipe = replace(load_scenario("three-kernels").recipe, kernels=KernelChoice(families=families))
    return {"problem": problem_data(recipe.prepare().problem), "names": list(_FEATURES.values())}


def curve_thumbnail(theme: Theme) -> str:
    """Return the curve with its first cut as small SVG, and a question mark in the place of what comes next."""
    x = np.linspace(-4.0, 4.0, 33)
    curve, cut = (_path(x, height) for height in (x**2, 9.0 - 6.0 * (x + 3.0)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180" role="img" aria-label="{CURVE_TITLE}">'
        f'<rect width="320" height="180" fill="{theme.card}"/><g fill="none" stroke-width="4">'
        f'<path d="{curve}" stroke="{theme.text}"/><path d="{cut}" stroke="{theme.accent}"/></g>'
        f'<circle cx="52.5" cy="62.5" r="8" fill="{theme.accent}"/>{QUESTION_MARK.format(theme)}</svg>'
    )


def _path(x: Array, height: Array) -> str:
    shown = height > -13.0
    return "M" + "L".join(
        f"{160 + 36 * a:.0f} {90 - 5.5 * (h - 4):.0f}" for a, h in zip(x[shown], height[shown], strict=True)
    )
