"""The page that opens: what its HTML says is so, and whoever comes with an address lands where that says."""

import asyncio
import base64
import json
import re
import subprocess
import sys
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import panel as pn
import pytest
from _ticks import visit
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from panel.io.state import set_curdoc

import mklviz.views
from mklviz.record.bundle import recording
from mklviz.reproduce.claims import all_claims, load_claim
from mklviz.scenarios import DEFAULT, lessons, load_scenario
from mklviz.views.explorer import before_and_after
from mklviz.views.explorer.page import CLAIMS, CURVE, EXPLORE, LESSONS, RUNS, SECTIONS, START
from mklviz.views.host.solved_paths import problem_data
from mklviz.views.host.ticks import carry_out, put_off
from mklviz.views.lessons.one_curve import CURVE_IN_SHORT, CURVE_TITLE
from mklviz.views.lessons.pictures import kernel_titles
from mklviz.views.start.front import RECORDED, front_html
from mklviz.views.start.front_page import FrontPage, wanted_section


@pytest.mark.parametrize(
    ("words", "section"),
    [
        ({}, START),
        ({"page": "lessons"}, LESSONS),
        ({"page": "curve"}, CURVE),
        ({"page": "nowhere"}, START),
        ({"recipe": "data=heart"}, EXPLORE),
        ({"scenario": "spg-parts"}, EXPLORE),
        ({"tab": "runs"}, EXPLORE),
        ({"hide": "tabs"}, EXPLORE),
        ({"race": "key"}, EXPLORE),
        ({"page": "start", "race": "key"}, START),
        ({"projector": "on"}, START),
    ],
)
def test_an_address_opens_what_it_says(monkeypatch: pytest.MonkeyPatch, words: dict[str, str], section: str) -> None:
    visit(monkeypatch, **words)
    assert wanted_section() == section


def test_who_was_here_before_lands_there_unless_an_address_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = {"scenario": "three-kernels"}
    for cookie, words, section in ((RUNS, {}, RUNS), ("<script>", {}, START), (RUNS, lesson, EXPLORE)):
        visit(monkeypatch, cookie, **words)
        assert wanted_section() == section


def opened(front: FrontPage) -> tuple[int, int]:
    """Return how many models of Bokeh a page has, and how many letters are sent for it."""
    document = Document()
    front.page().server_doc(document)
    return len(document.models), len(serialize_json(document.to_json()))


@pytest.mark.full
def test_the_first_page_builds_no_dashboard_and_weighs_less_than_the_dashboard() -> None:
    first, dashboard = FrontPage(START), FrontPage(EXPLORE)
    small, large = opened(first), opened(dashboard)
    assert first.explorer is None
    assert dashboard.explorer is not None
    assert small[0] < 0.5 * large[0]
    assert small[1] < 0.5 * large[1]


@pytest.mark.full
def test_a_page_that_is_built_part_by_part_is_the_one_that_is_built_at_once() -> None:
    document, other = Document(), Document()
    with set_curdoc(document), put_off() as parts:
        front = FrontPage(EXPLORE)
        page = front.page()
    assert document.roots == []
    asyncio.run(carry_out(document, parts, at_once=-1.0))
    root = document.roots[0]
    FrontPage(EXPLORE).page().server_doc(other)
    built = (each.roots[0].references() for each in (document, other))
    kinds, at_once = (Counter(type(model).__name__ for model in models) for models in built)
    assert kinds == at_once
    boxes = page.select(pn.Column)
    assert len(boxes) > 20
    for box in boxes:  # in which a pane changes its figure
        assert all(inner._models[root.id][1] is box._models[root.id][0] for inner in box.objects)
    front.close()


