"""RACE: every curve of the race as it grows, the table of results, and the cards that appear at the end."""

from __future__ import annotations

from functools import partial

from mklviz.views.race.ended_cards import MinimaCard, PathCard
from mklviz.views.race.equivalence_card import EquivalenceCard
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab


class RaceTab(Tab):
    """The live view of the race, with three cards below its table once it has ended."""

    title, order = "Race", 0

    def __init__(self) -> None:
        super().__init__()
        self.view, self.minima = RaceView(), MinimaCard()
        self.root = self.race_view = self.view
        self.equivalence, self.path = EquivalenceCard(), PathCard()
        self._cards: tuple[MinimaCard | EquivalenceCard | PathCard, ...] = ()  # for the owner's page alone

    def follow(self, session: Session) -> None:
        """Show the session's race, in its colours, with the step it stands at."""
        shown_alone = session.follows or session.missing
        self._cards = () if shown_alone else (self.minima, self.equivalence, self.path)
        for part in (self.minima, self.path):
            part.set_dark(session.theme.dark)
        if session.race is not self.view.race:
            for card in (self.minima, self.equivalence, self.path):  # also where this race will have none
                card.clear()
        self.view.drag_cursor(partial(setattr, session, "cursor"), anywhere=False)
        self.view.follow(session)

    def tick(self, now: float) -> None:
        """Draw what is new, and begin with the cards when the race has ended."""
        if self.shown:
            self.view.tick(now)
        else:
            self.view.hold(now)
        race = self.view.race
        ended = race is not None and race.status == "finished"
        if ended and not self.view.slot.objects:
            self.view.slot.objects = list(self._cards)  # not earlier: a page opens faster with fewer parts
        for card in self._cards:
            if ended:
                card.begin(race)
            card.update()

    def close(self) -> None:
        for card in self._cards:
            card.clear()
