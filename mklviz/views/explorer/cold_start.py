"""The page until a race begins: a recording of the chosen race, dimmed and marked as a recording.

Solvers are compiled once on a machine, which takes half a minute: until then the recording plays. Later it stands there
as a whole. A race that is not exactly a recorded scenario waits without a recording.
"""

from __future__ import annotations

from mklviz.engine.warmup import WARMUP
from mklviz.record.bundle import recording
from mklviz.views.race.race_view import Playback, RaceView
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["PLAYED", "YOURS_FOLLOWS", "ColdStart"]

PLAYED = "A recording of this race. Press Run to start the solvers."
YOURS_FOLLOWS = "A recording of this race: yours begins when the first solver is compiled, once on this machine."


class ColdStart:
    """Shows the recording of a scenario until its race begins: it plays where solvers are being compiled."""

    def __init__(self, sidebar: Sidebar, view: RaceView) -> None:
        self._sidebar, self._view = sidebar, view
        self._scenario, self._delayed = "", False

    @property
    def bridges(self) -> bool:
        """Whether a recording plays because its solvers are being compiled."""
        return self._view.playback is not None and self._delayed and WARMUP.running

    @property
    def set_up(self) -> str:
        """The scenario that the controls set up, if its race has been recorded; "" otherwise."""
        scenario = self._sidebar.scenario
        as_it_is = not (scenario.changed or self._sidebar.blocked)
        return scenario.choice.value if as_it_is and recording(scenario.choice.value) else ""

    def update(self, pace: float, drawable: bool) -> None:
        """Begin, or end where another race has been set up; to be called while there is no race.

        `drawable` says whether the figures are there, for which no visitor is to wait.
        """
        scenario, playback = self.set_up, self._view.playback
        if playback is None:
            if scenario and (drawable or WARMUP.running):
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
            solvers = [choice.make(recipe.split.seed) for choice in recipe.solvers]
            regularizer = recipe.problem.regularizer
            self._view.play(Playback(recording(scenario), solvers, regularizer, pace, whole=not delayed))
