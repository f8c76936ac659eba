"""What one person looks at: the recipe, its problem and its race, the step shown and the colours.

Tabs read it and keep no copy. Who changes it changes it once, and every tab follows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import param

from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.views.chart.kernel_colours import KernelColours
from mklviz.views.look.palette import LIGHT, theme_for
from mklviz.views.session.race_history import MOST_PINNED, KeptRace, RaceHistory

__all__ = ["Session"]


class Session(param.Parameterized):
    """What one person looks at.

    Attributes
    ----------
    recipe : Recipe or None
        What defines the race that is shown.
    prepared : Prepared or None
        Its problem and its test samples.
    race : Race or None
    cursor : int or None
        The step that is shown; None follows the end.
    theme : Theme
    pinned : tuple of Kept
        Races of the album that are drawn in grey behind the one that is shown.
    scenario : Scenario or None
        The lesson that is set up, which those who follow see as well.
    verdict : Answer, str or None
        What came of its question: the answer, a sentence why there is none ("" where nothing was asked), or None as
        long as nothing is known.
    gives_way : bool
        Whether the race to come waits for memory: nobody who looks at the one before had better hold it.
    follows : bool
        Whether the race is somebody else's, to look at and not to touch.
    score : callable or None
        Test score of an iterate, computed once for all who look at the race.
    album : Album
        Races that have ended.
    kernel_colours : KernelColours
        The same in all tabs.
    link : callable or None
        Returns the end of an address that opens what is looked at, from a tab's name, a step or None, and more words.
    on_points : callable or None
        Called with points that were drawn, as a file and its name; returns the digest recipes know them by, or raises
        with a sentence.
    on_key : callable or None
        Called with " ", "s", "x" or "r" when the key is pressed.
    """

    recipe = param.Parameter(default=None)
    prepared = param.Parameter(default=None)
    race = param.Parameter(default=None)
    cursor = param.Integer(default=None, bounds=(0, None), allow_None=True)
    theme = param.Parameter(default=LIGHT)
    pinned = param.Parameter(default=())
    scenario = param.Parameter(default=None)
    verdict = param.Parameter(default=None)

    def __init__(self, follows: bool = False, **params: Any) -> None:
        super().__init__(**params)
        self.follows, self.gives_way = follows, False
        self.race_history = RaceHistory()
        self.kernel_colours = KernelColours()
        self.score: Callable[[Iterate], float] | None = None
        self.link: Callable[[str, int | None, Mapping[str, str]], str] | None = None
        self.on_points: Callable[[bytes, str], str] | None = None
        self.on_key: Callable[[str], None] | None = None

    def show(self, recipe: Recipe, prepared: Prepared, race: Race) -> None:
        """Turn to another race; ending the one before is up to the caller."""
        self.score = _once(prepared.score)
        self.param.update(recipe=recipe, prepared=prepared, race=race, cursor=None)

    def keep(self) -> None:
        """Keep the race, which has ended, to be shown again."""
        own = self.recipe is None or self.recipe.data.own
        self.race_history.add(
            "Own data" if own else self.recipe.data.source.replace("_", " ").capitalize(), self.traces
        )

    def pin(self, kept: KeptRace) -> str:
        """Draw a race that has ended in grey behind the one that is shown; return in a sentence why not, if so."""
        if len(self.pinned) >= MOST_PINNED:
            return f"{MOST_PINNED} races are pinned already: take one of them off first."
        if kept not in self.pinned:
            self.pinned = (*self.pinned, kept)
        return ""

    def unpin(self, kept: KeptRace) -> None:
        """Draw a race no longer."""
        self.pinned = tuple(other for other in self.pinned if other is not kept)

    def take(self, other: Session) -> None:
        """Turn to the race of another session, which may be followed on."""
        self.score = other.score
        self.param.update(recipe=other.recipe, prepared=other.prepared, race=other.race, cursor=None)

    def clear(self) -> None:
        """Turn to no race."""
        self.score = None
        self.param.update(recipe=None, prepared=None, race=None, cursor=None)

    def give_way(self, wanted: bool) -> None:
        """Give up the race while the next one waits for memory, which may be its own; its steps stay in the album."""
        self.gives_way = wanted
        if wanted and self.race is not None:
            self.clear()

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.theme = theme_for(dark, self.theme.projected)

    def project(self, projected: bool) -> None:
        """Use large type and lines, for a room, or those of a usual size."""
        self.theme = theme_for(self.theme.dark, projected)

    def press(self, key: str) -> None:
        """Hand on a key that was pressed."""
        if self.on_key is not None:
            self.on_key(key)

    @property
    def traces(self) -> dict[str, Trace]:
        """What the runs have left behind so far."""
        return {} if self.race is None else self.race.traces

    @property
    def last_step(self) -> int:
        """The last step of the longest run; -1 as long as there is none."""
        return max((trace.last_step for trace in self.traces.values()), default=-1)

    @property
    def tolerance(self) -> float | None:
        """The gap at which runs stop, or the projected gradient where the problem is not convex."""
        recipe = self.recipe
        return recipe.stop.gap if recipe.convex else recipe.stop.projected_gradient


def _once(score: Callable[[Iterate], float]) -> Callable[[Iterate], float]:
    """Return `score` that computes once for each iterate; asked from several threads."""
    known: dict[int, tuple[Iterate, float]] = {}  # the iterate is kept, so that no other gets its id
    lock = threading.Lock()

    def ask(iterate: Iterate) -> float:
        with lock:
            if id(iterate) not in known:
                known[id(iterate)] = iterate, score(iterate)
            return known[id(iterate)][1]

    return ask
