"""The view of a race follows it: what is drawn is what the solvers found, whoever watches or does not."""

import re
import time
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock, Mock

import pytest
from _problems import problem, ran
from _ticks import Walker, tick
from _undrawn import drawn_chart
from _waits import PATIENCE, wait_for
from bokeh.document import Document
from bokeh.models import DataRange1d, Plot

from mklviz.contract import Solver
from mklviz.engine import MaxIter, Race
from mklviz.problem import GroupSquaredPlusL1, Hinge, Problem
from mklviz.record import FINAL
from mklviz.record.summary import RunResult
from mklviz.record.weights import Motion
from mklviz.views.chart.description import RuleMark
from mklviz.views.host.page_session import GIVE_UP_AFTER
from mklviz.views.look.palette import DARK, RunStyle, theme_for
from mklviz.views.race.race_view import HOLD_AFTER, RaceView
from mklviz.views.race.results import ResultRow, moved_words, race_sentence, result_table


def race_of(*solvers: Solver, steps: int = 12) -> Race:
    return Race(problem("blobs, C = 1"), solvers or (Walker(), Walker()), rules=(MaxIter(steps),))


def run_to_the_end(view: RaceView, race: Race) -> None:
    view.show(race)
    ran(race)
    tick(view)


def rest(race: Race, steps: int = 1) -> None:
    """Wait until the race is paused after so many steps of its first run."""
    wait_for(lambda: race.status == "paused" and len(race.runs["walker"].trace) >= steps, "the pause")


def source(view: RaceView, key: str) -> dict[str, Any]:
    return view.figures.readings.feeds[key].source.data


def test_curves_grow_while_the_race_goes_on_and_nothing_is_sent_when_nothing_happens() -> None:
    view = RaceView()
    race = race_of(steps=1000)
    view.show(race)
    race.step(3)
    rest(race)
    tick(view)
    first, frame = len(source(view, "walker")["iteration"]), view.heartbeat.seq
    tick(view)
    assert view.heartbeat.seq == frame
    race.step(4)
    rest(race, 7)
    tick(view)
    assert (first, len(source(view, "walker")["iteration"])) == (3, 7)
    assert view.heartbeat.seq == frame + 1
    race.cancel()


def test_the_view_waits_for_a_browser_that_has_not_painted_and_not_for_good() -> None:
    view = RaceView()
    race = race_of(steps=10_000)
    view.show(race)
    for steps in range(1, 6):
        race.step(1)
        rest(race, steps)
        tick(view, painted=False)
    assert view.heartbeat.seq == 3
    view.heartbeat.ack = 3
    tick(view, painted=False)
    assert view.heartbeat.seq == 4
    assert len(source(view, "walker")["iteration"]) == 5
    view.heartbeat.seq = 9  # an acknowledgement is lost
    view.frames.painted_at = view.frames.sent_at = now = time.monotonic()
    race.step(1)
    rest(race, 6)
    for later, sent in ((2.0, 9), (3.5, 10)):
        tick(view, now + later, painted=False)
        assert view.heartbeat.seq == sent
    race.cancel()


def test_a_failing_solver_says_why_and_the_others_go_on() -> None:
    view = RaceView()
    race = race_of(Walker(breaks=4), Walker())
    run_to_the_end(view, race)
    broken, well = race.runs.values()
    assert (broken.status, well.status) == ("failed", "limit")
    assert race_sentence(view.race) == "1 of 2 solvers has finished; Walker failed."
    page = view.page
    assert "The walker &lt;b&gt;stumbled&lt;/b&gt;." in page.table.object
    assert "stumbled" in page.weights.heads["walker"].object
    assert len(source(view, list(race.runs)[1])["iteration"]) == 13


def test_words_stand_instead_of_axes_where_no_run_has_a_step_and_say_what_takes_long() -> None:
    view = RaceView()
    run_to_the_end(view, race_of(Walker(breaks=0), Walker(breaks=0)))
    view.page.show_race("")  # as when the page learns that its controls are those of the race
    words = [str(cover.object) for cover in view.page.covers]
    assert all('class="waiting"' in each for each in words)
    for told in (words[0], words[-1]):  # the large chart, and the weights
        assert "Walker: The walker &lt;b&gt;stumbled&lt;/b&gt;." in told
    assert not any("stumbled" in each for each in words[1:-1])
    view.large = "gap"
    assert "stumbled" in str([*view.page.covers][1].object)
    for solvers in ((Walker(), Walker(breaks=0)), (Walker(), Walker())):
        run_to_the_end(view, race_of(*solvers))
        assert {cover.object for cover in view.page.covers} == {""}
        assert [plot.visible for plot in view.charts.weights.values()] == [each.breaks < 0 for each in solvers]
    view, race = RaceView(), race_of()
    for run in race.runs.values():
        run.hold(lambda: "computing the slopes of 442 kernels, 40 %, about 9 s left")
    view.show(race)
    tick(view)
    assert "about 9 s left." in next(str(cover.object) for cover in view.page.covers)


