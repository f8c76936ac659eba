"""The explorer's rules: who may do what when, and that nothing is lost before something takes its place."""

import ast
import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import panel as pn
import pytest
from _served import page_of
from _ticks import follow, tick, warm_up_by
from _waits import PATIENCE, wait_for

from mklviz.datasets import Dataset, load_dataset
from mklviz.engine import solver_classes
from mklviz.engine.compiling import problems
from mklviz.engine.warmup import PREPARING, Warmup
from mklviz.errors import Interrupted
from mklviz.kernels import Gaussian, KernelBank, NystromBank, ParametricBank, ProductBank
from mklviz.problem import EpsilonInsensitive, Hinge, LpBall, Problem, loss_families
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.recipe.banks import BankStore
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Built
from mklviz.record.store import Store, reset
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.race.results import STATUS_WORDS
from mklviz.views.sidebar.controls import STATES, RunPanel

SMALL = Recipe(
    data=DataChoice("two_moons"),
    kernels=KernelChoice(families=(Gaussian(widths=(0.5, 1.0, 2.0)),)),
    problem=ProblemChoice(loss=Hinge(10.0)),
    solvers=(SolverChoice("level"), SolverChoice("spg")),
    stop=StopChoice(max_iter=30),
)


@pytest.fixture
def explorer() -> Explorer:
    found = Explorer()
    found.sidebar.load(SMALL)
    found.run_panel.pace.value = 0.0
    return found


def run_to_the_end(explorer: Explorer) -> None:
    explorer.run()
    follow(explorer, lambda: explorer.state == "finished")


# -- a race from its controls


@pytest.mark.full
def test_the_page_says_while_the_store_cannot_keep_the_race(
    explorer: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path))
    said = ["The disk is full."]
    monkeypatch.setattr(Store, "not_kept", property(lambda store: said[-1]))
    run_to_the_end(explorer)
    follow(explorer, lambda: explorer.alert.visible)
    assert explorer.alert.object == "The disk is full."
    said.append("")
    follow(explorer, lambda: not explorer.alert.visible)
    reset()


def test_the_size_shown_is_exact_once_the_bank_is_built_and_an_estimate_after_a_change(explorer: Explorer) -> None:
    run_to_the_end(explorer)
    panel, bank = explorer.sidebar.kernels, explorer.race_view.race.problem.bank
    assert panel.size.object == f"{len(bank)} kernels · {bank.n_samples} points"
    assert panel.storage.object.startswith(f"Kept as: {bank.backend}; ")
    assert float(panel.storage.object.split()[-2]) == pytest.approx(bank.nbytes / 2**20, abs=0.05)
    panel.add_family("Linear")
    assert "about" in panel.size.object
    assert not panel.storage.visible


def test_old_curves_are_marked_and_run_is_asked_for_only_where_it_can_be_pressed(explorer: Explorer) -> None:
    run_to_the_end(explorer)
    explorer.sidebar.problem.C.value = "1"
    page = explorer.race_view.page
    marks = {cover.object for cover in page.covers}
    assert len(marks) == 1
    assert len(page.covers) == len(page.panes) + 1  # a chart each, and the weights
    assert "Old settings" in marks.pop()
    for state in STATES:
        explorer.state = state
        assert explorer.run_panel.buttons["run"].disabled != ("Press Run to update" in explorer.run_panel.hint.object)
    explorer.sidebar.problem.C.value = "10"
    assert {cover.object for cover in explorer.race_view.page.covers} == {""}


def test_a_regression_runs_from_its_controls_and_shows_how_much_it_explains(explorer: Explorer) -> None:
    wanted = SMALL.changed(source="friedman", regularizer=LpBall(1.5), max_iter=10, loss=EpsilonInsensitive(100.0))
    wanted = replace(wanted, solvers=(SolverChoice("spg"), SolverChoice("closed-form")))
    explorer.sidebar.load(wanted)
    run_to_the_end(explorer)
    view = explorer.race_view
    tick(view)
    posed = view.race.runs["spg"].problem
    assert (posed.loss, posed.regularizer) == (EpsilonInsensitive(100.0), LpBall(1.5))
    assert abs(posed.y.mean()) < 1e-12  # standardized like the features, up to rounding
    prepared, best = wanted.prepare(), view.race.traces["spg"].best
    values = prepared.problem.predictor(best.weights, best.dual).decision_values(prepared.cross)
    left = np.mean((prepared.test.y - values) ** 2)
    assert prepared.score(best) == pytest.approx(1.0 - left / prepared.test.y.var(), rel=1e-12)
    assert 0.0 < prepared.score(best) < 1.0
    assert "Test R²" in view.page.table.object


