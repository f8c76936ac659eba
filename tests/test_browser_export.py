"""The page of a recorded race, opened from the disk: the cursor moves, and nothing is asked of anybody."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import at_rest, complaints, events_of
from _problems import problem, ran
from _waits import wait_for
from test_export import LAM, solved

import mklviz as mv
from mklviz.engine import Gap, MaxIter, Race
from mklviz.record.bundle import recording
from mklviz.scenarios import load_scenario
from mklviz.views.chart.axes import axis_ticks, tick_text
from mklviz.views.chart.description import Axis
from mklviz.views.export.lab_page import lab_page
from mklviz.views.export.page import race_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def race() -> Race:
    return ran(Race(problem("random Gram matrices"), ["silp", "level"], rules=[Gap(1e-4), MaxIter(60)]))


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open a page from the disk, which asks for nothing else and has no word in the console."""
    page, address = chromium.new_page(), (tmp_path / "page.html").as_uri()
    errors, asked, allowed = complaints(page, lambda message: True), list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1280, "height": 720})

    def shown(html: str, worker: bool = False) -> Any:
        allowed[:] = ["blob:"] if worker else []
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        page.goto(address)
        return page

    yield shown
    assert [url for url in asked if not url.startswith(tuple(allowed))] == [address]
    assert errors == []
    page.close()


@pytest.fixture
def page(race: Race, opened: Callable[..., Any], tmp_path: Path) -> Any:
    mv.save_html(race, tmp_path / "race.html")
    return opened((tmp_path / "race.html").read_text(encoding="utf-8"))


# notes what the button shows while a race plays, which may be over before anybody looks
SHOWN = """() => {
  const button = [...document.querySelectorAll("button")].find((each) => each.textContent === "Play")
  window.shown = []
  new MutationObserver(() => shown.push(button.textContent)).observe(button, { childList: true })
}"""


def last(race: Race) -> int:
    return max(len(trace) for trace in race.traces.values()) - 1


def said(page: Any) -> list[str]:
    return [str(text) for text in page.locator(".deeds dd").all_inner_texts()]


def until(page: Any, found: Callable[[], object], what: str) -> None:
    wait_for(found, what, events_of(page))


def test_the_slider_moves_narration_table_and_figures(page: Any, race: Race) -> None:
    slider = page.get_by_role("slider", name="Step")
    assert slider.input_value() == str(last(race))
    assert page.locator(".at").count() == 0  # at the end nothing stands in the curves
    slider.fill("2")
    runs = race.runs
    told = [runs[key].solver.narrate(runs[key].trace[1], runs[key].trace[2]) for key in runs]
    until(page, lambda: said(page) == told, "the words of the second step")
    cells = page.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[0] == "at this step"
    assert cells[1:3] == ["2", str(runs["silp"].trace[2].svm_solves)]
    assert page.locator(".at").count() == 2 * 3 + 2  # of both in every large figure, and each in its own
    assert page.locator("output").inner_text() == f"step 2 of {last(race):,}"


