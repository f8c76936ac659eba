"""The numbers and words of a race, the scores of its ends, how far its axes reach, and the controls above them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.engine.task import Task
from mklviz.record import FINAL, Trace
from mklviz.record.weights import Motion
from mklviz.views.chart.axes import axis_end, counted
from mklviz.views.chart.race_charts import enlargements
from mklviz.views.form import Button, Checkbox, Form, FormRow, Note, Segments, follow
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import News
from mklviz.views.race.results import ResultRow, milestone_table, result_rows, why_no_curves

Score = Callable[[Iterate], float | None]
Solution = tuple[str, int]  # the key of a run, and the step of its solution


class Scores:
    """The test scores of the solutions shown; `score_of` is called in a thread, once for each of them."""

    def __init__(self, score_of: Score | None = None) -> None:
        self.task = Task[float | None]()
        self._score_of = score_of
        self._known: dict[object, float] = {}
        self._wanted: dict[str, Solution] = {}  # the solution asked for last, of each run; older ones are dropped

    def at(self, traces: Mapping[str, Trace], key: str, step: int) -> float:
        """Return the score of a run's solution as of a step, nan as long as it is not known; `update` asks for it."""
        solution = key, traces[key].best_index_at(step)
        if step < len(traces[key]) - 1:
            self._wanted[key] = solution
        return self._known.get(solution, math.nan)

    def update(self, race: Race, states: Sequence[str]) -> bool:
        """Take a finished score, and ask for the next missing one; return whether there is a new one."""
        news = self.task.ended
        if news:
            score = self.task.take()
            self._known[self.task.key] = math.nan if score is None else score
        if self._score_of is not None and not self.task.working:
            solution = self._missing(race, states)
            if solution is not None:
                key, step = solution
                score_of, iterate = self._score_of, race.runs[key].trace[step]
                failed = f"The test score of {key} could not be computed"
                self.task.ask(solution, lambda _report: score_of(iterate), failed)
        return news

    def _missing(self, race: Race, states: Sequence[str]) -> Solution | None:
        """Return a solution whose score is missing, first among those that are shown."""
        ended = [
            (key, run.trace.best_index)
            for (key, run), state in zip(race.runs.items(), states, strict=True)
            if state in FINAL and len(run.trace)
        ]
        return next((one for one in (*self._wanted.values(), *ended) if one not in self._known), None)


WORDS_EVERY = 0.5  # seconds between changes of text


class RaceText:
    """Writes what the figures do not draw."""

    def __init__(self, page: RacePage) -> None:
        self._page = page
        self.begin()
        self._written_at = 0.0

    def begin(self, score: Score | None = None, regression: bool = False) -> None:
        """Expect another race; `score` is called in a thread, and is R² in a regression, otherwise accuracy."""
        self.scores, self._regression = Scores(score), regression

    def due(self, race: Race | None, news: News, sent_at: float, now: float) -> bool:
        """Return whether to write: at once when a run ends, at last when nothing changes, otherwise now and then."""
        changed = news.points or news.states
        if now - self._written_at >= WORDS_EVERY:
            in_a_step = race is not None and any(run.doing for run in race.runs.values())
            return changed or in_a_step or self._written_at < sent_at
        return news.states or (not changed and self._written_at < sent_at)

    def write(self, race: Race | None, figures: RaceFigures, step: int | None, now: float) -> None:
        """Update all text, as of a step or the end."""
        self._written_at = now
        if race is not None:
            self._write_race(race, figures, step)
            return
        self._page.say_precision("")
        self._page.milestones.object = ""
        self._page.bars.param.update(items=[], spent={})
        if figures.drawn is not None:
            self._head_recording(figures)

    def _write_race(self, race: Race, figures: RaceFigures, step: int | None) -> None:
        page, readings, styles, hidden = self._page, figures.readings, figures.styles, figures.hidden
        ended, traces = race.finished, race.traces  # in this order: a final status makes a trace final
        rows = result_rows(race, styles, readings.motions, partial(self.scores.at, traces), hidden, step)
        page.say_instead("" if figures.pins.races else why_no_curves(race))
        page.bars.follow(traces, styles, hidden)
        page.weights.name(rows, readings.motions, enlargements(readings.largest))
        page.say(rows, self._regression, step)
        page.figure_cards["tolerance"].visible = readings.tolerance_varies
        page.say_precision(race.precision)
        page.milestones.object = milestone_table(traces, styles) if ended else ""

    def _head_recording(self, figures: RaceFigures) -> None:
        """Name the runs of a recording above their weights. Their motion stays hidden, as a lesson may ask about it."""
        styles = figures.styles
        still = {key: Motion() for key in styles}
        rows = [ResultRow(key, style, "running", hidden=key in figures.hidden) for key, style in styles.items()]
        self._page.weights.name(rows, still, enlargements(figures.readings.largest))


