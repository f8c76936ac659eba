"""A branch goes on from a step of another run, and counts on from there: in the trace, in files and on screen."""

import asyncio
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _problems import problem, ran
from _shown import notes
from _ticks import Prepared, follow, following, shown
from _waits import PATIENCE

import mklviz as mv
from mklviz.engine import Race, make_solver
from mklviz.engine.race import branch_refusal, narrated, successors
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.run_facts import Origin
from mklviz.record.summary import Reference
from mklviz.views.chart.columns import Thinning, line_columns
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.export.page import recorded
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import race_styles, run_styles
from mklviz.views.race.results import result_rows
from mklviz.views.session.launcher import begin_at
from mklviz.views.session.session import RaceHistory
from mklviz.views.tabs.timeline import Timeline

STEP = 6
NAME = "Level from step 6 of SILP"


@cache
def race() -> Race:
    return ran(Race(problem("blobs, C = 100"), ["silp", "spg"], rules=(mv.Gap(1e-6), mv.MaxIter(60))))


def branched(solver: str = "level", **options: float) -> Race:
    return ran(race().branch("silp", STEP, solver, **options))


@cache
def grown() -> tuple[Race, Trace]:
    made = branched()
    return made, made.traces[NAME]


def test_a_branch_begins_where_the_run_was_counts_on_from_there_and_what_was_proved_stays_proved() -> None:
    made, trace = grown()
    before = race().traces["silp"]
    assert list(made.runs) == ["silp", "spg", NAME]
    assert made.runs["silp"] is race().runs["silp"]
    assert NAME not in race().runs
    np.testing.assert_allclose(trace[0].weights, before[STEP].weights)
    assert trace[0].objective == pytest.approx(before[STEP].objective, rel=1e-4)
    assert trace[0].svm_solves == before[STEP].svm_solves
    assert (np.diff(trace.svm_solves) >= 0).all()
    assert trace.seconds_at(0) >= before.seconds_at(STEP)
    assert sum(trace.split_at(3).values()) == pytest.approx(trace.seconds_at(3), rel=1e-3)
    assert (trace.first_step, trace.last_step) == (STEP, STEP + len(trace) - 1)
    verdict = mv.MaxIter(1).check(trace)
    assert verdict is not None
    assert verdict.reason == f"Reached the limit of 1 iteration from step {STEP} on."
    assert trace.status == "converged"
    assert trace.final.svm_solves == trace[0].svm_solves + len(trace) - 1  # Level solves one at each step
    assert [trace.index_at(step) for step in (STEP - 1, STEP, STEP + 2, 10**6)] == [-1, 0, 2, len(trace) - 1]
    assert trace.to_frame()["iteration"].iloc[0] == STEP
    bound = max(step.lower_bound for step in race().traces["silp"][: STEP + 1])
    assert trace[0].lower_bound >= bound * (1.0 - 1e-9)
    assert trace[0].certificate is not None
    assert race().problem.lower_bound(trace[0].certificate) == pytest.approx(trace[0].lower_bound, rel=1e-9)


@pytest.mark.parametrize("solver", ["silp", "spg", "pgd", "newton", "simplemkl", "closed-form"])
def test_every_method_that_starts_anywhere_goes_on_and_gets_there(solver: str) -> None:
    trace = next(reversed(branched(solver).traces.values()))
    assert trace[0].svm_solves == race().traces["silp"][STEP].svm_solves
    np.testing.assert_allclose(trace[0].weights, race().traces["silp"][STEP].weights, atol=1e-12)
    assert trace.best.objective == pytest.approx(race().traces["silp"].best.objective, rel=1e-2)


def test_the_same_method_may_go_on_with_other_options_and_a_branch_may_have_branches() -> None:
    made = branched("silp", svm_tolerance=1e-2)
    assert made.traces["SILP from step 6 of SILP"].options["svm_tolerance"] == 1e-2
    first, _ = grown()
    second = ran(first.branch(NAME, STEP + 2, "spg"))
    trace = second.traces[f"SPG from step 8 of {NAME}"]
    assert (trace.origin.step, trace.origin.svm_solves) == (8, first.traces[NAME][2].svm_solves)
    twice = first.branch("silp", STEP, "level")
    assert list(twice.runs)[-1] == f"{NAME}, 2"


