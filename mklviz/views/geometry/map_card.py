"""The paths of a race on a map of the kernel weights: the plane of their principal directions, or an exact slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import panel as pn

from mklviz.analysis.curves import apart, thinned
from mklviz.analysis.landscape import Survey
from mklviz.analysis.steps import Cuts, cuts_known, edge, facts_of, keeps_cuts, level_polygon
from mklviz.analysis.weight_map import (
    CORNERS,
    MapPoint,
    Mesh,
    Plane,
    WeightMap,
    point_of,
    principal_plane,
    slice_through,
)
from mklviz.contract import Array, Iterate
from mklviz.engine import Race
from mklviz.numbers import number_text
from mklviz.record import Trace
from mklviz.record.summary import best_of
from mklviz.views.chart.axes import tick_text
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import contour_levels
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.geometry.map_chart import (
    LOW_AND_HIGH,
    MapPath,
    contour_table,
    corner_tables,
    map_chart,
    model_tables,
    number_table,
    path_tables,
    points_table,
    shapes_table,
    step_point,
    trial_table,
)
from mklviz.views.geometry.start_drag import StartDrag
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, mixed
from mklviz.views.sidebar.controls import note, say

HEIGHT = 560  # pixels of the figure
BEST = "Best point found"
EVERY = 0.3  # seconds between two drawings


class MapCard(cards.Rooted):
    """The map of a race, which grows with it; `on_pick` takes weights that were clicked, and refuses in a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.survey, self.most_fitted = Survey(), 400  # steps that decide where the plane lies
        self.figure = ChartFigure(map_chart({}, LIGHT, triangle=False), LIGHT, HEIGHT)  # until there is a race
        self.on_pick: Callable[[Array], str] | None = None
        self.theme = LIGHT
        self._race: Race | None = None
        self._kernels: tuple[int, ...] = ()
        self._styles: Mapping[str, RunStyle] = {}
        self._points: dict[str, list[MapPoint]] = {}
        self._model = self._refusal = ""
        self._cuts: Cuts | None = None
        self._fitted, self._drawn_at = 0, 0.0
        self._drawn: object = None
        self._heading, self._words, self._scale, self._remark = (cards.html() for _ in range(4))
        self._progress = note()
        self.start = StartDrag(self._redraw)
        self._stop = Button(lambda *_: self.survey.task.cancel(), label="Stop refining", variant="text", visible=False)
        self._pane = cards.figure()
        picture = pn.Column(self._pane, self.start.handle, margin=0, sizing_mode="stretch_width")
        objects = (self._heading, self._words, self._scale, picture, self._remark)
        self._form = Form(FormRow(self.start.row, self._progress, self._stop))  # Undo stays where it is
        self.root = cards.card(*objects, self._form)

    # -- what is shown

    def show(
        self, race: Race, styles: Mapping[str, RunStyle], theme: Theme, kernels: Sequence[int] = (), model: str = ""
    ) -> None:
        """Draw a race: in the plane of its paths, or in the slice of three `kernels` with the cuts of a `model`."""
        same = race.shares_problem(self._race) and tuple(kernels) == self._kernels
        looks = (dict(styles), theme) == (dict(self._styles), self.theme)
        if not same:
            self.survey.clear()
        if not same or race is not self._race:
            self._refusal, self._fitted = "", 0
        self._race, self._kernels, self._styles, self.theme = race, tuple(kernels), styles, theme
        self._model = model
        self.start.follow(race, styles)
        if same and looks:
            self._redraw()  # the figure stays, and with it what is dragged in it
        else:
            self._build(theme)

    def _build(self, theme: Theme) -> None:
        """Build the figure anew, for another race, theme or kind of map."""
        names = self._race.facts.names if self._race is not None else []
        self.figure = ChartFigure(map_chart(self._styles, theme, triangle=bool(self._kernels)), theme, HEIGHT)
        if self._kernels:
            self.figure.show(corner_tables([names[k] for k in self._kernels]))
        title, term = "Paths of the kernel weights", "kernel weight"
        if self._kernels:
            title, term = "Three kernels from above", "simplex"
        self._heading.object = cards.title(title, term=term, beside=cards.legend(self._styles.values()))
        self._drawn = None
        self._draw_shade()
        self.figure.plot.on_event("tap", self._pick)
        self._pane.object = self.figure.plot
        self.start.lie(self.survey.map, self.figure.plot.id)

    def _pick(self, event: Any) -> None:
        map_ = self.survey.map
        if map_ is not None and self.on_pick is not None:
            self._refusal = self.on_pick(map_.weights_near(event.x, event.y))
            self._say_progress()

    def show_model(self, model: str) -> None:
        self._model, self._drawn = model, None

    def clear(self) -> None:
        """Forget the race, and compute nothing for it any more."""
        self.survey.clear()
        self.start.clear()
        self._race, self._fitted, self._drawn = None, 0, None
        self._cuts = None  # it knows the problem

    def close(self) -> None:
        self.survey.clear()
        self.start.close()
        self._race = None

    def update(self, now: float, cursor: int | None) -> None:
        """Draw what is new: steps, another cursor, a finer map."""
        self.start.update()  # which may turn to another race
        race = self._race
        if race is None:
            return
        resting = race.status in ("finished", "paused") and not self.start.held
        if self._must_fit(race, resting):
            self._fit(race)
        if self.survey.update(resting):
            self._draw_shade()
        self._say_progress()
        drawn = (cursor, self._fitted, *(len(trace) for trace in race.traces.values()))
        if drawn != self._drawn and (now - self._drawn_at >= EVERY or resting):
            self._drawn, self._drawn_at = drawn, now
            self._draw_paths(race, cursor)

    # -- where the map lies

    def _must_fit(self, race: Race, resting: bool) -> bool:
        """Whether the map must be laid anew: at first, when twice as many steps are known, and at the end."""
        steps = sum(len(trace) for trace in race.traces.values())
        if self._fitted and (self._whole(race) or steps == self._fitted):
            return False
        if self._fitted and self._kernels:
            return race.status == "finished"
        enough = all(len(trace) > 1 for trace in race.traces.values()) or resting
        grown = steps >= 2 * self._fitted and (self.survey.stage >= 0 or not self.survey.task.working)
        return steps > 0 and ((enough and grown) or (race.status == "finished"))

    def _fit(self, race: Race) -> None:
        """Lay the map through the best point found."""
        self._fitted = sum(len(trace) for trace in race.traces.values())
        before = self.survey.map
        if before is None or not self._whole(race):
            best = best_of(race.traces.values()).best.weights
            self._lay(race, slice_through(best, self._kernels) if self._kernels else self._plane_of(race, best, before))
        self._points = {key: [] for key in race.runs}
        corners = None if self.survey.map is None else self.survey.map.vertices
        self._cuts = None if corners is None or not cuts_known(race) else Cuts(race.problem, corners)

    def _whole(self, race: Race) -> bool:
        """Whether the map shows all weights there are, and so does not depend on where the race is."""
        return len(self._kernels) == race.facts.m

    def _lay(self, race: Race, map_: WeightMap) -> None:
        """Turn to another map, where everything is to be drawn anew."""
        self.survey.begin(race, map_)
        self.start.lie(map_, self.figure.plot.id)
        self._draw_shade()
        self._words.object = cards.lines(map_.words(posed=not race.missing))

    def _plane_of(self, race: Race, origin: Array, before: WeightMap | None) -> Plane:
        traces = [trace[:] for trace in race.traces.values()]
        stride = -(-sum(map(len, traces)) // self.most_fitted)
        fitted = np.array([step.weights for trace in traces for step in trace[::-stride]])
        directions = None if before is None else before.directions
        plane = principal_plane(fitted, origin, race.facts.project, directions)
        return plane.around(np.array([plane.position(step.weights) for trace in traces for step in trace]))

    # -- how it is drawn

    def _draw_shade(self) -> None:
        figure, survey = self.figure, self.survey
        if survey.map is not None and survey.map.window is not None:
            (left, bottom), (right, top) = (corner.tolist() for corner in survey.map.window)
            x, y = figure.chart.x, figure.chart.y
            figure.set_axes(replace(x, start=left, end=right), replace(y, start=bottom, end=top))
        mesh, nodes = survey.sheet or (None, [])
        figure.show({"ground": contour_table(mesh), "nodes": points_table(nodes)})
        self._scale.object = shade_scale(mesh, self.theme)

    def _say_progress(self) -> None:
        finer = self.survey.stage >= 0
        self._stop.visible = self.survey.task.working and finer
        progress = self.survey.progress("Refining" if finer else "Computing")
        words = self._refusal if self._refusal and not self.survey.task.working else progress
        say(self._progress, self.start.words or words)

    def _redraw(self) -> None:
        """Draw the paths when the map is looked at next."""
        self._drawn = None
        self._say_progress()

    def _draw_paths(self, race: Race, cursor: int | None) -> None:
        map_ = self.survey.map
        if map_ is None:
            return
        paths = {key: self._path(key, trace, map_, cursor, self._points[key]) for key, trace in race.traces.items()}
        self._draw(paths, best_of(race.traces.values()), map_)
        trials = {key: self._tried(key, trace, map_, cursor) for key, trace in race.traces.items()}
        self.figure.show({"trials": trial_table(trials, self._styles)})
        compared = race.status == "finished" and not race.facts.no_bound
        ended = {key: trace for key, trace in race.traces.items() if compared and len(trace)}
        valley = flat_valley([(self._styles[key].label, trace.best) for key, trace in ended.items()])
        self._remark.object = cards.lines(self._draw_model(race, cursor), valley)

    def _draw(self, paths: Mapping[str, MapPath], best: Trace, map_: WeightMap) -> None:
        """Draw paths, the best point of all, and the former paths behind."""
        names = best.kernel_names
        star = point_of(map_.position(best.best.weights), BEST, best.best.objective, best.best.weights, names)
        numbers = number_table(paths, self._styles, self.theme, self.figure.chart)
        former = [(key, trace) for traces in self.start.ghosts for key, trace in traces.items() if len(trace)]
        known = [(key, trace) for key, trace in former if key in self._styles]
        ghosts = [np.array([map_.position(iterate.weights) for iterate in trace]) for _, trace in known]
        table = shapes_table(ghosts, [self._styles[key].colour for key, _ in known])
        self.figure.show({**path_tables(paths, star, self._styles), "numbers": numbers, "ghosts": table})

    def _path(self, key: str, trace: Trace, map_: WeightMap, cursor: int | None, known: list[MapPoint]) -> MapPath:
        """Return the path of a run up to the cursor; `known` are its points so far, and grow."""
        known += [step_point(trace, t, map_, self._styles[key].label) for t in range(len(known), len(trace))]
        last = len(known) - 1 if cursor is None else min(trace.index_at(cursor), len(known) - 1)
        steps = thinned(last + 1)
        return MapPath([known[t] for t in steps], steps)

    def _tried(self, key: str, trace: Trace, map_: WeightMap, cursor: int | None) -> list[MapPoint]:
        """Return what a line search tried at the step shown, on the line of its move."""
        last = len(trace) - 1 if cursor is None else trace.index_at(cursor)
        if last < 1:
            return []
        before, here = (map_.position(trace[t].weights) for t in (last - 1, last))
        label = f"{self._styles[key].label}, trial of step {trace.first_step + last:,}"
        trials = [(before + along * (here - before), value) for along, value in facts_of(trace[last]).trials]
        return [MapPoint(float(x), float(y), label, number_text(value), "") for (x, y), value in trials]

    def _draw_model(self, race: Race, cursor: int | None) -> str:
        """Draw where the cuts of one run leave room, and say so: below Level's level, or SILP's best value."""
        trace = race.traces.get(self._model)
        if self._cuts is None:
            return ""
        if trace is None or not keeps_cuts(trace[:2]):
            self.figure.show(model_tables())
            return ""
        last = len(trace) - 1 if cursor is None else max(trace.index_at(cursor), 0)
        own = facts_of(trace[last]).level
        level = trace[trace.best_index_at(last)].objective if own is None else own
        known = np.array(self._cuts.up_to(max(last - 1, 0), self._model, trace))
        edges = [ends @ CORNERS for cut in known if len(ends := edge(cut, level)) == 2]
        level_set = level_polygon(known, level) @ CORNERS
        style = self._styles[self._model]
        self.figure.show(model_tables(level_set, edges, style.colour))
        return model_words(style.label, level=own is not None)


APART = 0.05  # share of the weight, from which on two ends are different places
ALIKE = 0.01  # share of the objective, up to which they are equally low
End = tuple[str, Iterate]


def shade_scale(mesh: Mesh | None, theme: Theme) -> str:
    """Return as HTML which shade of a map stands for which objective; the shades are bands of `contour_levels`."""
    if mesh is None:
        return ""
    heights = np.asarray(mesh[2])
    low, middle, high = (tick_text(float(f"{value:.4g}"), "exact") for value in contour_levels(heights, 2))
    ends = LOW_AND_HIGH[theme.dark]
    half = mixed(*ends, 0.5)
    bars = [
        f'<i class="shades" style="background: linear-gradient(90deg, {a}, {b})"></i>'
        for a, b in ((ends[0], half), (half, ends[1]))
    ]
    word = "Darker" if theme.dark else "Lighter"
    scale = f"<b>{low}</b>{bars[0]}<b>{middle}</b>{bars[1]}<b>{high}</b>"
    return f'<p class="why shade-scale">{word} = lower objective {scale}</p>'


def model_words(label: str, level: bool) -> str:
    """Say what the lines and the polygon in the triangle are; a `level` is the solver's own, else the best value."""
    height = "its level" if level else "the best objective so far"
    return (
        f"Each thin line is where one cut of {label} reaches {height}; the polygon is where all its cuts lie below,"
        f" so {label} looks for its next point there."
    )


def flat_valley(ends: Sequence[End]) -> str:
    """Say that the best points of runs on a convex problem are apart and equally low, as it is flat; "" if not."""
    least = min((end.objective for _, end in ends), default=0.0)
    low = [(label, end) for label, end in ends if end.objective - least <= ALIKE * abs(least)]
    pairs = [(apart(one, other), a, b, _differ(one, other)) for (a, one), (b, other) in combinations(low, 2)]
    share, one, other, differ = max(pairs, default=(0.0, "", "", 0.0))
    if share < APART:
        return ""
    difference = tick_text(float(f"{differ:.2g}"), "percent")
    return (
        f"A flat valley: the best points of {one} and {other} are {100 * share:.0f} % of the weight apart, and their"
        f" objectives differ by {difference} only; along the line between them it is never above the higher end."
    )


def _differ(one: Iterate, other: Iterate) -> float:
    return abs(one.objective - other.objective) / max(abs(one.objective), abs(other.objective), 1e-300)