@pytest.mark.full
def test_runs_bring_no_race_before_it_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before_and_after, "IDLE", -1.0)  # whatever was touched, figures may be built
    runs, large = opened(FrontPage(RUNS)), opened(FrontPage(EXPLORE))
    assert runs[0] < 0.7 * large[0]
    front = FrontPage(RUNS)
    page, built = front.page(), front.explorer
    gap = built.race_view.page.panes["gap"]
    asyncio.run(built.tick())
    assert gap.object is None  # nobody sees it
    assert page.sidebar == [built.controls]  # without a drawer the page would lie beside the window
    front.navigation.receive({"section": EXPLORE})
    asyncio.run(built.tick())
    assert gap.object is not None
    front.navigation.receive({"section": START})
    assert not built.shell.sees(built.race_view)
    front.close()


def test_the_dashboard_is_built_once_and_a_lesson_is_set_up_in_it() -> None:
    front = FrontPage(START)
    page, receive = front.page(), front.navigation.receive
    receive({"section": LESSONS})
    assert front.explorer is None
    receive({"section": EXPLORE})
    built = front.explorer
    assert page.sidebar == [built.controls]
    assert page.sidebar_open
    for section in (START, EXPLORE):
        receive({"section": section})
        assert page.sidebar_open == (section == EXPLORE)
    receive({"section": EXPLORE, "scenario": "three-kernels"})
    assert built.sidebar.scenario.lesson.open
    assert not page.sidebar_open  # what sets a lesson up is folded away
    for section in (START, EXPLORE):
        receive({"section": section})
    assert front.explorer is built
    assert not page.sidebar_open
    assert built.sidebar.scenario.choice.value == "three-kernels"
    receive({"section": EXPLORE, "own": "yes"})  # a table of one's own, which is asked for where files are opened
    assert page.sidebar_open
    assert built.sidebar.data.file.wanted == 1
    front.close()


def test_runs_stand_alone_and_the_tab_that_was_open_comes_back() -> None:
    front = FrontPage(EXPLORE)
    page = front.page()
    shell = front.explorer.shell  # type: ignore[union-attr]
    shell.turn_to("Timeline")
    front.navigation.receive({"section": RUNS})
    assert (shell.titles[shell.strip.active], shell.strip.visible, page.sidebar_open) == ("Runs", False, False)
    front.navigation.receive({"section": EXPLORE})
    assert (shell.titles[shell.strip.active], shell.strip.visible) == ("Timeline", True)
    front.close()


@pytest.mark.full
def test_every_claim_is_a_line_that_leads_to_its_picture_and_its_race() -> None:
    html = front_html(CLAIMS)
    assert re.findall(r'data-claim="(.*?)"', html) == [*all_claims()]
    assert html.count('<a href="?claim=') == len(all_claims())
    front = FrontPage(CLAIMS)
    front.page()
    front.navigation.receive({"section": EXPLORE, "claim": "level-table-2-silp"})
    built = front.explorer
    assert built.sidebar.recipe == load_claim("level-table-2-silp").race
    assert built.claim.root.visible
    assert "claim=level-table-2-silp" in built.address.text("")
    front.navigation.receive({"section": EXPLORE, "scenario": "three-kernels"})
    assert not built.claim.root.visible
    assert "claim=" not in built.address.text("")
    changed = built.sidebar.recipe.changed(max_iter=7)
    built.sidebar.load(changed)
    for name, said in (("<b>", "There is no claim"), ("ufo-figure-3", "")):  # the second has no race
        front.navigation.receive({"section": EXPLORE, "claim": name})
        assert said in built.alert.object
        assert built.sidebar.recipe == changed
    front.close()


def test_what_is_no_section_and_no_lesson_changes_nothing() -> None:
    front = FrontPage(START)
    front.page()
    for message in ({"section": "nowhere"}, {"section": None}, {}, "explore", None, {"section": ["explore"]}):
        front.navigation.receive(message)
    assert front.navigation.section == START
    front.navigation.receive({"section": EXPLORE, "scenario": "<b>"})
    assert front.explorer.sidebar.scenario.choice.value == DEFAULT  # type: ignore[union-attr]
    front.close()


