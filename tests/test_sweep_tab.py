"""The tab Sweep without a browser: words and fields, a sweep under way, and what came of it."""

import asyncio
import io
from collections.abc import Iterator, Mapping

import pandas as pd
import panel as pn
import pytest
from _shown import words
from _ticks import until
from bokeh.events import Tap

from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.store import EVERYBODY, Store, open_store
from mklviz.sweeps import Sweep
from mklviz.views.form import Form
from mklviz.views.look.palette import DARK
from mklviz.views.session.session import Session, shared_recipe
from mklviz.views.sweeps import sweep_setup
from mklviz.views.sweeps.sweep_setup import RunningSweeps, SweepForm, plan_of
from mklviz.views.tabs.sweep import SweepTab

SMALL = "data=heart,iris; split=0,1; solvers=silp,level; kernels=gauss:1,4@all poly:1@all; C=1; max-iter=200"


@pytest.fixture
def tab(store: Store) -> Iterator[SweepTab]:  # with no runs of other tests, which would tell the time
    session, tab = Session(owner=EVERYBODY), SweepTab()
    session.chosen = lambda: Recipe.from_words("data=sonar; solvers=level; C=10")
    tab.follow(session)
    yield tab
    tab.close()


def swept(tab: SweepTab, text: str) -> None:
    """Write words, and wait for what is known of them."""
    tab.form.words.value = text
    until(tab, lambda: not tab.planning.working)


def solved(tab: SweepTab) -> None:
    swept(tab, SMALL)
    tab.start.clicks += 1
    until(tab, lambda: tab.run is not None and not tab.under_way)
    until(tab, lambda: not tab.comparing.working and "8 runs" in words(tab))


def test_at_first_the_recipe_of_the_controls_is_swept_over_some_splits(tab: SweepTab) -> None:
    assert tab.form.sweep == Sweep.from_words("data=sonar; split=0...4; solvers=level; C=10")
    told = {"data": "sonar", "split": "0...4", "solvers": "level", "C": "10"}
    assert {key: field.value for key, field in tab.form.fields.items()} == told


def test_a_field_changes_the_words_and_words_change_the_fields_and_what_cannot_be_read_can_be_mended() -> None:
    form = SweepForm()
    form.load(Recipe())
    form.fields["C"].value = "1,x"
    assert form.sweep is None
    assert "“x”" in form.words.helper_text
    assert not form.command.visible
    form.fields["C"].value = "1,2"
    assert form.sweep == Sweep(Recipe(), {"split": "0...4", "C": "1,2"})
    assert form.words.helper_text == ""
    form.fields["C"].value = "1,10,100"
    form.fields["solvers"].value = "silp, level:lam={0.3,0.5}"
    form.fields["split"].value = "3"
    assert len(form.sweep) == 9
    assert form.sweep.recipe.split.seed == 3
    form.words.value = "data=sonar,heart; split=0...19; train=0.2,0.4; solvers=spg,newton"
    assert len(form.sweep) == 160
    assert [field.value for field in form.fields.values()] == ["sonar,heart", "0...19", "spg, newton", "100"]
    assert Sweep.from_words(form.words.value) == form.sweep
    assert form.command.object == f'mklviz sweep "{form.words.value}"'


def test_before_the_start_it_is_said_how_many_runs_there_are(tab: SweepTab) -> None:
    swept(tab, "data=wdbc; split=0...6; solvers=level,spg")
    until(tab, lambda: tab.status.object.startswith("14 runs. How long they take is seen"))
    assert not tab.start.disabled
    tab.form.words.value = "data=nowhere"
    tab.tick(0.0)
    assert tab.start.disabled
    assert not tab.status.visible


@pytest.mark.full
def test_a_sweep_is_solved_compared_saved_and_the_next_time_skipped(tab: SweepTab) -> None:
    solved(tab)
    until(tab, lambda: tab.status.object == "Finished: 4 of 8 runs, 4 failed.")  # iris has three classes
    assert len(tab.failed.items) == 4
    assert "iris, split 0" in tab.failed.items[0]
    said = words(tab)
    assert "8 runs of 4 cases, 4 converged." in said
    assert "4 of these failed" in said
    sections = {each.title: each for each in tab.results.results.sections}
    assert sections["Performance profile"].figure is not None
    assert "2 of 2 not converged" in sections["Means"].table
    assert "train=0.2,0.4,0.8" in sections["Growth with samples"].refused

    tab.measure.value, tab.against.value = "svm_solves", "level"
    until(tab, lambda: "cost of Level\nSVM solves" in tab.results.results.sections[0].figure.xaxis[0].axis_label)
    assert "SILP" in {each.title: each for each in tab.results.results.sections}["Two by two"].table

    handed: list[tuple[str, bytes]] = []
    for form in tab.root.select(Form):
        form.hand_over = lambda name, content: handed.append((name, content))
    for button in tab.files:
        button.clicks += 1
        until(tab, lambda: not tab.saving.working)
    assert [name for name, _ in handed] == ["mklviz-sweep.csv", "mklviz-sweep.parquet"]
    csv, parquet = pd.read_csv(io.BytesIO(handed[0][1])), pd.read_parquet(io.BytesIO(handed[1][1]))
    assert len(csv) == len(parquet) == 8
    for key, solves in zip(csv["run"], csv["svm_solves"], strict=True):
        assert [run.svm_solves for run in open_store().runs(f"run:{key}")] == [solves]

    tab.start.clicks += 1
    until(tab, lambda: tab.status.object == "All 8 runs had finished before: nothing was left to solve.")


