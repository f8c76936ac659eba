"""For everyone in the room: large type and lines with objective and weights alone, from one switch or the address."""

from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from _ticks import visit

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.page import Header
from mklviz.views.session.session import Session

RECIPE = Recipe(DataChoice("two_moons"), solvers=[SolverChoice("level")], stop=StopChoice(1e-3))


@pytest.mark.full
def test_weights_have_160_pixels_however_many_solvers_run_and_leave_the_name_of_their_axis_to_the_objective() -> None:
    recipe = RECIPE.changed(solvers=tuple(map(SolverChoice, ("level", "silp", "spg", "simplemkl"))))
    explorer, prepared = Explorer(), recipe.prepare()
    explorer.session.project(True)
    explorer.session.show(recipe, prepared, recipe.race(prepared))
    charts = explorer.race_view.charts
    assert len(charts.weights) == 4
    assert all(plot.height >= 160 for plot in charts.weights.values())
    assert all(f"max({plot.height}px, " in plot.styles["min-height"] for plot in charts.weights.values())
    assert (charts.objective.xaxis[0].axis_label, charts.weights["level"].xaxis[0].axis_label) == ("iteration", "")
    explorer.session.project(False)
    assert explorer.race_view.charts.weights["level"].xaxis[0].axis_label == "iteration"
    explorer.close()


def test_the_drawer_is_folded_and_comes_back_as_it_was() -> None:
    for was in (True, False):
        page, header = SimpleNamespace(sidebar_open=was), Header(Session(), {})
        header.shown_on(page)  # type: ignore[arg-type]
        assert page.sidebar_open is was
        header.projector.value = True
        assert page.sidebar_open is False
        header.projector.value = False
        assert page.sidebar_open is was


@pytest.mark.parametrize(("value", "large"), [("", True), ("on", True), ("0", False), ("off", False)])
def test_the_address_asks_for_it_and_a_link_keeps_it(monkeypatch: pytest.MonkeyPatch, value: str, large: bool) -> None:
    visit(monkeypatch, projector=value)
    explorer = Explorer()
    assert explorer.session.theme.projected is large
    shared = parse_qs(explorer.session.link("race", None, {})[1:])
    assert shared.get("projector", []) == (["on"] if large else [])
    explorer.header.projector.answer({"value": False})
    assert "projector" not in explorer.address.text("")


def test_run_stands_in_the_header_where_the_drawer_is_folded_away() -> None:
    explorer = Explorer()
    form = explorer.header.parts[0]
    assert explorer.header.run.visible  # on a phone
    assert any("(min-width: 600px) { .button { display: none" in str(sheet) for sheet in form.stylesheets)
    explorer.header.projector.answer({"value": True})
    assert not any(".button { display: none" in str(sheet) for sheet in form.stylesheets)
