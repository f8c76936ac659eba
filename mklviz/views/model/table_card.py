"""A card of the Model tab that takes a table and gives it back with what the solution shown predicts for its rows."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import PurePath
from typing import Any

from mklviz.datasets import DataError
from mklviz.engine import Race
from mklviz.engine.task import Task
from mklviz.numbers import counted
from mklviz.recipe import Recipe
from mklviz.recipe.new_samples import Columns, predicted_by
from mklviz.record.summary import write_csv
from mklviz.views.form import File, Form, ProgressBar
from mklviz.views.host.ticks import Polling
from mklviz.views.look import cards
from mklviz.views.model.model_card import Subject
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.own_table import ACCEPTED, UPLOAD_LIMIT, check_size

_ABOUT = (
    "Choose a table with the same columns: it comes back with what this solution predicts for each row, in a column"
    " more. Where it has the target, too, how many are right is said here."
)


class TableCard(cards.Rooted):
    """The card; `subject` tells which solution is shown, and `look` hands over what is ready."""

    def __init__(self, subject: Callable[[], tuple[object, Subject] | None]) -> None:
        super().__init__()
        self._subject = subject
        self._session: Session | None = None
        self._race: Race | None = None
        self._polling = Polling(self.look)
        self.task = Task[tuple[str, bytes, str]]()
        self.file = File(label="Choose a table", accept=ACCEPTED, limit=UPLOAD_LIMIT, description="CSV, Excel, ...")
        self.said, self._bar = note(spoken=True), ProgressBar(label="Predicting", visible=False)
        self.file.param.watch(self._begin, "value")
        self.file.param.watch(lambda event: say(self.said, event.new), "trouble")
        self.form = Form(self.file, self._bar, self.said)
        about = cards.html(cards.heading("Predict a table", _ABOUT))
        self.root = cards.card(about, self.form)

    def follow(self, session: Session) -> None:
        """Follow the session: what was said of another race is forgotten, and kernels without features have no card."""
        if session.race is not self._race:
            self.close()
            say(self.said, "")
        self._session, self._race = session, session.race
        self.root.visible = session.prepared is not None and session.prepared.train.n_features > 0

    def _begin(self, event: Any) -> None:
        shown, session = self._subject(), self._session
        if event.new is None or shown is None or session is None or session.recipe is None:
            return
        name, size, content, recipe = self.file.filename or "table.csv", self.file.size, event.new, session.recipe
        try:
            check_size(name, size)
        except DataError as error:
            say(self.said, str(error))
            return
        say(self.said, "")
        self._bar.visible = True
        subject = shown[1]
        self.task.ask(
            object(), lambda _report: _filled(recipe, subject, content, name), f"{name} could not be predicted"
        )
        self._polling.begin()

    def look(self) -> bool:
        """Hand over the table, if it is there; return whether none is awaited."""
        if not self.task.ended:
            return not self.task.working
        made = self.task.take()
        self._bar.visible = False
        say(self.said, self.task.fault if made is None else made[2])
        if made is not None:
            self.form.hand_over(*made[:2])
        return True

    def close(self) -> None:
        self._polling.end()
        self.task.forget()
        self._bar.visible = False


def _filled(recipe: Recipe, subject: Subject, content: bytes, name: str) -> tuple[str, bytes, str]:
    """Return the name and the bytes of a table with predictions, and what to say of them."""
    table = Columns.of(recipe.load()).table(content, name)
    found = predicted_by(recipe, subject.prepared, subject.iterate, table)
    file = BytesIO()
    write_csv(found.beside(table), file)
    said = filter(None, (f"{subject.label}: {counted(len(table.frame), 'row')}", found.score(table)))
    return f"{PurePath(name).stem} predicted.csv", file.getvalue(), " ".join([f"{'; '.join(said)}.", *found.notes])
