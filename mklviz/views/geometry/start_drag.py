"""The handle at the start of the paths of a map: let go, it begins a race from there, which all tabs show.

While it is dragged, the browser draws the paths of small problems, which it solves itself. Former paths stay as ghosts,
and races from former starts are kept for `undo`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mklviz.analysis.landscape import why_no_start
from mklviz.analysis.weight_map import WeightMap
from mklviz.engine import Race
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.form import Button, FormRow
from mklviz.views.host.components import DragHandle
from mklviz.views.host.solved_paths import solved_paths
from mklviz.views.look.palette import RunStyle
from mklviz.views.session.launcher import race_from

MOST_FORMER = 12  # races that are kept for undo
HINT, LET_GO = "Drag me", "Let go to start here"


class StartDrag:
    """The handle and its buttons; `on_race` takes the race that all tabs are to show: without it there is no handle."""

    def __init__(self, redraw: Callable[[], None]) -> None:
        self.handle = DragHandle(label="Start of the paths", hint=HINT)
        self.handle.on_move = self._move
        self.on_race: Callable[[Race], None] | None = None
        self.words = ""
        self._redraw = redraw
        self._race: Race | None = None
        self._styles: Mapping[str, RunStyle] = {}
        self._map: WeightMap | None = None
        self.held = False
        self._let_go: Array | None = None  # weights to begin at as soon as the race has ended
        self._coming: Race | None = None  # shown as soon as it has steps
        self._former: list[Race] = []
        self._cleared = 0  # how many of the former races have no ghosts any more
        self._undo = Button(lambda *_: self.undo(), label="Undo", width=80, visible=False)
        self._clear = Button(lambda *_: self.clear_ghosts(), label="Clear former paths", width=160, visible=False)
        self.row = FormRow(self._undo, self._clear)

    # -- what it belongs to

    def follow(self, race: Race | None, styles: Mapping[str, RunStyle]) -> None:
        """Turn to a race; one on another problem has no former paths."""
        self._styles = styles
        if race is not None and self._race is not None and not race.shares_problem(self._race):
            self._former, self._cleared, self.handle.place = [], 0, []
        if race is not self._race:
            self._give_up()
            self.words = ""
        self._race = race
        self._show_buttons()

    def lie(self, map_: WeightMap | None, figure: str) -> None:
        """Lie on a map, in the figure of that id."""
        self._map = map_
        self.handle.lie(figure)

    def update(self) -> None:
        """Take over what has happened to the race."""
        if self.held or self._race is None:
            return
        if self._coming is not None:
            self._arrive(self._coming)
        elif self._let_go is not None and self._race.finished:
            self._begin(self._race, self._let_go)
        elif self._race.finished:
            self._stand()

    @property
    def ghosts(self) -> Sequence[Mapping[str, Trace]]:
        return [race.traces for race in self._former[self._cleared :]]

    # -- what is done to it

    def _move(self, x: float, y: float, ended: bool) -> None:
        race, map_ = self._race, self._map
        if race is None or map_ is None or not self.handle.place:
            return
        self.handle.hint, self.held = "", not ended
        if self._coming is not None:
            self._coming.cancel()
            self._coming = None
        if ended:
            self._let_go = map_.weights_near(x, y)
            race.cancel()  # if it goes on, it began where this handle was let go before
            self.update()
            return
        solvers = {key: run.solver for key, run in race.runs.items()}
        looks = {key: (style.label, style.colour) for key, style in self._styles.items()}
        alone = solved_paths(race.problem, solvers, looks, map_, race.facts.names)
        self.handle.hand(alone)
        if alone is None:
            self.handle.hint = LET_GO

    def _begin(self, race: Race, weights: Array) -> None:
        """Let a race begin where the handle was let go, at full speed."""
        self._let_go = None
        try:
            self._coming = race_from(race, weights)
        except MklvizError as error:
            self._give_up()
            self.words = str(error)
            self._redraw()
            return
        self._coming.pace = 0.0
        self._coming.start()

    def _arrive(self, race: Race) -> None:
        """Let all tabs show the race that has begun, when it has steps to show."""
        if not (race.finished or all(len(trace) > 1 for trace in race.traces.values())):
            return
        if self._race is not None:
            self._former.append(self._race)
        if len(self._former) > MOST_FORMER:
            self._former, self._cleared = self._former[1:], max(self._cleared - 1, 0)
        self._coming = None
        self._tell(race)

    def _tell(self, race: Race) -> None:
        self._give_up()
        if self.on_race is not None:
            self.on_race(race)
        self._show_buttons()
        self._redraw()

    def undo(self) -> None:
        """Go back to the race from the start before."""
        if self._former:
            before = self._former.pop()
            self._cleared = min(self._cleared, len(self._former))
            self._tell(before)

    def clear_ghosts(self) -> None:
        """Draw no former paths any more; undo still leads to them."""
        self._cleared = len(self._former)
        self._show_buttons()
        self._redraw()

    def clear(self) -> None:
        """Compute nothing any more, and lie nowhere."""
        self.close()
        self._former, self._cleared, self.words, self.handle.place = [], 0, "", []

    def close(self) -> None:
        """Compute nothing any more, and leave the handle alone: its page is gone."""
        self._give_up()
        self._race, self._map = None, None

    def _give_up(self) -> None:
        if self._coming is not None:
            self._coming.cancel()
        self._let_go, self._coming, self.held = None, None, False

    # -- how it stands

    def _stand(self) -> None:
        """Lie where the race began, if another one can begin elsewhere."""
        race, map_ = self._race, self._map
        self_made = race is not None and self.on_race is not None and not race.missing
        if race is None or map_ is None or not self_made or why_no_start(race.problem):
            self.handle.place = []
            return
        began = [trace[0].weights for trace in race.traces.values() if len(trace) and trace.origin is None]
        if not began or not np.isfinite(map_.position(began[0])).all():
            self.handle.place = []
            return
        weights, names = began[0], race.facts.names
        heaviest = np.argsort(-weights, kind="stable")[:3]
        shares = ", ".join(f"{names[k]} {weights[k]:.2f}" for k in heaviest)
        self.handle.param.update(
            place=map_.position(weights).tolist(), position=f"Start: {shares}", share=round(100 * float(weights.max()))
        )

    def _show_buttons(self) -> None:
        self._undo.visible = bool(self._former)
        self._clear.visible = len(self._former) > self._cleared