# -- who may do what when


def test_keys_do_what_buttons_do_a_step_without_a_race_prepares_one_and_full_speed_ends_a_pause(
    explorer: Explorer,
) -> None:
    explorer.step()
    follow(explorer, lambda: explorer.state == "paused")
    assert {len(trace) for trace in explorer.race_view.race.traces.values()} == {1}
    explorer.reset()
    explorer.run_panel.pace.value = 5.0
    for key, state in ((" ", "running"), (" ", "paused")):
        explorer.race_view.on_key(key)
        follow(explorer, lambda state=state: explorer.state == state)  # type: ignore[misc]
    explorer.race_view.on_key("s")
    explorer.race_view.on_key("x")
    follow(explorer, lambda: explorer.state == "finished")
    explorer.race_view.on_key("r")
    assert explorer.state == "empty"
    explorer.run_panel.pace.value = 2.0
    for act, state in ((explorer.run, "running"), (explorer.pause, "paused")):
        act()
        follow(explorer, lambda state=state: explorer.state == state)  # type: ignore[misc]
    explorer.run_panel.full_speed.clicks += 1
    follow(explorer, lambda: explorer.state == "finished")
    assert explorer.race_view.race.pace == 0.0


def test_in_every_state_something_can_be_done_and_buttons_stay_where_they_are_whatever_is_said_below_them() -> None:
    panel = RunPanel(dict.fromkeys(("run", "pause", "step", "stop", "reset", "full_speed"), lambda *_: None))
    kinds = []
    for state in STATES:
        panel.show(state, hint="Old." if state == "finished" else "")
        assert not all(button.disabled for button in panel.buttons.values())
        panel.show_progress(0.5, "Preparing" if state == "preparing" else "")
        panel.offer_link("?follow=a" if state == "running" else "")
        panel.pace.value = 10.0 if state == "paused" else 0.0
        shown = [part.describe() for part in panel.form.root.inner if part.visible]
        assert shown[-1]["steady"]  # all that comes and goes stands there, and it keeps its height
        kinds.append([[inner["key"] for inner in part.get("inner", [])] for part in shown[:-1]])
        panel.show(state, blocked="C must be a number.")
        assert panel.buttons["run"].disabled
        assert "C must be a number." in panel.hint.object
    assert all(each == kinds[0] for each in kinds)


