"""The page until a solver can begin: a recording of the chosen race, marked as a recording.

Solvers are compiled once on a machine, which takes half a minute. A race that is not exactly a recorded scenario waits
without a recording.
"""

from __future__ import annotations

from mklviz.engine.warmup import WARMUP
from mklviz.record.recordings import recording
from mklviz.views.race.playback import Playback
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["PLAYED", "YOURS_FOLLOWS", "ColdStart"]

PLAYED = "A recording of this race. Press Run to start the solvers."
YOURS_FOLLOWS = "A recording of this race: yours begins when the first solver is compiled, once on this machine."


class ColdStart:
    """Plays the recording of a scenario as long as its solvers are being compiled, and on until its race begins."""

    def __init__(self, sidebar: Sidebar, view: RaceView) -> None:
        self._sidebar, self._view = sidebar, view
        self._scenario = ""

    @property
    def playing(self) -> bool:
        """Whether a recording is on the page."""
        return self._view.playback is not None

    @property
    def set_up(self) -> str:
        """The scenario that the controls set up, if its race has been recorded; "" otherwise."""
        scenario = self._sidebar.scenario
        as_it_is = not (scenario.changed or self._sidebar.blocked)
        return scenario.choice.value if as_it_is and recording(scenario.choice.value) else ""

    def update(self, pace: float) -> None:
        """Begin, or end where another race has been set up; to be called while there is no race."""
        scenario, playback = self.set_up, self._view.playback
        if playback is None:
            if WARMUP.running and scenario:
                self._begin(scenario, pace)
        elif scenario == self._scenario:
            playback.pace = pace
        else:
            self._view.clear()

    def _begin(self, scenario: str, pace: float) -> None:
        recipe = self._sidebar.recipe
        if WARMUP.delays([choice.name for choice in recipe.solvers]):
            self._scenario = scenario
            solvers = [choice.make(recipe.split.seed) for choice in recipe.solvers]
            self._view.play(Playback(recording(scenario), solvers, recipe.problem.regularizer, pace))
