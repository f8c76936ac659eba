"""Solvers that say nothing about how they are drawn are told apart all the same."""

from itertools import combinations
from typing import Any

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


def test_newcomers_do_not_change_how_others_look(twenty: dict[type[Solver], Style]) -> None:
    for name in ("level", "newton", "silp"):
        solver = solver_classes()[name]
        assert vars(twenty[solver]).items() <= vars(solver).items()


def test_what_a_solver_says_is_kept() -> None:
    marked = style_of(plain("marked", marker="star"))
    assert marked.marker == "star"
    assert marked.dash != style_of(solver_classes()["newton"]).dash  # which has the star as well
    coloured = style_of(plain("coloured", colour="#8C510A"))
    assert (coloured.colour, coloured.colour_dark) == ("#8C510A", "#8C510A")


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