def test_svm_solves_begin_on_a_logarithmic_axis_and_each_axis_keeps_its_scale() -> None:
    view = RaceView()
    view.show(race_of())
    kinds = []
    for x_axis in ("svm_solves", "seconds", "svm_solves"):
        view.x_axis = x_axis
        kinds.append({type(plot.x_scale).__name__ for plot in view.charts.figures})
        view.log_x = x_axis == "seconds"
    assert kinds == [{"LogScale"}, {"LinearScale"}, {"LinearScale"}]
    view.x_axis = "seconds"
    assert view.log_x


def test_axes_and_sizes_change_in_place_so_that_no_chart_is_blank_meanwhile_and_nothing_is_reported_back() -> None:
    view = RaceView()
    run_to_the_end(view, race_of())
    charts, drawn = view.charts, [pane.object for pane in view.page.panes.values()]
    weights = list(view.page.weights.box.objects)
    axes = [{"x_axis": "svm_solves"}, {"log_x": False}, {"log_y": False}, {"large": "gap"}, {"x_axis": "seconds"}]
    for change in axes:
        view.param.update(**change)
        assert {r.glyph.x for lines in charts.by_run.values() for r in lines} == {view.x_axis}
    assert {plot.xaxis.axis_label for plot in charts.figures} == {"CPU seconds"}
    assert view.charts is charts
    assert [pane.object for pane in view.page.panes.values()] == drawn
    assert view.page.weights.box.objects == weights
    assert not any(plot.syncable for plot in charts.figures)
    ranges = [r for plot in charts.figures for r in (plot.x_range, plot.y_range)]
    assert all(isinstance(r, DataRange1d) and not r.syncable for r in ranges)
    assert len({id(plot.x_range) for plot in charts.of_all}) == 1


def test_the_quantity_chosen_is_drawn_large_above_the_others_and_on_a_projector_the_objective() -> None:
    view = RaceView()
    for choose, large in (({"large": "gap"}, "gap"), ({"theme": theme_for(False, True)}, "objective")):
        view.param.update(**choose)
        run_to_the_end(view, race_of())
        heights = {plot.name: plot.height for plot in view.charts.of_all}
        assert [name for name in heights if heights[name] == max(heights.values())] == [large]
        ticks = {plot.name: plot.xaxis.ticker.desired_num_ticks for plot in view.charts.figures}
        assert [name for name in ticks if ticks[name] > 3] == [large]  # in a small one, numbers would touch
        assert [name for name, card in view.page.figure_cards.items() if card.styles["order"] == "-1"] == [large]


@pytest.mark.full
def test_the_stop_line_follows_the_gap_tolerance() -> None:
    view = RaceView(gap_tolerance=0.05)
    assert "stop at 5 %" in view.page.titles["gap"].object
    view.show(race_of())
    view.gap_tolerance = 1e-3
    assert [rule.columns["y"] for rule in drawn_chart(view, "gap").of(RuleMark)] == [[1e-3]]
    assert "stop at 0.1 %" in view.page.titles["gap"].object
    view.gap_tolerance = None
    assert "stop" not in view.page.titles["gap"].object


def test_a_chip_hides_a_solver_everywhere_and_shows_it_again() -> None:
    view = RaceView()
    race = race_of()
    run_to_the_end(view, race)
    first, second = race.runs
    view.chips.hidden = [first]
    assert view.hidden == {first}
    assert not any(r.visible for r in view.charts.by_run[first])
    assert any(r.visible for r in view.charts.by_run[second])
    assert 'class="hidden-run"' in view.page.table.object
    view.hidden = frozenset()
    assert view.chips.hidden == []
    assert all(r.visible for r in view.charts.by_run[first])


def test_clearing_returns_to_the_empty_page() -> None:
    view = RaceView()
    run_to_the_end(view, race_of())
    view.clear()
    assert view.race is None
    assert race_sentence(view.race) == "Press Run to start the solvers."
    assert view.chips.items == []
    assert "appears here" in view.page.table.object
    assert all("appear" in said.object for said in view.page.covers)
    lines = [line for lines in view.figures.charts.by_run.values() for line in lines]
    assert lines
    assert not any(line.data_source.data["iteration"] for line in lines)


