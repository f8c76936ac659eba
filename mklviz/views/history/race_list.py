"""The list of races: one component, whatever their number. The browser asks for the rows that it is about to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

import param

from mklviz.engine import solver_classes
from mklviz.engine.registry import style_of
from mklviz.record.store import StoredRun
from mklviz.views.history.past_race import ENDED, PastRace, when
from mklviz.views.host.beside import LET_GO, beside
from mklviz.views.host.component import ScriptedComponent
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, readable, swatch

__all__ = ["PAGE", "RaceList"]

PAGE = 40  # rows that are sent at once


class RaceList(ScriptedComponent):
    """Races as rows that scroll; only those in view are drawn, and only their neighbours sent.

    `total`: how many there are; `version`: grows when rows say something else; `first`: the first page of rows;
    `chosen`: keys of the races that are ticked. `act` is called with "open" or "pin" and the key of a race.
    """

    total = param.Integer(default=0)
    version = param.Integer(default=0)
    first = param.List(default=[])
    chosen = param.List(default=[])

    _esm = LET_GO + beside(__file__, "race_list.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "race_list.css")]

    def __init__(self, act: Callable[[str, str], None], **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", "margin": 0, **params})
        self._act, self._races, self._theme = act, list[PastRace](), LIGHT

    def show(self, races: Sequence[PastRace], theme: Theme) -> None:
        """List races in this order."""
        self._races, self._theme = list(races), theme
        there = {race.id for race in races}
        chosen = [key for key in self.chosen if key in there]
        self.param.update(total=len(races), first=self.rows(0), version=self.version + 1, chosen=chosen)

    def rows(self, page: int) -> list[dict[str, Any]]:
        """Return what stands in the rows of a page."""
        now = datetime.now().astimezone()
        return [self._row(race, now) for race in self._races[page * PAGE : (page + 1) * PAGE]]

    def _row(self, race: PastRace, now: datetime) -> dict[str, Any]:
        first = race.first
        return {
            "id": race.id,
            "name": race.name,
            "words": race.words,
            "lesson": race.lesson,
            "tags": list(first.tags),
            "pinned": first.pinned,
            "when": when(first.created, now),
            "at": f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}",
            "state": "" if race.state == ENDED else race.state,
            "result": race.result,
            "solvers": [[run.label, swatch(_style(run, self._theme))] for run in race.runs],
        }

    def receive(self, message: Any) -> None:
        """Send rows that are asked for, or take what the visitor did to one."""
        page, done, key = (message.get(name) for name in ("page", "act", "id"))
        if type(page) is int and 0 <= page * PAGE < len(self._races):
            self.send({"page": page, "version": self.version, "rows": self.rows(page)})
        elif done in ("open", "pin") and any(race.id == key for race in self._races):
            self._act(done, key)


def _style(run: StoredRun, theme: Theme) -> RunStyle:
    """Return the style of a run's solver; a branch is dashed in figures alone, for its label says where it began."""
    from_ = solver_classes().get(run.solver)
    if from_ is None:
        return RunStyle(run.label, theme.muted, "solid", "circle")
    own = style_of(from_)
    return RunStyle(
        run.label, readable(own.colour_dark if theme.dark else own.colour, theme.card), own.dash, own.marker
    )