@pytest.mark.parametrize(
    ("run", "step", "solver", "error", "said"),
    [
        ("silp", STEP, "ufo", UnsupportedProblem, r"UFO-MKL always begins .*\.$"),
        ("silp", STEP, "smo-mkl", UnsupportedProblem, r"SMO-MKL.*\.$"),
        *(("silp", step, "level", MklvizError, f"there is no step {step} to go on from") for step in (-1, 10**6)),
        ("newton", 0, "level", MklvizError, r"no run 'newton'\. Its runs are: silp, spg"),
    ],
)
def test_what_cannot_go_on_is_refused_in_a_sentence(
    run: str, step: int, solver: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        race().branch(run, step, solver)


def test_a_branch_is_saved_with_the_step_that_it_went_on_from(tmp_path: Path) -> None:
    _, trace = grown()
    trace.save(tmp_path / "run")
    loaded = Trace.load(tmp_path / "run")
    assert loaded.origin == trace.origin
    assert loaded.label == NAME
    np.testing.assert_array_equal(loaded.svm_solves, trace.svm_solves)
    assert run_styles({"a": loaded}, LIGHT)["a"].dash == "dashed"
    alone = race().traces["silp"]
    alone.save(tmp_path / "alone")
    assert Trace.load(tmp_path / "alone").origin is None


ORIGIN = Origin("SILP", 6, 7, 0.5, {"svm": 0.5})


@pytest.mark.parametrize(
    "wrong",
    [
        *(5, [], {}, {"label": "SILP"}),
        *(
            {**asdict(ORIGIN), name: value}
            for name, value in [("label", 1), ("step", -1), ("step", 1.5), ("step", True)]
        ),
        *({**asdict(ORIGIN), "seconds": value} for value in (-1.0, float("nan"), float("inf"), "1")),
        *({**asdict(ORIGIN), "split": value} for value in (None, [1.0], {"svm": "x"}, {"svm": -1.0})),
    ],
)
def test_a_file_that_says_nonsense_of_its_origin_is_not_read(wrong: object) -> None:
    assert Origin.read(json.loads(json.dumps(asdict(ORIGIN)))) == ORIGIN
    with pytest.raises(ValueError, match="it"):
        Origin.read(wrong)


# -- on screen


def test_table_words_and_curve_of_a_branch_begin_at_its_step_and_follow_the_cursor() -> None:
    made, trace = grown()
    motions = {key: run.motion for key, run in made.traces.items()}
    styles = race_styles(made, LIGHT)
    assert (styles[NAME].label, styles[NAME].dash) == (NAME, "dashed")

    def row(cursor: int | None) -> tuple[str, int | None, int | None]:
        found = result_rows(made, styles, motions, lambda _key, _step: np.nan, (), cursor)[-1]
        result = found.result
        return (found.status, *((result.iterations, result.svm_solves) if result else (None, None)))

    assert row(STEP - 1) == ("later", None, None)
    assert row(STEP + 1) == ("past", STEP + 1, trace[1].svm_solves)
    assert row(None) == ("converged", trace.last_step, trace.final.svm_solves)
    assert narrated(make_solver("level"), trace, 0).startswith("Level takes over the weights of SILP at step 6, with 7")
    run = recorded(made).page_data()["runs"][-1]
    assert run["iteration"][0] == STEP
    assert run["narration"][0].startswith("Level takes over")
    session = shown(made)
    tab = following(session, Timeline())
    feed = tab.view.figures.readings.feeds[NAME].source.data
    assert (feed["iteration"][0], feed["svm_solves"][0]) == (STEP, trace[0].svm_solves)
    assert session.last_step == max(run.last_step for run in made.traces.values())
    session.cursor = STEP + 1
    assert list(tab.view.charts.marks.source.data["svm_solves"])[-1] == trace[1].svm_solves
    session.cursor = STEP - 2
    assert np.isnan(list(tab.view.charts.marks.source.data["iteration"])[-1])
    assert f"Begins at step {STEP}" in tab.bar.words.object


@pytest.mark.full
def test_the_timeline_goes_on_from_the_step_of_the_cursor() -> None:
    session = shown(race())
    tab = following(session, Timeline())
    session.cursor = STEP
    card = tab.branch
    assert card.solver.label == f"step {STEP} with:"
    card.run.value, card.solver.value = "silp", "ufo"
    assert card.button.disabled
    assert any("zero function" in said for said in notes(card))
    card.solver.value = "level"
    assert not card.button.disabled
    card._controls["lam"].set(0.5)
    card.go_on()
    assert session.race.wait(PATIENCE)
    trace = session.race.traces[NAME]
    assert trace.options["lam"] == 0.5
    assert trace[0].svm_solves == race().traces["silp"][STEP].svm_solves
    assert session.cursor is None
    session.follows = True
    tab.follow(session)
    assert not card.root.visible
    shown_now = session.race
    card.go_on()  # as a message would that nobody's button sent
    assert session.race is shown_now
    assert any("no race of your own" in said for said in notes(card))


def test_a_branch_shorter_than_its_way_there_is_drawn_to_its_end() -> None:
    made = ran(race().branch("silp", 18, "newton"))
    trace = made.traces["Newton from step 18 of SILP"]
    assert len(trace) < trace.first_step
    assert race_still(made).startswith("<svg")
    columns = line_columns(trace, Thinning().whole(len(trace)), Reference())
    assert columns["iteration"] == [float(trace.first_step + t) for t in range(len(trace))]


def test_the_menu_of_a_branch_begins_with_what_is_of_most_use_there() -> None:
    posed = race().problem
    names = successors(posed, "silp", ["silp", "level", "spg"])
    assert names[:3] == ["level", "spg", "newton"]  # who raced, and who is recommended here
    assert names.index("closed-form") < names.index("alignf")  # recommended elsewhere
    refused = [bool(branch_refusal(posed, make_solver(name))) for name in names]
    assert refused == sorted(refused)
    assert names.index("silp") == refused.index(True) - 1  # the same again, last of those that can
    session, tab = shown(race()), Timeline()
    tab.follow(session)
    assert (tab.branch.run.value, tab.branch.solver.value) == ("silp", "level")
    tab.branch.solver.value = "newton"
    tab.follow(session)
    assert tab.branch.solver.value == "newton"
    tab.branch.run.value = "spg"
    assert list(tab.branch.solver.options.values())[:2] == ["level", "silp"]
    assert tab.branch.solver.value == "level"


def test_a_click_on_the_map_starts_the_solvers_there_and_no_branch_and_a_race_is_kept_with_its_branches() -> None:
    session, race_history, (made, _) = shown(grown()[0]), RaceHistory(), grown()
    assert begin_at(session, race().traces["silp"][3].weights) == ""
    assert list(session.race.runs) == ["silp", "spg"]
    session.race.cancel()
    kept = race_history.add("Blobs", race().traces)
    assert race_history.add("Blobs", race().traces) is None
    assert race_history.add("Blobs", made.traces) is kept
    assert list(kept.traces) == list(made.traces)
    assert len(race_history.races) == 1


@pytest.mark.full
def test_a_branch_that_ends_between_two_looks_is_kept_with_its_race() -> None:
    explorer = Explorer()
    session, (made, _) = explorer.session, grown()
    session.show(Recipe(), Prepared(), race())  # type: ignore[arg-type]
    asyncio.run(explorer.tick())
    assert [list(kept.traces) for kept in session.race_history.races] == [["silp", "spg"]]
    session.show(Recipe(), Prepared(), made)  # type: ignore[arg-type]
    follow(explorer, lambda: len(session.race_history.races[0].traces) == 3)
    assert [list(kept.traces) for kept in session.race_history.races] == [["silp", "spg", NAME]]