def test_how_far_a_preparation_is_stands_above_every_page(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    go, words = threading.Event(), "Building the kernels. About 9 s left."
    monkeypatch.setattr(Preparation, "work", lambda _: go.wait(PATIENCE))
    explorer.run()
    explorer.launch.preparation.stage = words
    follow(explorer, lambda: explorer.status == words)
    explorer.stop()
    go.set()
    follow(explorer, lambda: explorer.state == "empty")
    assert not explorer.alert.visible


def test_a_preparation_that_is_stopped_or_fails_leaves_the_race_before_it_on_the_screen(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch, no_log: None
) -> None:
    run_to_the_end(explorer)
    shown = explorer.race_view.race
    explorer.sidebar.problem.C.value = "3"
    explorer.sidebar.data.seed.set(99)  # another bank: there is something to stop
    explorer.run()
    explorer.stop()
    follow(explorer, lambda: explorer.state == "finished")
    assert explorer.race_view.race is shown
    assert not explorer.alert.visible

    def break_down(self: Preparation) -> None:
        raise RuntimeError("inner trouble")

    monkeypatch.setattr(Preparation, "work", break_down)
    explorer.run()
    follow(explorer, lambda: explorer.state == "finished")
    assert explorer.race_view.race is shown
    assert explorer.alert.visible
    assert "RuntimeError" in explorer.alert.object


# -- banks are kept, within bounds


def test_whatever_changes_a_bank_changes_its_key_and_what_was_not_used_for_longest_is_dropped() -> None:
    built, asked = SMALL.build(), []
    size = built.bank.nbytes

    def take(banks: BankStore, key: str) -> None:
        def build(_: Callable[[float], None]) -> Built:
            asked.append(key)
            return built

        assert banks.take(key, build, lambda _: None) is built

    for banks in (BankStore(max_count=2), BankStore(max_bytes=2 * size)):
        asked.clear()
        for key in ("a", "b", "a", "c", "a", "b"):
            take(banks, key)
        assert asked == ["a", "b", "c", "b"]
        assert banks.nbytes <= 2 * size
    small = BankStore(max_bytes=size - 1)
    take(small, "a")
    assert len(small) == 0
    for change in ({"seed": 1}, {"train": 0.4}, {"standardize": False}, {"normalize": "none"}):
        assert SMALL.changed(**change).bank_key != SMALL.bank_key, change
    assert SMALL.on(load_dataset("two_moons", seed=1)).bank_key != SMALL.on(load_dataset("two_moons", seed=2)).bank_key
    assert SMALL.changed(loss=Hinge(3.0)).bank_key == SMALL.bank_key


def ends(preparation: Preparation) -> None:
    wait_for(lambda: preparation.ended, "its end")


@pytest.mark.parametrize("words", [(Preparation.cancel, ends), (ends, Preparation.cancel)], ids=["during", "after"])
def test_a_preparation_that_is_cancelled_is_not_taken(words: tuple[Callable[[Preparation], None], ...]) -> None:
    preparation = Preparation(SMALL, banks=BankStore())
    preparation.start()
    for word in words:
        word(preparation)
    with pytest.raises(Interrupted):
        preparation.result()


def test_a_preparation_waits_for_the_solvers_to_warm_up_says_so_and_can_be_stopped_meanwhile() -> None:
    class Never(Warmup):
        def start(self) -> None:
            self.fraction = 0.25

    preparation = Preparation(SMALL, banks=BankStore(), warmup=Never())
    preparation.start()
    wait_for(lambda: preparation.fraction == 0.25, "the warm-up to be waited for")
    assert "Loading the compiled solvers, 25 %" in preparation.stage
    preparation.cancel()
    ends(preparation)
    with pytest.raises(Interrupted):
        preparation.result()


def test_the_warm_up_runs_once_and_ends_even_if_it_breaks(monkeypatch: pytest.MonkeyPatch, no_log: None) -> None:
    calls: list[str] = []

    def broken() -> Problem:
        calls.append("problem")
        raise RuntimeError("no data")

    monkeypatch.setattr("mklviz.engine.warmup.everything", lambda: iter([("problem 1", broken, "spg")]))
    warmup = Warmup()
    warmup.start()
    warmup.start()
    assert warmup.wait(PATIENCE)
    assert len(calls) == 1


def test_the_problems_of_the_warm_up_need_every_loss_bank_and_way_to_a_kernel() -> None:
    posed = [make() for make in problems()]
    assert {type(found.loss) for found in posed} >= set(loss_families().values())
    assert {type(found.bank) for found in posed} == {KernelBank, ProductBank, NystromBank, ParametricBank}
    assert {found.bank.access for found in posed} == {"matrix", "rows", "factors"}
    assert any("on the fly" in found.bank.backend for found in posed)
    for solver in (made() for made in solver_classes().values()):
        assert not all(map(solver.supports, posed)), solver.label


def test_who_opens_the_page_sees_the_warm_up_and_may_press_run_meanwhile(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Warmup):
        def work(self) -> None:
            self.fraction = 0.25

    slow = Slow()
    warm_up_by(monkeypatch, slow)
    bar, stage = explorer.run_panel.progress, explorer.run_panel.stage
    asyncio.run(explorer.tick())
    assert not bar.visible
    slow.start()
    follow(explorer, lambda: bar.visible and bar.value == 25)
    assert "Loading the compiled solvers, 25 %" in str(stage.object)
    assert not explorer.run_panel.buttons["run"].disabled
    explorer.run()
    follow(explorer, lambda: explorer.state == "preparing" and "Loading the compiled solvers" in str(stage.object))
    slow._done.set()
    follow(explorer, lambda: explorer.state == "finished")
    asyncio.run(explorer.tick())
    assert not bar.visible


def test_one_click_on_a_repair_goes_on_with_a_race_that_was_refused_for_want_of_it(explorer: Explorer) -> None:
    matrix = np.random.default_rng(0).normal(size=(40, 40))
    data = Dataset("mine", np.zeros((40, 0)), np.tile([-1.0, 1.0], 20), classes=("u", "v"), grams=[matrix + matrix.T])
    explorer.sidebar.load(SMALL.on(data))
    explorer.run()
    follow(explorer, lambda: explorer.alert.visible)
    assert "choose a repair" in explorer.alert.object
    explorer.sidebar.kernels.repair.value = "clip"
    assert not explorer.alert.visible
    follow(explorer, lambda: explorer.state == "finished")
    assert explorer.session.recipe.kernels.repair == "clip"
    assert not explorer.alert.visible


# -- sessions


def test_the_end_of_a_session_cancels_race_and_preparation_and_two_share_no_controls(explorer: Explorer) -> None:
    other = Explorer()
    explorer.sidebar.problem.C.value = "1"
    assert other.sidebar.recipe.problem.loss.C == 100.0
    explorer.run_panel.pace.value = 1.0
    explorer.run()
    follow(explorer, lambda: explorer.state == "running")
    explorer.close()
    assert explorer.race_view.race.wait(PATIENCE)
    explorer.reset()
    explorer.sidebar.data.seed.set(4)
    explorer.run()
    explorer.close()
    follow(explorer, lambda: explorer.state == "empty")
    follow(explorer, lambda: all(thread.name != "mklviz-task" for thread in threading.enumerate()))


def test_the_page_has_a_title_a_heading_and_a_status_for_screen_readers_and_its_script_no_logic(
    explorer: Explorer,
) -> None:
    """Globals of a served script are cleared before its session is cleaned up, so it may only import and call."""
    page = page_of(explorer)
    header = " ".join(part.object for part in page.header if isinstance(part, pn.pane.HTML))
    assert page.meta.title == "mklviz"
    assert "<h1" in header
    assert 'role="status" aria-live="polite"' in header
    assert explorer.status in header
    script = Path(__file__).parents[1] / "apps" / "explorer.py"
    statements = ast.parse(script.read_text(encoding="utf-8")).body
    assert all(isinstance(statement, (ast.ImportFrom, ast.Expr)) for statement in statements)
    assert len(statements) <= 5


def test_a_race_begins_with_the_solvers_that_are_ready_and_the_others_join_it(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Partly(Warmup):
        """A warm-up that has come as far as Level, and goes on when it is told to."""

        def start(self) -> None:
            self.begun = True

        def held(self, problem: Problem, solver: str) -> str:
            return PREPARING if solver != "level" and not self.wait(0.0) else ""

    partly = Partly()
    warm_up_by(monkeypatch, partly)
    explorer.sidebar.load(replace(SMALL, solvers=(SolverChoice("silp"), SolverChoice("level"))))
    explorer.run()
    follow(explorer, lambda: explorer.race_view.race is not None and explorer.race_view.race.runs["level"].finished)
    race = explorer.race_view.race
    silp = race.runs["silp"]
    assert (len(silp.trace), silp.doing, explorer.state) == (0, PREPARING, "running")
    follow(explorer, lambda: PREPARING in str(explorer.race_view.page.table.object))
    assert f">{STATUS_WORDS['preparing']}<" in str(explorer.race_view.page.table.object)
    explorer.pause()
    follow(explorer, lambda: explorer.state == "paused")
    explorer.step()
    follow(explorer, lambda: explorer.state == "running")
    partly._done.set()
    follow(explorer, lambda: explorer.state == "paused")
    assert len(silp.trace) == 1
    assert silp.doing == ""
    explorer.pause()
    follow(explorer, lambda: explorer.state == "finished")
    assert silp.trace.gap[-1] <= SMALL.stop.gap or silp.status == "limit"
