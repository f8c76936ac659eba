"""Cards of the Model tab: a section, computed in a thread and changed in place where possible; a table to predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import PurePath
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import FactorRange, GlyphRenderer, Range1d

from mklviz.analysis.decisions import level_lines, mesh_over, values_over
from mklviz.contract import Iterate
from mklviz.datasets import DataError
from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.numbers import counted
from mklviz.recipe import Recipe
from mklviz.recipe.new_samples import Columns, predicted_by
from mklviz.recipe.prepared import Prepared
from mklviz.record.summary import write_csv
from mklviz.views.form import Button, File, Form, FormRow, ProgressBar
from mklviz.views.host.ticks import Polling
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.own_table import ACCEPTED, UPLOAD_LIMIT, check_size

_DRAWN_BY = "mklviz.views.model.model_sections"  # which loads HoloViews, once the card is seen
_MOVES = "Coarse while the step changes."
ONE_SECTION = Lock()  # is drawn at a time in a process: HoloViews keeps its options in one place
CoarseModel = Sequence[tuple[str, Mapping[str, Any]]]  # of each renderer of a figure: its glyph, and other columns


@dataclass(frozen=True)
class Subject:
    """The iterate that is drawn, with its label, such as "Level, step 3"."""

    prepared: Prepared
    iterate: Iterate
    label: str  # solver and step, such as "Level, step 3"
    style: RunStyle
    theme: Theme


@dataclass(frozen=True)
class ShownModel:
    """What a section shows: a sentence, and Bokeh figures."""

    words: str
    figures: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ModelSection:
    """What a card shows."""

    title: str
    draws: str  # the function of `mklviz.views.model.model_sections` that draws it
    columns: str  # of its figures, as CSS ``repeat`` takes them
    # why there is nothing to show, "" if there is; None hides the card
    refuses: Callable[[Session], str | None] = lambda _session: ""
    resting: bool = False  # whether it waits until the race rests
    coarse: Callable[[Subject, ProgressReport], CoarseModel] | None = None  # draws quickly while the step changes


class ModelCard(cards.Rooted):
    """The card of one section; `begun_at` is the time of the last request for its figures."""

    def __init__(self, section: ModelSection) -> None:
        super().__init__()
        self.section, self.begun_at = section, 0.0
        self.figures: tuple[Any, ...] = ()
        self.task = Task[ShownModel](ONE_SECTION)
        self.coarse = Task[CoarseModel](Lock())
        self._polling = Polling(self._look)
        self._titles: list[pn.pane.HTML] = []
        self._words, self._progress = cards.html(), note()
        self._stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", visible=False, width=80)
        self._grid = cards.grid(columns=section.columns)
        heading = cards.html(cards.title(section.title))
        self.root = cards.card(heading, self._words, self._grid, Form(FormRow(self._progress, self._stop)))

    def begin(self, key: object, subject: Subject) -> None:
        """Compute the figures of `subject`; `key` identifies it."""
        self.begun_at, drawn = monotonic(), partial(_drawn, self.section.draws, subject)
        self.task.ask(key, drawn, f"{self.section.title} could not be computed", "Computing: {}.")

    def begin_coarse(self, key: object, subject: Subject) -> None:
        """Draw `subject` quickly into the figures that are there, if the section can; `key` identifies it."""
        if self.section.coarse is not None and self.figures and key != self.coarse.key:
            self.task.forget()
            self._stop.visible = False
            say(self._progress, "")
            drawn = partial(self.section.coarse, subject)
            self.coarse.ask(key, drawn, f"{self.section.title} could not be computed")
            self._polling.begin()

    def _look(self) -> bool:
        """Draw what was computed quickly; return whether nothing is awaited any more."""
        tables = self.coarse.take() or ()
        if tables:
            self._words.object = cards.lines(_MOVES)
        for plot in self.figures:
            for renderer, (glyph, columns) in zip(_glyphs(plot), tables, strict=False):
                if type(renderer.glyph).__name__ == glyph:
                    renderer.data_source.data = {**renderer.data_source.data, **columns}
        return not self.coarse.working

    def forget(self) -> None:
        self._polling.end()
        self.task.forget()
        self.coarse.forget()

    def refuse(self, reason: str | None) -> None:
        """Show `reason` in place of figures, or nothing at all."""
        self.forget()
        self.root.visible = reason is not None
        self._show("", ())
        say(self._progress, reason or "")

    def wait(self) -> None:
        """Announce figures for when the race rests, where there are none yet."""
        if not (self.figures or self.task.working or self.task.fault):
            say(self._progress, "Drawn when the race rests: pause it, or wait for its end.")

    @property
    def working(self) -> bool:
        """Whether figures are still to be shown."""
        return self.task.working or self.coarse.working

    def update(self) -> bool:
        """Show computed figures; return whether they replaced others."""
        if not self._polling.going:
            self._look()
        if not self.task.working:
            return False
        model = self.task.take()
        self._stop.visible = self.task.working and monotonic() - self.begun_at > 1.0
        if self._stop.visible or not (self.task.working and self.figures):
            say(self._progress, self.task.status)
        return model is not None and self._show(model.words, model.figures)

    def _show(self, words: str, figures: tuple[Any, ...]) -> bool:
        self._words.object = cards.lines(words)
        alike = len(figures) == len(self.figures)
        if alike and all(adopt(old, new) for old, new in zip(self.figures, figures, strict=True)):
            for title, plot in zip(self._titles, figures, strict=True):
                title.object = _title(plot)
            return False
        self.figures, self._titles = figures, [cards.html(_title(plot)) for plot in figures]
        self._grid.objects = [cards.cell(*pair) for pair in zip(self._titles, figures, strict=True)]
        return bool(figures)


def _title(plot: Any) -> str:
    return f'<div class="head"><b>{escape(plot.title.text)}</b></div>' if plot.title.text else ""


def _drawn(draws: str, subject: Subject, report: ProgressReport) -> ShownModel:
    model: ShownModel = getattr(import_module(_DRAWN_BY), draws)(subject, report)
    return model


def adopt(old: Any, new: Any) -> bool:
    """Make a figure on a page show the data of a `new` one; return whether it can: they differ in data alone."""
    pairs = list(zip(_glyphs(old), _glyphs(new), strict=False))
    alike = len(_glyphs(old)) == len(_glyphs(new)) and old.height == new.height
    if not alike or not all(_alike(one, other) for one, other in pairs):
        return False
    for name in ("x_range", "y_range"):
        one, other = getattr(old, name), getattr(new, name)
        if isinstance(one, FactorRange):
            one.factors = other.factors
        elif isinstance(one, Range1d):
            one.update(start=other.start, end=other.end, reset_start=other.reset_start, reset_end=other.reset_end)
    for one, other in pairs:
        one.data_source.data = dict(other.data_source.data)
        for mapper, fresh in zip(_mappers(one), _mappers(other), strict=True):
            mapper.update(low=fresh.low, high=fresh.high, palette=fresh.palette)
    return True


def _glyphs(plot: Any) -> list[GlyphRenderer]:
    return [renderer for renderer in plot.renderers if isinstance(renderer, GlyphRenderer)]


def _alike(one: GlyphRenderer, other: GlyphRenderer) -> bool:
    same = type(one.glyph) is type(other.glyph) and set(one.data_source.data) == set(other.data_source.data)
    colours = [[str(getattr(of.glyph, name, "")) for of in (one, other)] for name in ("line_color", "fill_color")]
    named = all(a == b for a, b in colours if a.startswith("#"))
    return same and len(_mappers(one)) == len(_mappers(other)) and named


def _mappers(renderer: GlyphRenderer) -> list[Any]:
    """Return the mapper from values to colours."""
    fill = getattr(renderer.glyph, "fill_color", None)
    mappers = [getattr(renderer.glyph, "color_mapper", None), getattr(fill, "transform", None)]
    return [mapper for mapper in mappers if hasattr(mapper, "palette")]


ACROSS = 40  # meshes: some milliseconds, of which a picture in all detail takes hundreds


def coarse_decision(subject: Subject, report: ProgressReport) -> CoarseModel:
    """Return the columns of the first renderers of `draw_decision`; none unless there are two classes."""
    report(0.0)
    train, it = subject.prepared.train, subject.iterate
    if train.task != "binary":
        return ()
    x, y = mesh_over(train.X, ACROSS)
    values = values_over(subject.prepared.problem, it.weights, it.dual, x, y)
    zeros, margins = (level_lines(x, y, values, *levels) for levels in ((0.0,), (-1.0, 1.0)))
    lines = [{"xs": [x for x, _ in drawn], "ys": [y for _, y in drawn]} for drawn in (zeros, margins)]
    return [("Image", {"image": [values.astype(np.float32)]}), *(("MultiLine", columns) for columns in lines)]


# -- a card that takes a table and gives it back with what the solution shown predicts for its rows


_ABOUT = (
    "Choose a table with the same columns: it comes back with what this solution predicts for each row, in a column"
    " more. Where it has the target, too, how many are right is said here."
)


class TableCard(cards.Rooted):
    """The card; `subject` tells which solution is shown, and `look` hands over what is ready."""

    def __init__(self, subject: Callable[[], tuple[object, Subject] | None]) -> None:
        super().__init__()
        self._subject = subject
        self._session: Session  # from the first `follow` on
        self._race: Race | None = None
        self._polling = Polling(self.look)
        self.task = Task[tuple[str, bytes, str]]()
        self.file = File(label="Choose a table", accept=ACCEPTED, limit=UPLOAD_LIMIT, description="CSV, Excel, ...")
        self.status, self._bar = note(spoken=True), ProgressBar(label="Predicting", visible=False)
        self.file.param.watch(self._begin, "value")
        self.file.param.watch(lambda event: say(self.status, event.new), "trouble")
        self.form = Form(self.file, self._bar, self.status)
        about = cards.html(cards.heading("Predict a table", _ABOUT))
        self.root = cards.card(about, self.form)

    def follow(self, session: Session) -> None:
        """Follow the session: what was said of another race is forgotten, and kernels without features have no card."""
        if session.race is not self._race:
            self.close()
            say(self.status, "")
        self._session, self._race = session, session.race
        self.root.visible = session.prepared is not None and session.prepared.train.n_features > 0

    def _begin(self, event: Any) -> None:
        shown, session = self._subject(), self._session
        if event.new is None or shown is None or session.recipe is None:
            return
        name, size, content, recipe = self.file.filename or "table.csv", self.file.size, event.new, session.recipe
        try:
            check_size(name, size)
        except DataError as error:
            say(self.status, str(error))
            return
        say(self.status, "")
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
        say(self.status, self.task.fault if made is None else made[2])
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
    predicted = predicted_by(recipe, subject.prepared, subject.iterate, table)
    file = BytesIO()
    write_csv(predicted.beside(table), file)
    texts = filter(None, (f"{subject.label}: {counted(len(table.frame), 'row')}", predicted.score(table)))
    return f"{PurePath(name).stem} predicted.csv", file.getvalue(), " ".join([f"{'; '.join(texts)}.", *predicted.notes])
