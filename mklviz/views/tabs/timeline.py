"""TIMELINE: back and forth over the steps of a race; every figure and the table show the chosen step."""

from __future__ import annotations

from mklviz.views.look import cards
from mklviz.views.race.cursor_bar import BranchCard, CursorBar
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab
from mklviz.views.tabs._previews import race_preview


class Timeline(Tab):
    """A cursor over the race, moved by hand or playing; `branch` lets another solver go on from the step shown."""

    title, order = "Timeline", 10
    preview = staticmethod(race_preview)

    def __init__(self) -> None:
        super().__init__()
        self.view, self.branch = RaceView(), BranchCard()
        self.bar = CursorBar(self.view.frames)
        self.view.drag_cursor(self.bar.go_to, anywhere=True)
        self.root = cards.column(self.bar, self.branch, self.view)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race that has taken steps is needed."""
        return "" if session.last_step > 0 else "Press Run first: the timeline goes back over the steps of a race."

    def follow(self, session: Session) -> None:
        """Show the session's race at its step."""
        if session.race is not self.view.race:
            self.bar.set_playing(False)
        self.view.follow(session)
        self.bar.follow(session, self.view.figures.styles)
        self.branch.follow(session, self.view.figures.styles, self.bar.step)

    def tick(self, now: float) -> None:
        """Draw what is new; while playing, go on."""
        self.view.tick(now)
        self.bar.tick(now)
        self.branch.stand_at(self.bar.step)

    def close(self) -> None:
        self.bar.playing = False