def test_keys_go_from_step_to_step_and_the_space_bar_plays(page: Any, race: Race) -> None:
    page.keyboard.press("Home")
    until(page, lambda: page.locator("output").inner_text().startswith("step 0 of"), "the first step")
    assert "start" in said(page)[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    until(page, lambda: page.locator("output").inner_text().startswith("step 1 of"), "the step after")
    page.evaluate(SHOWN)
    page.keyboard.press("Space")
    page.wait_for_function("last => document.querySelector('input[type=range]').value === String(last)", arg=last(race))
    page.get_by_role("button", name="Play").wait_for()
    assert page.evaluate("shown") == ["Hold", "Play"]


def test_a_place_in_a_figure_can_be_pointed_at(page: Any, race: Race) -> None:
    box = at_rest(page.locator(".plot").first)
    page.mouse.click(box["x"] + 54 + 0.5 * (box["width"] - 66), box["y"] + 80)
    step = str(round(last(race) / 2))
    until(page, lambda: page.get_by_role("slider").input_value() == step, "the step in the middle")
    assert page.locator("output").inner_text().startswith(f"step {step} of")


def test_the_page_has_the_ticks_and_the_numbers_of_the_pictures(page: Any) -> None:
    spans = [(0.0, 7.0), (0.0, 0.3), (-3.0, 1.0), (12.0, 13.1), (1e-7, 3.0), (2.0, 30.0), (400.0, 401.0), (0.0, 4e6)]
    cases = [(*span, log, whole) for span in spans for log in (False, True) for whole in (False, True)]
    cases = [case for case in cases if case[0] > 0 or not case[2]]
    script = "cases => cases.map(([low, high, log, whole]) => log ? powers(low, high) : steps(low, high, whole))"
    for (low, high, log, whole), ticks in zip(cases, page.evaluate(script, cases), strict=True):
        axis = Axis(scale="log" if log else "linear", whole=whole and not log)
        assert axis_ticks((low, high), axis, 5) == pytest.approx(ticks, abs=1e-12)
    values = [0.0, 1.0, -2.0, 0.00004, 0.0004, 0.04, 0.5, 12.34, 1234.51, 25000.0, 3e6, 1e-9]
    for numbers in ("short", "exact", "percent"):
        written = page.evaluate("([name, values]) => values.map(NUMBERS[name])", [numbers, values])
        assert [tick_text(value, numbers) for value in values] == written


def test_axes_and_solvers_can_be_chosen_and_pages_are_dark_where_they_are(page: Any) -> None:
    page.get_by_role("combobox", name="Horizontal axis").select_option("seconds")
    until(page, lambda: "CPU seconds" in page.locator(".plot text").all_text_contents(), "the other axis")
    page.get_by_role("combobox", name="Objective").select_option("objective")
    page.get_by_role("heading", name="Objective", exact=True).wait_for()
    page.get_by_role("combobox", name="Objective").select_option("above")
    page.get_by_role("heading", name="Objective above the best bound").wait_for()
    page.get_by_role("button", name="SILP").click()
    page.get_by_role("button", name="SILP", pressed=False).wait_for()
    until(page, lambda: page.locator(".deeds dt").all_inner_texts() == ["Level"], "the words of Level alone")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    until(page, lambda: page.evaluate("getComputedStyle(document.body).backgroundColor") != light, "a dark page")
    assert page.locator(".plot").first.is_visible()


def test_the_start_of_a_race_of_three_kernels_is_dragged_in_its_page(opened: Callable[..., Any]) -> None:
    scenario = load_scenario("three-kernels")
    page = opened(race_page(recording(scenario.name), problem=scenario.recipe.prepare().problem), worker=True)
    page.get_by_role("slider", name="Start of the solvers").press("Shift+ArrowLeft")
    page.get_by_text(re.compile(r"SILP: \d+ solves.*; Level: \d+.*; SPG: \d+")).wait_for()
    assert page.locator(".map .ghosts path").count() == 3
    page.get_by_role("button", name="Undo").click()


def test_a_laboratory_is_drawn_anew_at_every_position_of_its_knob(opened: Callable[..., Any]) -> None:
    grid, places = solved(LAM)
    page = opened(lab_page(grid, places))

    def cells() -> list[str]:
        return [str(row.locator("td").nth(column).inner_text()) for column in (2, 5)]

    slider, row = page.get_by_role("slider", name="Level's λ"), page.locator("tbody tr").nth(1)
    assert slider.get_attribute("aria-valuetext") == "λ = 0.8"
    for position, place in enumerate(places):
        slider.fill(str(position))
        trace = place["level"]
        told = [f"{trace.final.svm_solves}", f"{100 * trace.gap[-1]:.2f} %"]
        until(page, lambda told=told: cells() == told, f"the numbers of position {position}")
        if position == 0:
            assert page.locator(".plot").first.locator("path[style*='opacity: 0.35']").count() == 1  # of 0.8, before
