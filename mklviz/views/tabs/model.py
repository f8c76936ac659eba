"""MODEL: what a solver has learned at the step shown, computed in a thread, the section drawn longest ago first."""

from __future__ import annotations

from time import monotonic

from mklviz.engine import Race
from mklviz.views.form import Form, FormRow, Select
from mklviz.views.host.page_session import is_on_page
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme
from mklviz.views.look.styles import race_styles
from mklviz.views.model.model_card import ModelCard, ModelSection, Subject, TableCard, coarse_decision
from mklviz.views.model.points_card import PointsCard
from mklviz.views.race.cursor_bar import CursorBar
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs import FigureTab
from mklviz.views.tabs._previews import weights_preview

EVERY = 1.0  # seconds between two drawings of a section while the race goes on
CLASSES = 20  # in a confusion matrix


def _in_the_plane(session: Session) -> str | None:
    train = session.prepared.train
    return "" if train.grams is None and train.X.shape[1] == 2 else None


def _held_out(session: Session) -> str | None:
    test = session.prepared.test
    if not len(test.y):
        return "There are no held-out samples: all are trained on."
    if len(test.classes) > CLASSES:
        return f"A confusion matrix is drawn for up to {CLASSES} classes; there are {len(test.classes)}."
    return ""


def _several(session: Session) -> str | None:
    bank = session.race.problem.bank
    return "" if bank.kind == "sum" and len(bank) > 1 else None


_WIDE = "auto-fit, minmax(min(380px, 100%), 1fr)"
SECTIONS = (
    ModelSection("Decision surface", "decisions", _WIDE, _in_the_plane, coarse=coarse_decision),
    ModelSection("Kernel weights", "weights", _WIDE),
    ModelSection("On held-out samples", "judged", "auto-fit, minmax(min(300px, 100%), 1fr)", _held_out),
    ModelSection("Gram matrices", "grams", "auto-fit, minmax(210px, 1fr)", resting=True),
    ModelSection("Kernel similarity", "similarities", _WIDE, _several, resting=True),
)


class Model(FigureTab):
    """What one of the solvers, the `run` chosen, has learned; `points` can be changed, and `table` predicts tables."""

    title, order = "Model", 7
    rest = 0.4  # seconds without another step after which the cursor rests
    preview = staticmethod(weights_preview)

    def __init__(self) -> None:
        super().__init__()
        self.bar = CursorBar(self.frames)
        self._shown: tuple[Race | None, Theme | None] = (None, None)
        self._cursor: int | None = None  # where it was at the last tick
        self._moved_at = 0.0
        self.run = Select(label="Solution of", options={}, value="", width=360)
        self.label = note()
        self.cards = [ModelCard(section) for section in SECTIONS]
        self.points, self.table = PointsCard(), TableCard(self._subject)
        decisions, *others = self.cards
        head = Form(FormRow(self.run, self.label, wrap=True), margin=(0, 0, 8, 0))
        shown = (decisions, self.points, *others, self.table)
        self.root = cards.column(head, self.bar, *shown, self.frames.heartbeat)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race that has taken a step is needed."""
        if session.missing:
            return session.missing
        if session.last_step < 0 or session.prepared is None:
            return "Press Run first: this tab shows what a solver has learned, from its kernels to its predictions."
        return ""

    # -- what is shown

    def follow(self, session: Session) -> None:
        """Show the session's race, in its colours, at its step."""
        self._session = session
        race = session.race
        styles = {} if race is None else race_styles(race, session.theme)
        if (race, session.theme) != self._shown:
            if race is not self._shown[0]:
                self.bar.set_playing(False)
            self._shown = race, session.theme
            self.run.offer({style.label: key for key, style in styles.items()})
            for card in self.cards:
                nothing = race is None or session.prepared is None  # a race that has just begun has no step yet
                card.refuse(None if nothing else card.section.refuses(session))
        self.points.follow(session)
        self.table.follow(session)
        self.bar.follow(session, styles)

    def _subject(self) -> tuple[tuple[Race, str, int, Theme], Subject] | None:
        """Return the subject to show with a key that identifies it, in which its step is; None if there is nothing."""
        session = self._session
        if session.race is None or self.supports(session):
            return None
        key, trace = self.run.value, session.traces.get(self.run.value)
        if trace is None or not len(trace):
            return None
        first, last = trace.first_step, trace.last_step
        style = race_styles(session.race, session.theme)[key]
        if session.cursor is None:
            step, yet = trace.best_index, "" if session.race.status == "finished" else " so far"
            label = f"The solution of {style.label}{yet}, found at step {first + step:,} of {last:,}"
        else:
            step = max(trace.index_at(session.cursor), 0)
            note = ", its last" if session.cursor > last else ", its first" if session.cursor < first else ""
            label = f"{style.label} at step {first + step:,}{note}"
        subject = Subject(session.prepared, trace[step], label, style, session.theme)
        return (session.race, key, first + step, session.theme), subject

    # -- what has happened

    def tick(self, now: float) -> None:
        """Show computed figures, and begin the next ones that are due and visible."""
        session = self._session
        if not self.shown:
            return
        self.bar.tick(now)
        moment = monotonic()
        if not self.frames.ready(moment) or self.frames.behind(moment):
            return
        moves = self._moves(session, moment)
        working = [card for card in self.cards if card.working]
        with self.frames.in_order():
            fresh, drawn = [card.update() for card in working], self.points.update()
        on_page = is_on_page([plot for card in self.cards for plot in card.figures])
        if on_page and (drawn or any(not card.working for card in working)):
            self.frames.send(moment, figures=drawn or any(fresh))
        if not any(card.task.working for card in self.cards):
            self._begin(session, moment, moves)

    def _moves(self, session: Session, moment: float) -> bool:
        """Return whether the cursor moves; what can be drawn quickly follows it."""
        if session.cursor != self._cursor:
            self._cursor, self._moved_at = session.cursor, moment
        moves = session.cursor is not None and moment - self._moved_at < self.rest
        now_shown = self._subject() if moves else None
        if now_shown is not None:
            for card in self.cards:
                card.begin_coarse(*now_shown)
        return moves

    def _begin(self, session: Session, moment: float, moves: bool) -> None:
        """Begin the section that was drawn longest ago, of those that are out of date."""
        now_shown = self._subject()
        if now_shown is None:
            return
        key, subject = now_shown
        say(self.label, f"{subject.label}.")
        self.bar.rest_at(key[2])
        resting = session.race.status in ("finished", "paused")
        for card in self.cards:
            if card.section.resting and not resting and card.root.visible:
                card.wait()
        due = [
            card
            for card in self.cards
            if card.task.key != key
            and card.section.refuses(session) == ""
            and (resting or (not card.section.resting and moment - card.begun_at >= EVERY))
            and not (card.section.resting and self.bar.playing)
            and not (card.section.coarse and card.figures and moves)
        ]
        if due:
            min(due, key=lambda card: card.begun_at).begin(key, subject)

    def close(self) -> None:
        self.bar.set_playing(False)
        self.points.close()
        self.table.close()
        for card in self.cards:
            card.forget()
