"""Figures for the race that is set up, built while the page is idle."""

from __future__ import annotations

import math
from time import monotonic

from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["FiguresAhead"]

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
