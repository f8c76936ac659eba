"""The tab Stopping without a browser: what it draws are the numbers of the replays."""

from functools import cache

import numpy as np
import pytest
from _ticks import following, shown, until
from _waits import wait_for
from test_tabs import raced

from mklviz.analysis.stopping import DIGITS, RULES, judge, threshold_text
from mklviz.engine import Race, WeightChange, replay
from mklviz.views.look.palette import DARK
from mklviz.views.session.session import Session
from mklviz.views.tabs.stopping import SHOWN, Stopping, above_words


@cache
def race() -> Race:
    return raced("silp", "level", "spg", steps=30)


def opened() -> tuple[Session, Stopping]:
    session = shown(race())
    session.score = lambda iterate: 0.9
    return session, following(session, Stopping())


def drawn(tab: Stopping, rule: str, threshold: float) -> bool:
    """Choose a rule with its threshold, and return whether that is drawn."""
    tab.rule.value = next(found for found in RULES if found.title == rule)
    tab.threshold.value = DIGITS.index(threshold)
    until(tab, lambda: tab.seen.tables["threshold"]["y"] == [threshold] and not tab.task.working)
    return tab.judgement is not None


def test_the_table_and_the_figures_tell_where_the_rule_stops_each_run() -> None:
    _, tab = opened()
    assert drawn(tab, "Change of the weights", 0.02)
    level = race().traces["level"]
    found = replay(level, WeightChange(0.02), race().traces.values())
    assert f"at step {found.step} of {len(level) - 1}" in tab.table.object
    assert f">{above_words(found.last)}</td>" in tab.table.object
    assert "90.0 %" in tab.table.object
    place = list(tab.seen.tables["lines"]["label"]).index("Level")
    seen = np.array(tab.seen.tables["lines"]["ys"][place])
    assert np.flatnonzero(seen <= 0.02)[0] == found.step
    mark = list(tab.seen.tables["marks"]["x"]).index(found.step)
    assert tab.seen.tables["marks"]["y"][mark] == seen[found.step]
    tab.run.value = "level"
    tab.tick(0.0)
    weights = dict(zip(tab.bars.tables["bars"]["name"], tab.bars.tables["bars"]["weight"], strict=True))
    names = race().problem.bank.names
    for name, weight in weights.items():
        assert weight == pytest.approx(found.best.iterate.weights[names.index(name)])


def test_a_smaller_threshold_stops_later_one_that_nobody_reaches_never_and_what_is_not_reported_is_said() -> None:
    _, tab = opened()
    assert drawn(tab, "Duality gap of the run", 0.1)
    early = tab.judgement.replays["level"].step
    assert drawn(tab, "Duality gap of the run", 0.01)
    assert early < tab.judgement.replays["level"].step
    assert drawn(tab, "Duality gap of the run", DIGITS[0])
    assert "never, in 30 steps" in tab.table.object
    assert drawn(tab, "Gap of the cutting planes", 0.01)
    assert tab.table.object.count("not reported") == 1
    assert tab.judgement.silent == {"spg"}


def test_races_that_are_kept_are_offered_and_have_no_held_out_samples() -> None:
    session, tab = opened()
    session.race_history.add("Before", raced("level", steps=12).traces)
    session.race_history.add("This", race().traces)
    tab.tick(0.0)
    assert list(tab.race.options) == [SHOWN, "1. Before"]
    tab.race.value = "1. Before"
    until(tab, lambda: tab.judgement is not None and list(tab.judgement.traces) == ["level"])
    until(tab, lambda: "held-out" in tab.table.object.lower())
    assert "90.0 %" not in tab.table.object


def test_it_waits_for_a_run_that_has_ended_and_follows_the_theme() -> None:
    assert "Press Run" in Stopping.supports(Session())
    going = Race(race().problem, ["level"])
    going.step(1)
    session = shown(going)
    wait_for(lambda: len(going.traces["level"]), "the first step")
    assert "let one end" in Stopping.supports(session)
    going.cancel()
    session, tab = opened()
    until(tab, lambda: bool(tab.seen.tables["lines"]["xs"]))
    session.theme = DARK
    assert not tab.seen.tables["lines"]["xs"]
    until(tab, lambda: bool(tab.seen.tables["lines"]["xs"]))


def test_the_truth_is_drawn_above_the_best_bound_of_all_runs() -> None:
    traces = race().traces
    found = judge(traces, WeightChange(0.1), None)
    least = min(trace.best.objective for trace in traces.values())
    bound = max(trace.best_bound.lower_bound for trace in traces.values())
    level = traces["level"]
    assert found.own["level"] == pytest.approx((level.objective - bound) / least)
    bests = [level[level.best_index_at(t)].objective for t in range(len(level))]
    assert found.best["level"] == pytest.approx((np.array(bests) - bound) / least)


@pytest.mark.parametrize("rule", RULES)
def test_every_threshold_has_its_own_words(rule: object) -> None:
    names = [threshold_text(rule, value) for value in DIGITS]  # type: ignore[arg-type]
    assert len(set(names)) == len(DIGITS)
    assert rule.usual in DIGITS  # type: ignore[attr-defined]


def test_a_threshold_that_no_run_reaches_can_be_moved_to_another() -> None:
    """What was drawn is told from what is to be drawn, also where no run stops and the same arrays are looked at."""
    rules = (WeightChange(1e-300), WeightChange(2e-300))
    first, second = (judge(race().traces, rule, None) for rule in rules)
    for found in (*first.replays.values(), *second.replays.values()):
        assert found.verdict is None
    assert (first, "silp") == (first, "silp")
    assert (first, "silp") != (second, "silp")
