"""Everybody tells colours apart: solvers that say nothing about how they are drawn, kernels and parts of the time."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from mklviz.contract import Solver
from mklviz.engine import make_solver, solver_classes
from mklviz.engine.race import entered
from mklviz.engine.registry import DASHES, MARKERS, Style, style_of, styles_of
from mklviz.views.look.palette import DARK, LIGHT, contrast, readable
from mklviz.views.look.styles import solver_styles


def plain(name: str, **said: Any) -> type[Solver]:
    return type(name.title(), (Solver,), {"name_": name, "label": name.title(), **said})


@pytest.fixture
def twenty() -> dict[type[Solver], Style]:
    """The solvers shipped, and as many as it takes to make twenty that name neither colour nor marker nor dash."""
    shipped = tuple(solver_classes().values())
    return styles_of((*shipped, *(plain(f"plain-{k}") for k in range(20 - len(shipped)))))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_twenty_solvers_can_be_told_apart(twenty: dict[type[Solver], Style], theme: Any) -> None:
    styles = list(twenty.values())
    assert len(styles) == 20
    assert len({(style.marker, style.dash) for style in styles}) == 20  # without colours as well
    drawn = [readable(style.colour_dark if theme.dark else style.colour, theme.card) for style in styles]
    assert len(set(drawn)) == 20
    assert all(contrast(colour, theme.card) >= 3.0 for colour in drawn)
    assert {style.marker for style in styles} <= set(MARKERS)
    assert {style.dash for style in styles} <= set(DASHES)


def test_what_a_solver_says_is_kept_and_newcomers_do_not_change_others_looks(twenty: dict[type[Solver], Style]) -> None:
    marked = style_of(plain("marked", marker="star"))
    assert marked.marker == "star"
    assert marked.dash != style_of(solver_classes()["newton"]).dash  # which has the star as well
    coloured = style_of(plain("coloured", colour="#8C510A"))
    assert (coloured.colour, coloured.colour_dark) == ("#8C510A", "#8C510A")
    for name in ("level", "newton", "silp"):
        solver = solver_classes()[name]
        assert vars(twenty[solver]).items() <= vars(solver).items()


def test_beyond_all_markers_and_dashes_solvers_are_still_drawn() -> None:
    styles = styles_of(tuple(plain(f"plain-{k}") for k in range(len(MARKERS) * len(DASHES) + 2))).values()
    alike = [pair for pair in combinations([(style.marker, style.dash) for style in styles], 2) if pair[0] == pair[1]]
    assert len(alike) <= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_variants_of_one_solver_differ_in_dash_marker_and_shade(theme: Any) -> None:
    variants = entered([make_solver("pgd"), make_solver("pgd", nonmonotone=True), make_solver("pgd", spectral=True)])
    styles = list(solver_styles({**variants, "spg": make_solver("spg")}, theme).values())
    *alike, _spg = styles
    for one, other in combinations(alike, 2):
        assert len({one.dash, other.dash}) == len({one.colour, other.colour}) == 2
    assert len({style.marker for style in styles}) == 4
    assert all(contrast(style.colour, theme.card) >= 3.0 for style in styles)


def linear(colour: str) -> np.ndarray:
    """Return the channels of a colour in linear light."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_line_stands_out_from_its_card_and_no_kernel_has_the_hue_of_a_solver(theme: Any) -> None:
    styles = map(style_of, solver_classes().values())
    solvers = [style.colour_dark if theme.dark else style.colour for style in styles]
    for colour in (*(readable(each, theme.card) for each in solvers), *theme.kernels):
        assert contrast(colour, theme.card) >= 3.0
    muted = [(ground, theme.muted) for ground in (theme.card, theme.page)]
    for background, text in (theme.good, theme.bad, theme.neutral, *muted):
        assert contrast(background, text) >= 4.5
    for one in theme.kernels:
        assert min(_apart(one, other) for other in solvers) > 18  # in CIELAB, where 2.3 is just noticeable
        assert min(_apart(one, other) for other in theme.kernels if other != one) > 40


def _apart(one: str, other: str) -> float:
    return float(np.linalg.norm(np.subtract(_lab(one), _lab(other))))


def _lab(colour: str) -> tuple[float, float, float]:
    """Return a colour's place in CIELAB under D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear(colour) / (0.9505, 1.0, 1.089))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


# Viénot, Brettel, Mollon (1999), equations for a display with the primaries of sRGB
COLOUR_BLIND = {
    "everybody": np.eye(3),
    "protanopes": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranopes": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}


@pytest.mark.parametrize("who", COLOUR_BLIND)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_parts_stand_out_from_the_card_and_from_each_other(theme: Any, who: str) -> None:
    for fill, text in theme.parts:
        assert contrast(fill, theme.card) >= 3.0
        assert contrast(fill, text) >= 4.5
    seen = [COLOUR_BLIND[who] @ linear(fill) for fill, _ in theme.parts]
    for one, other in combinations(seen, 2):
        # in perceived (cube root) light, on which a step of 0.05 is seen without effort
        assert np.abs(np.cbrt(one) - np.cbrt(other)).max() >= 0.1
