"""The page until a race begins: a recording of the chosen race, dimmed and marked as one, and its figures in advance.

Solvers are compiled once on a machine, which takes half a minute: until then the recording plays. Later it stands there
as a whole. A race that is not exactly a recorded scenario waits without a recording.
"""

from __future__ import annotations

import math
from time import monotonic

from mklviz.engine.warmup import WARMUP
from mklviz.record.bundle import recording
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.race_view import Playback, RaceView
from mklviz.views.sidebar.run_panel import RunPanel
from mklviz.views.sidebar.sidebar import Sidebar

PLAYED = "A recording of this race. Press Run to start the solvers."
YOURS_FOLLOWS = "A recording of this race: yours begins when the first solver is compiled, once on this machine."


class ColdStart:
    """Shows the recording of a scenario until its race begins: it plays where solvers are being compiled."""

    def __init__(self, sidebar: Sidebar, view: RaceView) -> None:
        self._sidebar, self._view = sidebar, view
        self._scenario, self._delayed = "", False
        self.awaited = False  # whether Run was pressed, so that a guess comes too late

    @property
    def bridges(self) -> bool:
        """Whether a recording plays because its solvers are being compiled."""
        return self._view.playback is not None and self._delayed and WARMUP.running

    @property
    def set_up(self) -> str:
        """The scenario that the controls set up, if it was recorded; "" while its lesson waits for a guess."""
        scenario = self._sidebar.scenario
        asks = scenario.lesson.open and not (scenario.lesson.guess.value or self.awaited)
        as_it_is = not (scenario.changed or self._sidebar.blocked or asks)
        return scenario.choice.value if as_it_is and recording(scenario.choice.value) else ""

    def update(self, pace: float, drawable: bool, seen: bool = True) -> None:
        """Without a race: begin, if the figures are `drawable` and `seen`, or end where another race was set up."""
        scenario, playback = self.set_up, self._view.playback
        if playback is None:
            if seen and scenario and (drawable or WARMUP.running):
                self._begin(scenario, pace, drawable)
        elif scenario == self._scenario:
            playback.pace = pace
        else:
            self._view.clear()

    def _begin(self, scenario: str, pace: float, drawable: bool) -> None:
        recipe = self._sidebar.recipe
        delayed = WARMUP.delays([choice.name for choice in recipe.solvers])
        if delayed or drawable:
            self._scenario, self._delayed = scenario, delayed
            self._view.play(Playback(scenario, recipe, pace, whole=not delayed))


IDLE = 0.5  # seconds without a touch, after which the figures are built


class FiguresAhead:
    """Builds the figures of the next race when no control was touched for a moment."""

    def __init__(self, sidebar: Sidebar, figures: RaceFigures) -> None:
        self._sidebar, self._figures = sidebar, figures
        self._touched_at = 0.0

    @property
    def built(self) -> bool:
        """Whether the figures of what is set up are there, or on their way to the browser."""
        return math.isinf(self._touched_at)

    def touch(self) -> None:
        """Wait, for something has changed."""
        self._touched_at = monotonic()

    def tick(self, now: float) -> None:
        """Build the missing figures; call it while there is no race."""
        if not self._sidebar.blocked and now - self._touched_at > IDLE:
            self._touched_at = math.inf  # once, until something is touched
            recipe = self._sidebar.recipe
            solvers = [choice.make(recipe.split.seed) for choice in recipe.solvers]
            self._figures.prepare(solvers, recipe.problem.regularizer)


class WarmupProgress:
    """Shows the warm-up while nothing else runs."""

    def __init__(self, run_panel: RunPanel) -> None:
        self._run_panel = run_panel
        self._shown = False

    def tick(self, state: str) -> None:
        """Show how far the warm-up is, in a `state` of the page in which there is no race to wait for."""
        warming = WARMUP.running and state in ("empty", "finished")
        if warming or self._shown:
            self._run_panel.show_progress(WARMUP.fraction, WARMUP.sentence if warming else "")
        self._shown = warming
