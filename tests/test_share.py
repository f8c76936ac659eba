"""What leaves the dashboard: links to all of it, the program that runs the same race, and files that open again."""

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest
from _problems import ran
from _ticks import visit
from _waits import wait_for

from mklviz.errors import MklvizError
from mklviz.kernels import Gaussian, Polynomial
from mklviz.problem import EpsilonInsensitive, Hinge, LpBall
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice
from mklviz.recipe.recipe import as_python
from mklviz.record.bundle import read_bundle, write_bundle
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.export.page import KINDS, race_file
from mklviz.views.form import Form, Group, Note, Switch
from mklviz.views.links import link
from mklviz.views.session.session import Session
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.tabs.share import Share

RECIPE = Recipe(
    DataChoice("liver"),
    Split(seed=2),
    KernelChoice(families=[Gaussian(widths=(0.5, 2.0)), Polynomial(degrees=(1,))]),
    ProblemChoice(Hinge(5.0), LpBall(2.0)),
    [SolverChoice("spg"), SolverChoice("closed-form")],
    StopChoice(gap=1e-3),
)


@pytest.fixture(scope="module")
def session() -> Session:
    session, prepared = Session(), RECIPE.prepare()
    race = ran(RECIPE.race(prepared))
    session.show(RECIPE, prepared, race)
    return session


def opened(monkeypatch: pytest.MonkeyPatch, **words: str) -> tuple[Explorer, str]:
    """Return an explorer with what the address says, and what was wrong with it."""
    explorer = Explorer()
    visit(monkeypatch, **words)
    frame = link.HideAndLock()
    wrong = [link.open_address(explorer.sidebar), explorer.address.open(), explorer.shell.open_address()]
    frame.apply(explorer.sidebar, explorer.shell.strip)
    return explorer, " ".join(filter(None, [*wrong, frame.wrong]))


def test_the_program_runs_and_finds_the_same_objectives(session: Session) -> None:
    program, said = as_python(RECIPE), io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(said):
        exec(program, names)
    assert names["recipe"] == RECIPE
    for key, trace in session.traces.items():
        assert names["race"].traces[key].best.objective == trace.best.objective
        assert f"{trace.label}: {trace.status}" in said.getvalue()
    own = RECIPE.changed(source=f"sha256:{'0' * 64}")  # a file of one's own, which it reads
    assert "data = mv.read_dataset('mine.csv')\nprepared = recipe.prepare(data)" in as_python(own, "mine.csv")
    compile(as_python(own), "program", "exec")


@pytest.mark.full
def test_a_shared_link_opens_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = Explorer()
    explorer.sidebar.load(RECIPE)
    explorer.run_panel.pace.value = 10.0
    explorer.race_view.param.update(x_axis="seconds", log_x=True, above=True)
    end = explorer.session.link("timeline", 7, {"lock": "data"})
    words = {name: values[0] for name, values in parse_qs(end[1:]).items()}
    assert words["v"] == "1"
    other, wrong = opened(monkeypatch, **words)
    assert wrong == ""
    assert other.sidebar.recipe == RECIPE
    assert other.run_panel.pace.value == 10.0
    view = other.race_view
    assert (view.x_axis, view.log_x, view.above, view.above_chosen) == ("seconds", True, True, True)
    assert other.shell.titles[other.shell.strip.active] == "Timeline"
    assert other.shell.step == 7
    assert other.sidebar.data.body.locked


def test_a_shared_link_spells_out_a_scenario_and_a_reload_does_not() -> None:
    explorer = Explorer()
    assert "recipe=data%3Dionosphere" in explorer.session.link("race", None, {})
    assert "recipe" not in explorer.address.text("")