@pytest.mark.parametrize("section", [*SECTIONS, CURVE])
def test_the_html_leads_to_all_sections_and_to_every_lesson_in_order(section: str) -> None:
    html = front_html(section)
    assert f'data-open="{section}"' in html
    assert re.findall(r"<nav.*?</nav>", html)[0].count("href=") == len(SECTIONS)
    first = f'<a href="?page={CURVE}"', f'href="?page={CURVE}" data-page="{CURVE}">▸ Start lesson 1'
    assert sum(map(html.count, first)) == 3
    names = [*lessons()]
    assert re.findall(r'<li><a href="\?scenario=([\w-]+)&amp;lesson=on"', html) == names * 2
    assert all(load_scenario(name).question is not None for name in names)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded from elsewhere


@pytest.mark.parametrize("shown", ["small", "large"])
def test_the_card_of_each_lesson_says_what_it_teaches(shown: str) -> None:
    lists = re.findall(rf'<ol class="lessons {shown}">(.*?)</ol>', front_html(START))
    said = re.findall(r"<b>(\d+) ([^<]*)</b><span>([^<]+)</span>", "".join(lists))
    assert [unescape(f"{title}: {words}") for _, title, words in said] == [
        f"{CURVE_TITLE}: {CURVE_IN_SHORT}",
        *(f"{lesson.title}: {lesson.in_short}" for lesson in lessons().values()),
    ]
    assert [int(number) for number, *_ in said] == list(range(1, len(said) + 1))


def test_what_is_said_of_the_recording_is_so_and_the_script_draws_its_steps_and_the_best_of_them() -> None:
    html, traces = front_html(START), recording(RECORDED)
    assert f"for {len(load_scenario(RECORDED).recipe.prepare().problem.y)} patients" in html
    for trace in traces.values():
        assert f"in {len(trace) - 1} steps" in html
    assert "SILP</b> moved all the weight 2.1 times" in html
    assert round(traces["silp"].motion.moved, 1) == 2.1
    assert max(trace.gap[-1] for trace in traces.values()) <= 1e-4
    assert "at most 0.0099\N{NO-BREAK SPACE}% above" in html
    data = json.loads(re.findall(r'class="data">(.*?)</script>', html)[0])
    assert list(data["paths"]) == [run["key"] for run in data["runs"]] == ["silp", "level", "spg"]
    for key, path in data["paths"].items():
        assert np.allclose(path, traces[key].weights, atol=1e-4)
    best = min(traces.values(), key=lambda trace: trace.best.objective).best
    assert np.allclose(data["best"], best.weights, atol=1e-4)
    assert data["kernels"] == ["chest pain", "vessels", "thal"] == list(kernel_titles(traces))


def test_the_page_carries_the_problem_that_its_script_solves() -> None:
    told = json.loads(json.dumps(problem_data(problem := load_scenario(RECORDED).recipe.prepare().problem)))
    assert (told["y"], told["C"]) == (problem.y.tolist(), problem.loss.C)
    for unit, kernel in zip(np.eye(problem.m), told["kernels"], strict=True):
        of, values = np.array(kernel["of"]), np.frombuffer(base64.b64decode(kernel["values"]))
        upper, lower = np.maximum(of[:, None], of), np.minimum(of[:, None], of)
        assert np.array_equal(values[upper * (upper + 1) // 2 + lower], problem.bank.combine(unit))


@pytest.mark.full
def test_every_component_is_defined_before_a_page_is_served() -> None:
    """Panel would send the definition of a later one beside the next whole page, in which BokehJS cannot read it."""
    code = (
        "import sys\nfrom mklviz.views.start.front_page import get_ready\nget_ready()\n"
        "print(*(name for name in sys.modules if name.startswith('mklviz.views')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    views = Path(mklviz.views.__file__).parent
    defined = [path for path in views.rglob("*.py") if re.search(r"^class \w+\(\w*Component\)", path.read_text(), re.M)]
    assert len(defined) > 5
    names = {".".join(("mklviz.views", *path.relative_to(views).with_suffix("").parts)) for path in defined}
    assert names <= set(loaded)