def test_a_page_opens_without_figures_which_are_built_before_the_race_and_kept_for_the_same_solvers() -> None:
    view, document = RaceView(), Document()
    document.add_root(view.__panel__().get_root(document))
    assert not list(document.select({"type": Plot}))  # a page without figures opens sooner
    race = race_of()
    view.figures.prepare([run.solver for run in race.runs.values()], False)
    built = set(view.figures.charts.figures)
    assert len(built) == 5 + len(race.runs)
    assert view.charts is None  # of no race
    assert all(said.object for said in view.page.covers)  # in front of them
    run_to_the_end(view, race)
    assert set(view.charts.figures) == built
    assert not any(said.object for said in view.page.covers)
    view.clear()
    run_to_the_end(view, race_of())
    assert set(view.charts.figures) == built
    assert all(feed.source.data["iteration"] for feed in view.figures.readings.feeds.values())
    view.show(race_of())  # which starts from nothing
    assert set(view.charts.figures) == built
    assert len(source(view, "walker")["iteration"]) == 0
    assert all(anchor.visible for anchor in view.charts.anchors.values())
    run_to_the_end(view, race_of(Walker()))
    assert set(view.charts.figures) != built


@pytest.mark.parametrize("change", ["theme", "regularizer"])
def test_figures_that_would_look_different_are_built_anew(change: str) -> None:
    view, race = RaceView(), race_of()
    view.figures.prepare([run.solver for run in race.runs.values()], change == "regularizer")
    built = view.figures.charts
    view.theme = DARK if change == "theme" else view.theme
    view.show(race)
    assert view.charts is not built
    race.cancel()


def test_a_dark_page_gets_other_colours_and_keeps_the_curves_each_with_a_scale_of_its_own_for_weights() -> None:
    view = RaceView()
    run_to_the_end(view, race_of())
    light = view.figures.styles["walker"]
    view.theme = DARK
    assert view.figures.styles["walker"] != light
    assert len(source(view, "walker")["iteration"]) == 13
    assert DARK.card in view.page.root.stylesheets[0]
    ranges = {key: plot.y_range for key, plot in view.charts.weights.items()}
    assert len({each.id for each in ranges.values()}) == len(ranges) == 2
    for key, each in ranges.items():
        top, _anchor = each.renderers
        assert top.data_source is view.charts.sources[f"run-{key}"]
        assert top.glyph.y == "top"
        assert max(top.data_source.data["top"]) == max(trace.max() for trace in view.race.traces[key].weights)
    # a browser that has drawn them with their anchors keeps the ranges, as nothing new comes of runs that have ended
    assert not any(anchor.visible for anchor in view.charts.weight_anchors.values())


def test_the_score_is_asked_for_once_for_each_run_that_has_ended() -> None:
    view, race, score = RaceView(), race_of(), Mock(return_value=0.875)

    def tick_answered() -> None:
        view.heartbeat.ack = view.heartbeat.seq
        view.tick(time.monotonic())

    view.show(race, score=score)
    ran(race)
    wait_for(lambda: view.page.table.object.count("87.5 %") == 2, "the scores", tick_answered)
    assert [call.args for call in score.call_args_list] == [(run.trace.final,) for run in race.runs.values()]


def test_a_race_nobody_watches_is_held_and_goes_on_until_it_is_given_up() -> None:
    view, connected = RaceView(), False
    view.hold_unseen.is_seen = lambda: connected
    race = Race(problem("blobs, C = 1"), [Walker()], rules=(MaxIter(100_000),), pace=200.0)
    view.show(race)
    race.start()
    wait_for(lambda: len(race.runs["walker"].trace) >= 3, "three steps")
    for now in (100.0, 100.0 + HOLD_AFTER):
        tick(view, now)
    assert race.status == "running"
    tick(view, 101.0 + HOLD_AFTER)
    rest(race)
    held = len(race.runs["walker"].trace)
    connected = True
    tick(view, 110.0)
    assert len(source(view, "walker")["iteration"]) >= held
    assert race.status == "running"
    race.step(0)  # its viewer pauses it: it stays paused after a lost connection
    rest(race)
    for seen, now in ((False, 120.0), (False, 121.0 + HOLD_AFTER), (True, 122.0 + HOLD_AFTER)):
        connected = seen
        tick(view, now)
    assert race.status == "paused"
    race.start()
    connected = False
    for now in (200.0, 201.0 + GIVE_UP_AFTER):
        tick(view, now)
    assert race.wait(PATIENCE)
    assert race.runs["walker"].status == "stopped"