# -- how far the horizontal axes reach, and the controls above the figures


class LongRuns:
    """Ends the axis before a run that would squeeze the others into a sliver, and says so beside a button for all."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.whole = False  # whether the whole axis is shown
        self.note = Note(small=True, visible=False)
        self.button = Button(self._turn, variant="text", visible=False)
        self.form = Form(FormRow(self.note, self.button, wrap=True), sizing_mode=None)

    def begin(self) -> None:
        self.whole = False
        self._say("", "")

    def update(self, figures: RaceFigures) -> None:
        """Bring axis and words up to date; hidden and failed runs do not count, and a log axis has room for all."""
        charts, feeds, hidden, styles = figures.charts, figures.readings.feeds, figures.hidden, figures.styles
        if charts is None:
            return
        x, states = charts.options.x, dict(zip(feeds, figures.readings.states, strict=False))
        seen = {key: feeds[key] for key, state in states.items() if key not in hidden and state != "failed"}
        reached = {
            key: feed.position(feed.trace.last_step).get(x, 0.0) for key, feed in seen.items() if len(feed.trace)
        }
        ended = {key: states[key] in FINAL for key in reached}
        end = math.inf if charts.options.log_x else axis_end(reached, ended)
        beyond = [f"{styles[key].label} goes on to {counted(far, x)}" for key, far in reached.items() if far > end]
        words = f"Not shown: {', '.join(beyond)}." if beyond and not self.whole else ""
        self._say(words, "Show where the others end" if beyond and self.whole else "Show all" if beyond else "")
        figures.change(lambda charts: charts.set_end(math.inf if self.whole else end))

    def _say(self, text: str, label: str) -> None:
        self.note.param.update(object=text, visible=bool(text))
        self.button.param.update(label=label, visible=bool(label))

    def _turn(self, *_: object) -> None:
        self.whole = not self.whole
        self._changed()


_ABOVE = (
    "Draws the objective less the best lower bound of all solvers. It is done by itself where the plain curves lie too"
    " flat to be told apart."
)

_CORNER = {"position": "absolute", "top": "6px", "right": "12px"}  # takes no room from the figure


def race_controls(view: Any, reset_zoom: Callable[..., None]) -> list[Any]:
    """Return the controls of a view with the parameters `large`, `x_axis`, `log_x` and `log_y`."""
    menus = [Segments(label=view.param[name].label, options=view.param[name].names) for name in ("large", "x_axis")]
    boxes = [Checkbox(label=view.param[name].label) for name in ("log_x", "log_y")]
    for control, name in zip((*menus, *boxes), ("large", "x_axis", "log_x", "log_y"), strict=True):
        follow(control, view, name)
    reset = Button(lambda *_: reset_zoom(), label="Reset zoom", variant="text")
    return [Form(FormRow(*menus, *boxes, reset, wrap=True), sizing_mode=None)]


def above_box(view: Any) -> Form:
    """Return the box beside the heading of the objective, for a view with the parameter `above`."""
    box = Checkbox(label=view.param.above.label, description=_ABOVE)
    follow(box, view, "above")
    return Form(FormRow(box), sizing_mode=None, styles=_CORNER, css_classes=["aside"])
