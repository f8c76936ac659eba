"""Points drawn by hand: a figure in which they are added, dragged and removed, over what is learned from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Legend, LegendItem, LinearColorMapper, PointDrawTool
from bokeh.transform import factor_cmap, factor_mark

from mklviz.analysis.curves import Bar
from mklviz.analysis.drawn_points import (
    COARSE,
    FILE,
    FINE,
    MOST_LEARNED,
    MOST_POINTS,
    Field,
    Fineness,
    Points,
    as_file,
    learned,
    points_of,
    read_points,
)
from mklviz.datasets import DataError, Dataset
from mklviz.engine import Race
from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.quoting import cell
from mklviz.typing import Array
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, LineMark
from mklviz.views.form import Button, Form, FormRow, Segments, Switch
from mklviz.views.host.beside import beside
from mklviz.views.host.components import DraggedFigure
from mklviz.views.host.ticks import Polling
from mklviz.views.look import cards
from mklviz.views.look.palette import CLASS_MARKERS, FONT, Theme, class_colours, decision_shades
from mklviz.views.model.lab_charts import bar_table, bars_chart, lab_figure
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say

HEIGHT = 440  # pixels
CLASSES = len(CLASS_MARKERS)  # that can be told apart


class PointsFigure:
    """The figure; `on_change` is called when a person has changed the points, `on_drag` while one is dragged."""

    def __init__(
        self, points: Points, data: Dataset, theme: Theme, on_change: Callable[[], None], on_drag: Callable[..., None]
    ) -> None:
        """`data`: what the points are of, as they were at first."""
        self._corners, classes = points.window, data.classes
        self._drawn = ChartFigure(_chart(data.feature_names, self._corners, theme), theme, HEIGHT, tools="")
        self.plot = self._drawn.plot
        self.plot.grid.visible = False
        self.source = ColumnDataSource(_columns(points), name="drawn-points")
        self._taps = ColumnDataSource({"place": [], "at": []}, name="drawn-taps")  # the points that the last tap hit
        self._field = ColumnDataSource({"image": []}, name="drawn-field")
        self.dragged = DraggedFigure("drawn", on_drag)
        self._draw_field(classes, theme)
        self.tool = self._draw_points(classes, theme)
        self._adds, self._count = classes[0], len(points)
        self._on_change = on_change
        self.source.on_change("data", lambda _attr, _old, _new: self._changed())
        self._taps.on_change("data", lambda _attr, _old, _new: self._tapped())

    def _changed(self) -> None:
        """Take the points that the page sent; a tap from before the last change of mode counts in the new mode."""
        labels, before = self.source.data.get("label", []), self._count
        self._count = len(labels)
        if self._count != before + 1 or labels[-1] == self._adds:
            self._on_change()
            return
        last = [self._adds] if self._adds else []
        columns = {name: list(values)[: before + len(last)] for name, values in self.source.data.items()}
        self.source.data = columns | {"label": [*labels[:before], *last]}

    def _tapped(self) -> None:
        """Remove points that were tapped before the page learned that taps now remove them."""
        if self._adds:
            return
        hit = list(self._taps.data.get("place", []))
        columns = self.source.data.items()
        self.source.data = {name: [v for index, v in enumerate(values) if index not in hit] for name, values in columns}

    def set_points(self, points: Points) -> None:
        """Show other points, or again those that count."""
        self._count = len(points)
        self.source.data = _columns(points)

    def set_field(self, field: Field | None) -> None:
        self._field.data = {"image": [] if field is None else [field.values.astype(np.float32)]}
        for name in ("boundary", "margins"):
            lines = [] if field is None else getattr(field, name)
            self._drawn.show({name: {"xs": [x for x, _ in lines], "ys": [y for _, y in lines]}})

    def set_class(self, name: str) -> None:
        """Let taps add points of a class, or remove points for ""."""
        self._adds = name
        self.tool.update(add=bool(name), default_overrides={"label": name} if name else {})

    def _draw_field(self, classes: Sequence[str], theme: Theme) -> None:
        low, high = self._corners
        palette, least, most = decision_shades(theme, len(classes) if len(classes) > 2 else 0)
        mapper = LinearColorMapper(palette=palette, low=least, high=most)
        size = {"dw": float(high[0] - low[0]), "dh": float(high[1] - low[1])}
        area = {"x": float(low[0]), "y": float(low[1]), **size}
        self.plot.image("image", source=self._field, color_mapper=mapper, level="underlay", **area)

    def _draw_points(self, classes: Sequence[str], theme: Theme) -> PointDrawTool:
        factors, colours = list(classes), list(class_colours(theme)[: len(classes)])
        fill = factor_cmap("label", palette=colours, factors=factors)
        marker = factor_mark("label", list(CLASS_MARKERS[: len(classes)]), factors)
        style: dict[str, Any] = {"size": 10, "line_color": theme.card, "fill_color": fill, "marker": marker}
        alike = {"nonselection_fill_alpha": 1.0, "nonselection_line_alpha": 1.0}
        drawn = self.plot.scatter("x", "y", source=self.source, **style, **alike)
        legend = Legend(items=[LegendItem(label={"field": "label"}, renderers=[drawn])], location="top_left")
        legend.update(orientation="horizontal", border_line_color=None, background_fill_alpha=0.0, margin=0)
        legend.update(label_text_font=FONT, label_text_font_size=f"{12 * theme.scale:g}px", label_text_color=theme.text)
        self.plot.add_layout(legend, "above")
        tool = PointDrawTool(renderers=[drawn], add=True)
        self.plot.add_tools(tool)
        self.plot.toolbar.active_tap = tool
        models = {"source": self.source, "taps": self._taps, "tool": tool}
        script = self.dragged.script(beside(__file__, "points.js"), **models)
        for event in ("tap", "pan"):
            self.plot.js_on_event(event, script)
        return tool


def _chart(names: Sequence[str], corners: tuple[Array, Array], theme: Theme) -> Chart:
    """Describe the plane, with the line where f is zero and its margins."""
    spans = [(float(low), float(high)) for low, high in zip(*corners, strict=True)]
    x, y = (Axis(name, start=low, end=high) for name, (low, high) in zip(names, spans, strict=True))
    boundary = LineMark("boundary", "xs", "ys", theme.text, many=True)
    margins = LineMark("margins", "xs", "ys", theme.text, dash="dashed", width=1.0, many=True)
    return Chart("drawn", x=x, y=y, marks=(boundary, margins))


def _columns(points: Points) -> dict[str, list[Any]]:
    return {"x": list(points.x), "y": list(points.y), "label": list(points.labels)}


# -- the card of the Model tab to change them, which learns from them after each change


MOST_KERNELS = 200  # kernels up to which a sum is learned after each change
REMOVE = "removes a point"
_WORDS = (
    "A tap on the figure adds a point of the class chosen, or removes one; drag a point to move it. The decision is"
    " learned again from all points, coarsely while one of them moves. They are the data set “Drawn points” under Data:"
    " Run races on them, with its usual share held out. Places, also in the file, are as the kernels see them:"
    " standardized, where features are."
)
_BARS = '<div class="head"><b>Kernel weights</b></div><p class="why">Grey: before the last change.</p>'
_TOO_MANY = f"The decision is learned here from up to {MOST_LEARNED} points and {MOST_KERNELS} kernels: press Run."


class PointsCard(cards.Rooted):
    """The card; `points` are the last that could be used, `adds` is the class of those that taps add, "" to remove."""

    rest, most_points = 0.3, MOST_LEARNED  # seconds without a move after which a point that is still held rests

    def __init__(self) -> None:
        super().__init__()
        self.figure: PointsFigure | None = None
        self.points: Points | None = None
        self._session: Session  # from the first `follow` on
        self._race: Race | None = None
        self._theme: Theme | None = None
        self._classes: tuple[str, ...] = ()
        self._source = ""  # name of the data in the recipe of a race on these points
        self._edited = self._due = False
        self._moving: Points | None = None  # the points while one of them is dragged, until they are learned from fully
        self._moved_at, self._answers = 0.0, False  # when it moved, and whether the page waits for its picture
        self._polling = Polling(self._look)
        self._before: Mapping[str, float] = {}  # the weights before one of them was dragged
        self.task = Task[Field](Lock())  # learns from one set of points after the other
        self.editing = Switch(label="Edit points")
        self.editing.param.watch(self._switch, "value")
        self.adds = Segments(label="A tap", options={}, value="")
        self.adds.param.watch(self._choose, "value")
        self.progress, self.refusal = note(), note(spoken=True)
        self._stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", visible=False, width=80)
        self._again = Button(self._start_over, label="Start over", width=120, description="The points of this race")
        self._save = Button(self._hand_over, label="Download points", width=160, description="A table (.csv)")
        self._form = Form(FormRow(self.adds, self._again, self._save, wrap=True), visible=False)
        self._messages = Form(self.refusal, FormRow(self.progress, self._stop))
        self._words = cards.html(f'<p class="why">{_WORDS}</p>', visible=False)
        self.pane = cards.grid(columns="auto-fit, minmax(min(380px, 100%), 1fr)")
        heading = cards.html(cards.title("Points of your own"))
        self.root = cards.card(heading, Form(self.editing), self._words, self._form, self.pane, self._messages)

    @classmethod
    def refuses(cls, session: Session) -> str | None:
        """Return why the points of a race cannot be edited, "" if they can; None where there is nothing to say."""
        train = session.prepared.train
        if session.follows or train.grams is not None or train.X.shape[1] != 2 or not train.classes:
            return None
        if len(train.classes) > CLASSES:
            return f"Points of up to {CLASSES} classes can be edited; these have {len(train.classes)}."
        total = len(train.y) + len(session.prepared.test.y)
        return "" if total <= MOST_POINTS else f"Up to {MOST_POINTS} points can be edited; these are {total:,}."

    # -- what is shown

    def follow(self, session: Session) -> None:
        """Follow the session's race: take the points of its data, unless it is a race on the drawn points."""
        self._session = session
        reason = None if session.race is None or session.prepared is None else self.refuses(session)
        self.root.visible = reason is not None
        self.editing.visible = reason == ""
        drawn = reason == "" and session.recipe.data.source == self._source
        if reason != "" or not (drawn or self._race is session.race):
            self._forget()
        elif self._race is not session.race:
            self._due = True  # its kernels may be others
        self._race = session.race
        if reason:
            self._messages.visible = True
            say(self.refusal, reason)
        elif reason == "" and (session.theme is not self._theme or session.prepared.train.classes != self._classes):
            self._theme, self.figure = session.theme, None

    def _forget(self) -> None:
        """Forget the points, which stay under Data."""
        self.close()
        self.editing.value, self.points, self.figure = False, None, None
        self._source, self._edited, self._due, self._before = "", False, False, {}
        self.pane.objects = []
        say(self.refusal, "")
        say(self.progress, "")

    def _switch(self, *_: Any) -> None:
        self._words.visible = self._form.visible = self.pane.visible = self._messages.visible = self.editing.value
        if not self.editing.value:
            self.close()

    def _choose(self, *_: Any) -> None:
        if self.figure is not None:
            self.figure.set_class(self.adds.value)

    def _start_over(self, *_: Any) -> None:
        if self.figure is not None:
            self.figure.set_points(points_of(self._session.prepared))

    def _hand_over(self, *_: Any) -> None:
        if self.points is not None:
            names = self._session.prepared.train.feature_names
            self._form.hand_over(FILE, as_file(self.points, names, cell))

    # -- what has happened

    def update(self) -> bool:
        """Take changes and learned functions; return whether a figure was sent."""
        if not self.editing.value or not self.editing.visible:
            return False
        fresh = self.figure is None
        if self.figure is None:
            self._build(self._session)
        if self._edited:
            self._edited = False
            self._take_over(self._session)
        self._learn(self._session)
        if not self._polling.going:
            self._look()
        return fresh

    def _build(self, session: Session) -> None:
        """Build the figure, for other points or in other colours."""
        prepared = session.prepared
        self._classes = prepared.train.classes
        if self.points is None:
            self.points = points_of(prepared)
        theme = session.theme
        options = {**{f"adds {name}": name for name in self._classes}, REMOVE: ""}
        chosen = self.adds.value if self.adds.options == options else self._classes[0]
        self.adds.param.update(options=options, value=chosen)
        self.figure = PointsFigure(self.points, prepared.train, theme, self._changed, self._drag)
        self.weights = lab_figure(bars_chart("drawn-weights", theme), theme)
        self.figure.set_class(chosen)
        self._corners, self._due = self.points.window, True
        self.pane.objects = [cards.figure(self.figure.plot), cards.cell(cards.html(_BARS), self.weights.plot)]

    def _changed(self) -> None:
        self._edited = True

    def _take_over(self, session: Session) -> None:
        """Accept a person's change, or undo it and say why."""
        assert self.figure is not None
        assert self.points is not None
        try:
            points = read_points(self.figure.source.data, self._classes)
            if points == self.points:
                return
            content = as_file(points, session.prepared.train.feature_names)
            if session.on_points is not None:
                self._source = session.on_points(content, FILE)
        except (MklvizError, DataError) as error:
            say(self.refusal, str(error))
            self.figure.set_points(self.points)
        else:
            say(self.refusal, "")
            self.points, self._due = points, True

    def _drag(self, columns: Mapping[str, Any]) -> None:
        """Learn coarsely from the points as they are while one of them is dragged."""
        session, self._answers = self._session, True
        points = None if self.points is None else self.points.moved(columns)
        if points is None or self._too_many(session):
            self._answer()
            return
        self._moving, self._moved_at = points, monotonic()
        self._ask(session, points, COARSE)
        self._polling.begin()

    def _answer(self) -> None:
        if self._answers and self.figure is not None:
            self._answers = False
            self.figure.dragged.answer()

    def _learn(self, session: Session) -> None:
        """Learn from the current points, or from those that rest; learning from earlier ones is cancelled."""
        rests = self._moving is not None and not self.task.working and monotonic() - self._moved_at > self.rest
        points = self.points if self._due else self._moving if rests else None
        if points is None or self.figure is None:
            return
        if self._due and self._too_many(session):
            self.task.forget()
            self.figure.set_field(None)
            say(self.progress, _TOO_MANY)
        else:
            self._ask(session, points, FINE)
        self._due, self._moving = False, None

    def _too_many(self, session: Session) -> bool:
        return self.points is None or len(self.points) > self.most_points or session.race.problem.m > MOST_KERNELS

    def _ask(self, session: Session, points: Points, fineness: Fineness) -> None:
        content = as_file(points, session.prepared.train.feature_names)
        field = partial(learned, content, session.recipe, self._classes, self._corners, fineness)
        self.task.ask(object(), field, "The decision could not be computed", "Learning from the points: {}.")

    def _look(self) -> bool:
        """Draw what was learned, if it is there; return whether nothing is awaited any more."""
        if self.task.working and self.figure is not None:
            field = self.task.take()
            if field is not None:
                self._draw(field)
            elif self._moving is None or not self.task.working:
                say(self.progress, self.task.status)
        self._stop.visible = self.task.working and self._moving is None
        if self.task.working:
            return False
        self._answer()
        return True

    def _draw(self, field: Field) -> None:
        """Draw what was learned; grey: the weights before a point was dragged."""
        assert self.figure is not None
        self.figure.set_field(field)
        bars = [Bar(name, weight, self._before.get(name, 0.0)) for name, weight in field.weights.items()]
        self.weights.show(bar_table(bars, self._session.theme.text))
        say(self.progress, field.sentence)
        self._messages.refresh()  # in the same message as the figures
        if self._moving is None:
            self._before = field.weights

    def close(self) -> None:
        self._polling.end()
        self.task.forget()
        self._due, self._moving = True, None  # at the next edit