def test_a_bad_part_of_a_link_is_named_and_the_rest_used(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {"pace": "soon", "x": "up", "objective": "high", "tab": "Nowhere", "step": "-1"}
    explorer, wrong = opened(monkeypatch, v="9", recipe="data=heart", log="x", hide="nose", lock="toe", **bad)
    for name in bad:
        assert f"“{name}={bad[name]}” in the link cannot be used." in wrong
    assert "hide='nose'; there are scenario, data, " in wrong
    assert "lock='toe'" in wrong
    assert "another version" in wrong
    assert explorer.sidebar.recipe.data == DataChoice("heart")
    assert explorer.race_view.log_x


@pytest.mark.full
def test_the_step_of_a_link_is_shown_once_the_race_has_come_there(session: Session) -> None:
    explorer = Explorer()
    explorer.shell.step = 1
    explorer.shell.go_to_step()
    assert explorer.session.cursor is None
    explorer.session.take(session)
    explorer.shell.go_to_step()
    assert explorer.session.cursor == 1
    explorer.session.cursor = None
    explorer.shell.go_to_step()
    assert explorer.session.cursor is None  # once


def test_parts_are_hidden_and_locked_by_name_or_the_whole_set_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer, wrong = opened(monkeypatch, hide="data,tabs", lock="kernels, problem")
    bodies = [section.body for section in explorer.sidebar.sections]
    assert wrong == ""
    assert [body.visible for body in bodies] == [False, True, True, True, True]
    assert [body.locked for body in bodies] == [False, True, True, False, False]
    assert not explorer.shell.strip.visible
    assert explorer.sidebar.locked.object == "Locked by the link: kernels, problem."
    explorer, wrong = opened(monkeypatch, hide="setup", lock="setup")
    assert wrong == ""
    assert {(each.body.visible, each.body.locked) for each in explorer.sidebar.sections} == {(False, True)}


def test_what_is_locked_takes_no_answers() -> None:
    free, held = Switch(label="free"), Switch(label="held")
    form = Form(free, Group(held, locked=True))
    for part in (free, held):
        form.receive({"key": part.key, "value": True})
    assert (free.value, held.value) == (True, False)
    told = json.loads(form.drawn)["parts"]
    assert told[1]["locked"] is True


def test_every_file_of_a_race_can_be_made(session: Session) -> None:
    done: list[float] = []
    made = dict(race_file(ending, session, done.append) for _, _, ending in KINDS if ending != "parquet")
    assert 1 < len(done) <= 60  # the pictures of the moving one, which takes a while
    assert done == sorted(done)
    assert sorted(made) == [f"mklviz-liver.{kind}" for kind in ("csv", "gif", "html", "png", "svg", "zip")]
    steps = sum(len(trace) for trace in session.traces.values())
    assert len(made["mklviz-liver.csv"].splitlines()) == 1 + steps
    runs = read_bundle(made["mklviz-liver.zip"], "runs.zip")
    assert set(runs) == set(session.traces)
    assert all(trace.best.objective == session.traces[key].best.objective for key, trace in runs.items())


def test_a_parquet_table_has_the_steps_or_says_what_to_install(
    session: Session, without: Callable[[str], None]
) -> None:
    name, content = race_file("parquet", session)
    assert name == "mklviz-liver.parquet"
    read = pd.read_parquet(io.BytesIO(content))
    first = session.traces["spg"]
    assert (read["solver"] == "spg").sum() == len(first)
    assert read.loc[read["solver"] == "spg", "objective"].tolist() == first.objective.tolist()
    without("pyarrow")
    with pytest.raises(MklvizError, match="pip install pyarrow"):
        race_file("parquet", session)


@pytest.mark.full
def test_a_single_run_opens_as_well_and_what_is_none_is_refused(session: Session) -> None:
    one = io.BytesIO()
    session.traces["spg"].save(one)
    assert list(read_bundle(one.getvalue(), "one.npz")) == ["spg"]
    empty = io.BytesIO()
    write_bundle({}, empty)
    with pytest.raises(MklvizError, match="holds no runs"):
        read_bundle(empty.getvalue(), "empty.zip")
    data = io.BytesIO()
    np.savez(data, X=np.eye(3))
    with pytest.raises(MklvizError, match=r"holds no runs.* Data are opened on Explore"):
        read_bundle(data.getvalue(), "data.npz")
    with pytest.raises(MklvizError, match="is not a file of runs"):
        read_bundle(b"a,b\n1,2\n", "table.csv")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.mklrun.npz", bytes(6 * 10**8))
    with pytest.raises(MklvizError, match="more than can be opened here"):
        read_bundle(bomb.getvalue(), "bomb.zip")


def test_the_tab_shows_link_and_program_and_hands_files_over(session: Session) -> None:
    tab, handed = Share(), []
    session.link = lambda tab, step, more: f"?tab={tab}&step={step}&{more['hide']}"
    session.cursor = 3
    tab.follow(session)
    assert tab.code.object == as_python(RECIPE)
    assert tab.link.address == "?tab=race&step=3&"
    tab.hide.value = True
    assert tab.link.address == "?tab=race&step=3&setup"
    (files,) = [form for form in tab.root.select(Form) if tab.buttons[0] in form.root.every()]
    files.send = handed.append

    for button in tab.buttons[:2]:
        button.answer({"click": True})
    assert [button.disabled for button in tab.buttons[:3]] == [True, True, False]
    said = [part.object for part in files.root.every() if isinstance(part, Note)]
    assert said == ["Making: Page (HTML), Picture (SVG) …"]
    wait_for(lambda: len(handed) == 2, "both files", lambda: tab.tick(0.0))
    assert not any(button.disabled for button in tab.buttons)
    assert {file["name"] for file in handed} == {"mklviz-liver.html", "mklviz-liver.svg"}
    tab.close()


@pytest.fixture(scope="module")
def sidebar() -> Sidebar:
    return Sidebar()


def test_a_bad_part_of_a_link_gives_a_sentence_and_the_rest_is_used(sidebar: Sidebar) -> None:
    said = link.open_words(sidebar, "data=diabetes; solvers=levle; loss=epsilon-insensitive:epsilon=0.5; C=3; gap=soon")
    assert "did you mean level?" in said
    assert "The gap to stop at must be a number" in said
    shown = sidebar.recipe
    assert shown.data == DataChoice("diabetes")
    assert shown.problem.loss == EpsilonInsensitive(3.0, epsilon=0.5)
    assert shown.stop == StopChoice()
    assert link.open_words(sidebar, "data=iris; positive=rose") == "“positive=rose” cannot be used here."
    assert sidebar.recipe.data == DataChoice("iris")


def test_a_file_that_is_not_there_is_asked_for_and_the_rest_is_used(sidebar: Sidebar) -> None:
    link.open_words(sidebar, "data=sonar")
    said = link.open_words(sidebar, f"data=sha256:{'0' * 64}; C=5")
    assert "an uploaded file" in said
    assert sidebar.recipe.problem.loss == Hinge(5.0)
    assert sidebar.recipe.data == DataChoice("sonar")
    assert sidebar.data.awaited is not None
    for other in ("heart", "sonar"):  # who chooses other data does without it
        sidebar.data.choice.value = other
    assert sidebar.data.awaited is None
    link.open_words(sidebar, f"data=sha256:{'0' * 64}")
    sidebar.scenario.choice.value = "noisy-svms"
    assert sidebar.data.awaited is None


def test_a_column_is_called_by_its_name_as_on_the_command_line(sidebar: Sidebar) -> None:
    assert link.open_words(sidebar, "data=heart; kernels=gauss:1@thal poly:1@age,sex") == ""
    assert [family.on for family in sidebar.recipe.kernels.families] == [("thal",), ("age", "sex")]
    assert sidebar.blocked == ""
    link.open_words(sidebar, "data=heart; kernels=gauss:1@foo")
    assert sidebar.blocked.startswith("There is no column 'foo'. Columns: age, sex, ")