@pytest.mark.full
def test_a_click_on_a_dot_opens_the_race_of_its_run(tab: SweepTab) -> None:
    opened: list[tuple[Recipe | None, Mapping[str, Trace], str]] = []
    session = Session(owner=EVERYBODY)

    def open_race(traces: Mapping[str, Trace], stored: str) -> str:
        opened.append((shared_recipe(traces.values()), traces, stored))
        return "A race is going on."

    session.on_open = open_race
    solved(tab)
    tab.follow(session)
    until(tab, lambda: any(each.points for each in tab.results.results.sections))
    spread = next(each for each in tab.results.results.sections if each.points)
    assert len(spread.points) == 4
    assert list(tab.race.options) == [f"{data}, split {k}" for data in ("heart", "iris") for k in (0, 1)]
    x, y, case = spread.points[-1]
    for beside in (100.0, 1.001):
        for pane in tab.root.select(pn.pane.Bokeh):  # on the page is the first figure, which takes over what is newer
            pane.object._trigger_event(Tap(pane.object, x=x * beside, y=y))
    assert tab.open.clicks == 1
    asyncio.run(tab.show_race())
    recipe, traces, stored = opened[0]
    member = Sweep.from_words(SMALL).members[0]
    assert [choice.name for choice in recipe.solvers] == ["silp", "level"]
    assert tab.race.value == list(tab.results.results.races.values())[case] == stored
    assert recipe.data == member.recipe.data
    assert {solver: trace.solver for solver, trace in traces.items()} == {"silp": "silp", "level": "level"}
    assert tab.trouble.object == "A race is going on."
    session.store.delete(stored)
    asyncio.run(tab.show_race())
    assert opened[-1][2] == ""
    tab.race.value = tab.race.options["iris, split 1"]
    asyncio.run(tab.show_race())
    assert "nothing to open" in tab.trouble.object


@pytest.mark.full
def test_what_finished_before_is_shown_at_once_in_the_colours_of_the_page(tab: SweepTab) -> None:
    solved(tab)
    session, again = Session(owner=EVERYBODY, theme=DARK), SweepTab()
    again.follow(session)
    swept(again, SMALL)
    until(again, lambda: again.results.results.sections)
    assert again.status.object == "All 8 runs of this sweep have finished before: there is nothing to solve."
    assert again.results.results.sections[0].figure.xaxis[0].axis_label_text_color == DARK.muted
    again.close()


class Held:
    """A sweep of another page, which goes on."""

    status = "running"

    def start(self) -> None:
        pass


@pytest.mark.full
def test_a_sweep_can_pause_go_on_and_stop_and_keeps_what_has_finished(tab: SweepTab) -> None:
    on_server, other = RunningSweeps(), Held()
    tab.running = on_server
    swept(tab, "data=ionosphere; split=0...39; solvers=level,silp,simplemkl; gap=1e-6; max-iter=5000")
    tab.start.clicks += 1
    until(tab, lambda: tab.run is not None and tab.run.progress.running)
    assert tab.form.body.locked
    assert (tab.start.visible, tab.pause.label, tab.stop.visible) == (False, "Pause", True)
    tab.pause.clicks += 1
    until(tab, lambda: tab.pause.label == "Resume")
    assert tab.status.object.startswith("Paused: ")
    assert "left" not in tab.status.object
    on_server.begin(other)  # type: ignore[arg-type]  # one that is paused keeps nobody waiting
    tab.pause.clicks += 1
    assert "Another sweep is going on" in tab.trouble.object
    assert tab.pause.label == "Resume"
    other.status = "finished"
    tab.pause.clicks += 1
    until(tab, lambda: tab.pause.label == "Pause")
    tab.stop.clicks += 1
    until(tab, lambda: tab.status.object.startswith("Stopped: "))
    assert tab.status.object.endswith("Start goes on with the rest.")
    assert "left" not in tab.status.object
    assert tab.start.visible
    assert not tab.form.body.locked


def test_a_server_solves_one_sweep_at_a_time(tab: SweepTab) -> None:
    busy = RunningSweeps()
    busy.begin(Held())  # type: ignore[arg-type]
    tab.running = busy
    assert sweep_setup.RUNNING_SWEEPS is not busy
    swept(tab, SMALL)
    tab.start.clicks += 1
    until(tab, lambda: "Another sweep is going on" in tab.trouble.object)
    assert tab.start.visible


def test_a_plan_estimates_by_runs_on_the_same_kernels_and_skips_what_is_known() -> None:
    store = open_store()
    unknown = plan_of(Sweep.from_words("data=wdbc; split=0...3; solvers=level; kernels=gauss:0.7@all"), store)
    assert "How long they take is seen" in unknown.text(2)
    assert "about 50 s in 2 processes" in unknown.__class__(4, unknown.table, 100.0).text(2).lower()