def test_the_table_is_a_table_with_headings_and_movement_is_written_as_people_say_it() -> None:
    row = {"key": "pgd", "style": RunStyle("PGD <1>", "#777777", "solid", "circle")}
    found = RunResult(iterations=5, svm_solves=9, seconds=0.25, objective=3120.04, gap=0.0099, active=4, kernels=7)
    ended = {"status": "limit", "reason": "Reached the limit of 5 iterations.", "result": found}
    table = result_table([ResultRow(**row, **ended)])
    assert len(re.findall(r'<th scope="col"', table)) == 11
    assert re.search(r'<th scope="row">.*PGD &lt;1&gt;</th>', table)
    for text in ("not converged", "Reached the limit", ">5<", ">9<", "0.25 s", "3,120.0", "0.99 %", ">–<"):
        assert text in table
    moved = [Motion(9, 2.14, 1.07), Motion(9, 56.4, 1.0), Motion(9, 1234.0, 0.0)]
    tables = [result_table([ResultRow(**row, status="converged", motion=motion)]) for motion in moved]
    cells = [re.findall(r"<td>([^<]*(?:×|%))</td>", each) for each in tables]
    assert cells == [["2.14×", "50 %"], ["56×", "98 %"], ["1,234×", "100 %"]]
    assert "nothing was" in moved_words(Motion(9, 0.5, 0.5))


def test_each_end_has_a_word_a_sign_and_a_sentence_of_its_own() -> None:
    style = RunStyle("PGD", "#777777", "solid", "circle")
    pattern = r'<span class="word (\w+)" title="([^"]*)"><i aria-hidden="true" data-sign="([^"]+)"></i>([^<]+)</span>'
    states = ("ready", "running", "paused", *FINAL)
    found = [re.findall(pattern, result_table([ResultRow("pgd", style, state)]))[0] for state in states]
    assert [state for state, *_ in found] == list(states)
    for state, meaning, _, _ in found:
        assert meaning.endswith(".") == (state in FINAL)
    for cue in (2, 3):
        assert len({parts[cue] for parts in found}) == len(states)
    assert len({meaning for _, meaning, _, _ in found if meaning}) == len(FINAL)


def test_one_sentence_says_how_the_race_stands() -> None:
    race = race_of(Walker())
    race.step(0)
    rest(race, 0)
    assert race_sentence(race) == "Paused: 0 of 1 solvers finished; Walker: no step yet."
    race = race_of(Walker(), Walker(breaks=0))
    assert race_sentence(race) == "Ready to run."
    race.step(3)
    rest(race)
    assert race_sentence(race) == "Paused: 0 of 2 solvers finished; Walker failed; Walker at iteration 2."
    race.cancel()


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("converged", "The solver has finished."),
        ("failed", "The solver failed."),
        ("converged limit", "All 2 solvers have finished."),
        ("failed failed", "All 2 solvers failed."),
        ("stopped", "The solver was stopped."),
        ("stopped stopped", "All 2 solvers were stopped."),
        ("stopped failed", "Stopped: 0 of 2 solvers had finished before; B failed."),
        ("converged limit failed", "2 of 3 solvers have finished; C failed."),
        ("failed rule failed", "1 of 3 solvers has finished; A and C failed."),
        ("converged stopped", "Stopped: 1 of 2 solvers had finished before."),
        ("stopped failed limit", "Stopped: 1 of 3 solvers had finished before; B failed."),
        ("converged stopped ready", "Paused: 1 of 3 solvers finished; C: no step yet."),
    ],
)
def test_the_sentence_of_an_ended_race_counts_no_failure_among_those_that_finished(ends: str, said: str) -> None:
    named = zip("ABC", ends.split(), strict=False)
    runs = {name: SimpleNamespace(status=end, doing="", trace=MagicMock(label=name)) for name, end in named}
    assert race_sentence(cast(Any, SimpleNamespace(runs=runs))) == said


def test_the_iterations_of_a_stochastic_solver_are_called_epochs() -> None:
    blobs = problem("blobs, C = 1")
    posed = Problem(blobs.bank, blobs.y, Hinge(1.0, bias=False), GroupSquaredPlusL1(1.0, 0.1))
    view = RaceView()
    view.show(Race(posed, ["ufo"], (MaxIter(3),)))
    assert view.charts.objective.xaxis.axis_label == "iteration (epoch for UFO-MKL)"
    assert view.charts.gap.xaxis.axis_label == "iteration"  # a small chart has no room for more
    view.large = "gap"
    assert view.charts.gap.xaxis.axis_label == "iteration (epoch for UFO-MKL)"
    assert view.charts.objective.xaxis.axis_label == "iteration"
    view.large = "objective"
    view.x_axis = "seconds"
    assert view.charts.objective.xaxis.axis_label == "CPU seconds"
