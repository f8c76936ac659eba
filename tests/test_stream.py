"""What a run adds to its source: nothing lost, nothing twice, never too much, and always the last iterate."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.protocol.messages.patch_doc import patch_doc

from mklviz.contract import Facts, Iterate
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.views.chart.columns import (
    COLUMNS,
    MOST_POINTS,
    KernelSlots,
    Thinning,
    empty_source,
    race_slots,
    recent_weights,
)
from mklviz.views.race.readings import RunFeed

KERNELS = 9
NAMES = [f"kernel {k}" for k in range(KERNELS)]


def iterate(t: int, weights: np.ndarray | None = None, **changes: float) -> Iterate:
    """Return the t-th step of a run that converges like 1 / t."""
    values = {"objective": 10.0 + 1.0 / (t + 1), "lower_bound": 10.0, "step": 1.0 / (t + 1), "svm_solves": 2 * t + 1}
    facts = Facts(svm_tolerance=1e-4)
    chosen = np.full(KERNELS, 1.0 / KERNELS) if weights is None else weights
    return Iterate(weights=chosen, dual=np.zeros(2), facts=facts, **{**values, **changes})


def grow(trace: Trace, steps: int) -> None:
    """Append so many steps."""
    for _ in range(steps):
        t = len(trace)
        trace.append(iterate(t), 0.5 * (t + 1))


def feed_of(trace: Trace, log_x: bool = False) -> RunFeed:
    return RunFeed(trace, KernelSlots(NAMES), empty_source("level"), log_x, offset=0)


def steps_drawn(feed: RunFeed) -> list[float]:
    return list(feed.source.data["iteration"])


def test_the_first_push_sends_the_whole_trace_in_every_column_and_later_ones_add_each_step_once() -> None:
    trace = Trace()
    grow(trace, 30)
    feed = feed_of(trace)
    assert feed.push("running")
    drawn = feed.source.data
    assert feed.source.name == "run-level"
    assert set(drawn) == set(COLUMNS)
    assert {len(column) for column in drawn.values()} == {30}
    assert drawn["own_gap"] == pytest.approx(trace.iterate_gap)
    for name in ("objective", "gap", "seconds", "svm_solves", "active"):
        assert drawn[name] == pytest.approx(getattr(trace, name))
    for steps in (1, 5, 0, 12):
        grow(trace, steps)
        assert feed.push("running") == (steps > 0)
    assert steps_drawn(feed) == list(range(48))


def test_a_column_is_filled_once_a_logarithmic_axis_has_something_to_show() -> None:
    trace = Trace()
    feed = feed_of(trace)
    trace.append(iterate(0, step=0.0), 0.5)
    trace.append(iterate(1, step=0.0), 1.0)
    feed.push("running")
    assert "gap" in feed.filled
    assert "step" not in feed.filled
    grow(trace, 1)
    feed.push("running")
    assert {"gap", "step"} <= feed.filled


def test_what_is_held_back_while_a_run_goes_on_comes_once() -> None:
    """As by a page: it reads each message as it is written, which is when Bokeh lets go."""
    trace, document, page = Trace(), Document(), Document()
    feed = feed_of(trace)
    document.add_root(feed.source)
    page.replace_with_json(document.to_json())

    def write(event: DocumentPatchedEvent) -> None:
        content = patch_doc.create([event]).content
        page.apply_json_patch(json.loads(serialize_json(content)))

    document.on_change(write)
    document.hold("collect")
    feed.push("running")  # whole and empty, which is held
    grow(trace, 2)
    feed.push("running")
    document.unhold()
    grow(trace, 5)
    feed.push("running")
    feed.restart()
    document.hold()
    feed.push("running")
    grow(trace, 3)
    feed.push("running")
    document.unhold()
    drawn = page.select_one({"name": "run-level"}).data
    assert list(drawn["iteration"]) == list(range(10)) == steps_drawn(feed)
    assert {len(column) for column in drawn.values()} == {10}


@pytest.mark.parametrize("log_x", [False, True])
def test_a_line_never_has_more_points_than_allowed_and_ends_at_the_last_iterate(log_x: bool) -> None:
    trace = Trace()
    feed = feed_of(trace, log_x)
    for steps in [1, 7, 50, 343, 1, 2000, 17, 5000, 3]:
        grow(trace, steps)
        feed.push("running")
        drawn = steps_drawn(feed)
        assert len(drawn) <= MOST_POINTS
        assert drawn == sorted(set(drawn))
    trace.finish(Verdict("limit", ""))
    feed.push("limit")
    drawn = steps_drawn(feed)
    assert drawn[0] == 0
    assert drawn[-1] == len(trace) - 1
    assert len(drawn) <= MOST_POINTS


@pytest.mark.parametrize("unread", [0, 1])  # steps, when the run ends: its status is read before its length
@pytest.mark.parametrize("status", ["paused", "converged", "stopped", "failed"])
def test_a_run_that_rests_shows_its_last_iterate_even_off_the_stride(status: str, unread: int) -> None:
    trace = Trace()
    feed = feed_of(trace)
    grow(trace, 3 * MOST_POINTS)
    feed.push("running")
    grow(trace, 2 - unread)
    feed.push("running")
    assert unread or steps_drawn(feed)[-1] < len(trace) - 1
    grow(trace, unread)
    feed.push(status)
    assert steps_drawn(feed)[-1] == len(trace) - 1
    assert not feed.push(status)


def test_points_on_a_logarithmic_axis_are_log_spaced() -> None:
    thinning = Thinning(log=True)
    thinning.coarsen(100_000)
    chosen = np.array(thinning.select(0, 100_000, -1), dtype=float)
    late = chosen[chosen > 100]
    assert np.diff(np.log(late)) == pytest.approx(np.log(1 + thinning.ratio), rel=0.5)
    per_decade = [((chosen >= 10**k) & (chosen < 10 ** (k + 1))).sum() for k in (2, 3, 4)]
    assert max(per_decade) <= 1.2 * min(per_decade)


def test_numbers_no_canvas_can_draw_leave_a_hole() -> None:
    trace = Trace()
    for t, objective in enumerate([1.0, 1e13, math.inf, math.nan, -1e300, 2.0]):
        trace.append(iterate(t, objective=objective), 0.0)
    feed = feed_of(trace)
    feed.push("running")
    drawn = feed.source.data["objective"]
    assert [drawn[0], drawn[-1]] == [1.0, 2.0]
    assert all(math.isnan(number) for number in drawn[1:-1])


def test_the_motion_on_screen_is_that_of_the_trace() -> None:
    trace, feed = Trace(), None
    rng = np.random.default_rng(0)
    for t in range(12):
        trace.append(iterate(t, rng.dirichlet(np.ones(KERNELS))), 0.0)
        feed = feed or feed_of(trace)
        feed.look_seconds = 60.0
        feed.push("running")
        assert feed.motion == trace.motion
    assert feed.motion.verdict == "oscillates"


def one_hot(*weights: float) -> np.ndarray:
    return np.pad(np.array(weights), (0, KERNELS - len(weights)))


def run_of(weights: np.ndarray, status: str = "running", names: Sequence[str] = NAMES) -> Trace:
    trace = Trace(kernel_names=names)
    trace.append(iterate(0, weights), 0.0)
    trace.status = status
    return trace


def test_kernels_are_grey_until_a_run_has_converged_and_then_keep_their_colours() -> None:
    ramp = np.arange(KERNELS) / 36.0
    runs = [run_of(ramp), run_of(one_hot(0.9))]
    slots = race_slots(runs)
    assert not slots.coloured
    assert set(slots.slots) == {8, 7, 6, 5, 4, 0}
    runs[0].status = "converged"
    assert race_slots(runs).coloured
    chosen = list(slots.slots)
    assert set(chosen) == {8, 7, 6, 5, 4, 3}
    runs[1].status = "converged"  # another solver, another view or a page that is loaded again change nothing
    assert race_slots([*runs, run_of(one_hot(0.0, 0.8), "converged")]).slots == chosen
    runs = [run_of(one_hot(0.9), "limit"), run_of(one_hot(0.0, 0.9))]  # where none converges, when all have ended
    assert not race_slots(runs).coloured
    runs[1].status = "stopped"
    assert {0, 1} <= set(race_slots(runs).slots)
    assert race_slots(runs).coloured


def test_a_kernel_has_the_colour_of_its_index_not_of_its_rank_and_keeps_it_in_the_next_race() -> None:
    names = [f"kernel of this test {k}" for k in range(12)]
    first = race_slots([run_of(np.arange(12) / 12, "converged", names=names)]).slots
    again = race_slots([run_of(np.arange(12)[::-1] / 12 + 9 * (np.arange(12) > 5), "converged", names=names)]).slots
    assert first == again == [6, 7, 8, 9, 10, 11]
    other = race_slots([run_of(np.isin(np.arange(12), [0, 1, 8, 9, 10, 11]) * 1.0, "converged", names=names)]).slots
    assert other == [0, 1, 8, 9, 10, 11]
    back = race_slots([run_of(np.isin(np.arange(12), [2, 0, 6, 9, 10, 11]) * 1.0, "converged", names=names)]).slots
    assert [back.index(k) for k in (9, 10, 11)] == [3, 4, 5]


def test_a_kernel_in_grey_gives_way_only_to_one_that_is_a_quarter_larger_and_never_to_those_of_another_race() -> None:
    recording, race = run_of(one_hot(0.1, 0.9), "converged"), run_of(one_hot(0.9))
    known = race_slots([recording])
    assert race_slots([race], known) is known  # of the recording it follows
    assert race_slots([run_of(np.ones(3), names=["a", "b", "c"])], known) is not known
    runs = [run_of(one_hot(0.3, 0.2, 0.15, 0.12, 0.11, 0.10))]
    assert set(race_slots(runs).slots) == set(range(6))
    runs.append(run_of(one_hot(0.3, 0.2, 0.15, 0.12, 0.11, 0.0, 0.11)))
    assert 5 in race_slots(runs).slots
    runs.append(run_of(one_hot(0.3, 0.2, 0.15, 0.12, 0.11, 0.0, 0.14)))
    assert 6 in race_slots(runs).slots


def test_recent_weights_are_the_mean_of_the_last_steps() -> None:
    trace = Trace()
    for t in range(14):
        trace.append(iterate(t, np.arange(KERNELS) * float(t)), 0.0)
    assert recent_weights(trace, 1) == pytest.approx(np.zeros(KERNELS))
    assert recent_weights(trace, 3) == pytest.approx(np.arange(KERNELS) * 1.0)
    assert recent_weights(trace, 14) == pytest.approx(np.arange(KERNELS) * 8.5)


def test_few_kernels_have_a_slot_each() -> None:
    slots = KernelSlots(["one", "two"])
    assert slots.slots == [0, 1]
    assert slots.coloured
    trace = run_of(np.array([0.6, 0.4]))
    feed = RunFeed(trace, slots, empty_source("level"), log_x=False, offset=0)
    feed.push("running")
    assert [feed.source.data[f"w{slot}"][0] for slot in (0, 1)] == [0.6, 0.4]
    assert math.isnan(feed.source.data["w2"][0])


@pytest.mark.parametrize("steps", [3, 3 * MOST_POINTS])
def test_the_weights_axis_reaches_to_the_largest_weight_there_ever_was(steps: int) -> None:
    trace = run_of(one_hot(0.1))
    feed = feed_of(trace)
    trace.append(iterate(1, one_hot(*[0.0] * 7, 0.9)), 0.0)  # of a kernel that is not drawn
    feed.push("running")
    for t in range(steps):
        trace.append(iterate(t + 2, one_hot(0.1)), 0.0)
    feed.push("running")
    feed.restart()
    feed.push("converged")
    assert set(feed.source.data["top"]) == {0.9}
