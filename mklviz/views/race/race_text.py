"""The numbers and words of a race: table, headings of the weights, time, milestones and status."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mklviz.engine import Race
from mklviz.record import FINAL
from mklviz.record.motion import Motion
from mklviz.views.chart.race_charts import enlargements
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import News
from mklviz.views.race.results import ResultRow, milestone_table, result_rows, states_of
from mklviz.views.race.scores import Score, Scores

__all__ = ["WORDS_EVERY", "RaceText"]

WORDS_EVERY = 0.5  # seconds between changes of text


class RaceText:
    """Writes what the figures do not draw."""

    def __init__(self, page: RacePage) -> None:
        self._page = page
        self.begin()
        self._written_at = 0.0

    def begin(self, score: Score | None = None, regression: bool = False) -> None:
        """Expect another race.

        `score` tells the test accuracy of an iterate, or R² in a regression; it is called in a thread, once for each
        run that has ended.
        """
        self.scores, self._regression = Scores(score), regression

    def due(self, race: Race | None, news: News, sent_at: float, now: float) -> bool:
        """Return whether it is time to write: at once when a run ends, otherwise now and then.

        The last numbers are written when nothing changes any more; the progress of a long step is always written.
        """
        changed = news.points or news.states
        if now - self._written_at >= WORDS_EVERY:
            in_a_step = race is not None and any(run.doing for run in race.runs.values())
            return changed or in_a_step or self._written_at < sent_at
        return news.states or (not changed and self._written_at < sent_at)

    def ask_for_scores(self, race: Race | None, states: Sequence[str]) -> bool:
        """Have the runs that have ended scored; return whether there is a new score to write."""
        return race is not None and self.scores.update(race, states)

    def write(self, race: Race | None, figures: RaceFigures, step: int | None, now: float) -> None:
        """Update all text, as of a step or the end."""
        self._written_at = now
        if race is None:
            self._write_nothing()
            if figures.drawn is not None:
                self._head_recording(figures)
        else:
            self._write_race(race, figures, step)

    def _write_nothing(self) -> None:
        self._page.say_precision("")
        self._page.milestones.object = ""
        self._page.bars.param.update(items=[], spent={})

    def _write_race(self, race: Race, figures: RaceFigures, step: int | None) -> None:
        page, readings, styles, hidden = self._page, figures.readings, figures.styles, figures.hidden
        states, traces = states_of(race), race.traces
        score = partial(self.scores.at, traces)
        rows = result_rows(traces, styles, readings.motions, score, hidden, step, states)
        page.bars.follow(traces, styles, hidden)
        page.weights.name(rows, readings.motions, enlargements(readings.largest), figures.options.theme)
        page.say(rows, self._regression, step)
        page.show_tolerance(readings.tolerance_varies)
        page.say_precision(race.precision)
        ended = all(state.status in FINAL for state in states.values())
        page.milestones.object = milestone_table(traces, styles) if ended else ""

    def _head_recording(self, figures: RaceFigures) -> None:
        """Name the runs of a recording above their weights. Their motion stays hidden, as a lesson may ask about it."""
        styles = figures.styles
        still = {key: Motion() for key in styles}
        rows = [ResultRow(key, style, "running", hidden=key in figures.hidden) for key, style in styles.items()]
        self._page.weights.name(rows, still, enlargements(figures.readings.largest), figures.options.theme)
