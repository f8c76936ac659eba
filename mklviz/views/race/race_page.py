"""The layout of the page of a race: controls, large figures, weights per solver, table, time, small figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import panel as pn

from mklviz.record.weights import Motion
from mklviz.views.chart.columns import KernelSlots
from mklviz.views.chart.race_charts import ChartOptions, race_charts
from mklviz.views.host.components import PlotPane
from mklviz.views.host.frames import document_of
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme, run_name
from mklviz.views.race.components import TimeBars
from mklviz.views.race.figures import FEWEST, LARGE, SMALL, WEIGHTS, Charts
from mklviz.views.race.results import (
    ResultRow,
    chart_heading,
    moved_words,
    result_table,
    weights_heading,
    weights_pills,
)

HEAD = 50  # pixels above a small multiple
_AT_FOOT = ":host { height: 100%; justify-content: space-between; }"  # figures of a row are aligned


class SmallMultiples:
    """Up to four solvers stand in one row, five and six in two; on a projector no more than two in one."""

    def __init__(self) -> None:
        self.box = pn.Column(margin=(4, 0, 0, 0), sizing_mode="stretch_width")
        self.heads: dict[str, pn.pane.HTML] = {}  # above the figure of each run
        self._plots: Mapping[str, Any] = {}  # that are on the page

    def clear(self) -> None:
        self.box.objects, self.heads, self._plots = [], {}, {}

    def reserve(self, keys: Sequence[str]) -> None:
        """Reserve the space for the figures of these runs."""
        self.heads = {key: cards.html(css_classes=["narrow"]) for key in keys}
        rows = -(-len(self.heads) // _across(len(self.heads)))
        self.box.objects = [pn.Spacer(height=rows * (WEIGHTS + HEAD), sizing_mode="stretch_width")]

    def show_charts(self, charts: Charts) -> None:
        """Show the figures in the space reserved for them; hidden ones keep it, as ranges never forget their bounds."""
        projected, runs = charts.options.theme.projected, len(charts.weights)
        across = min(_across(runs), 2) if projected else _across(runs)
        high = f"max({FEWEST}px, calc((100vh - 340px) / {-(-runs // across)} - 45px))"  # all rows fill the screen
        styles = {"min-height": high, "max-height": "none"} if projected else {}
        self._plots = charts.weights
        for plot in self._plots.values():
            plot.styles = styles
        cells = [
            pn.Column(
                *(self.heads[key], PlotPane(plot, sizing_mode="stretch_width", margin=0, styles=styles)),
                **{"margin": (0, 0, 0 if projected else 6, 0), "min_width": 0},
                **{"sizing_mode": "stretch_width", "stylesheets": [_AT_FOOT]},
            )
            for key, plot in charts.weights.items()
        ]
        columns = f"auto-fit, minmax(max(210px, calc(100% / {across} - {cards.GAP}px)), 1fr)"
        self.box.objects = [cards.grid(*cells, columns=columns)]

    def name(self, rows: Collection[ResultRow], motions: Mapping[str, Motion], enlarged: Mapping[str, str]) -> None:
        """Write above each figure its solver, how large it is drawn, and how the weights moved or why it failed."""
        for row in rows:
            failed = row.status == "failed"
            motion = Motion() if failed else motions[row.key]
            words = f'<span class="moved trouble">{escape(row.reason)}</span>' if failed else moved_words(motion)
            head = f'<span class="name">{run_name(row.style)}</span>{weights_pills(motion, enlarged[row.key])}'
            quiet = " hidden-run" if row.hidden else ""
            self.heads[row.key].object = f'<div class="head{quiet}">{head}{words}</div>'
            if row.key in self._plots:
                self._plots[row.key].visible = row.result is not None or not failed


def _across(solvers: int) -> int:
    return solvers if solvers <= 4 else 3


LARGE_CHARTS = {"Objective": "objective", "Gap": "gap", "Step size": "step", "Kernels in use": "active"}
_WORDS = {"objective": "objective", "gap": "certified gap", "step": "step size", "active": "number of kernels in use"}
_WORDS |= {"tolerance": "SVM tolerance"}
_ROWS = ":host { display: flex; flex-flow: row wrap; }"  # of small figures, as many as have room, below the large one
_IN_FULL, _AMONG_OTHERS = {"flex": "1 1 100%", "order": "-1"}, {"flex": "1 1 200px", "order": "0"}
_IN_FRONT = {"position": "absolute", "inset": "0", "height": "100%", "z-index": "3", "pointer-events": "none"}
_HIGH = {"min-height": "max(380px, calc(100vh - 262px))", "max-height": "none"}  # on a projector it fills the screen
_ASIDE = ["aside"]  # parts folded away where only objective and weights are shown, for a projector
_ASIDE_GONE = ".aside { display: none !important; }"
_PROJECTED = (
    _ASIDE_GONE + " .across { grid-column: 1 / -1; margin: 0 0 4px !important; }"
    " :host { display: grid !important; column-gap: 12px; align-items: start;"
    " grid-template-columns: minmax(0, 9fr) minmax(0, 11fr); }"
    " @media (max-width: 899px) { :host { grid-template-columns: minmax(0, 1fr); } }"
)
_SPREAD = ":host { flex-wrap: wrap; gap: 8px 16px; justify-content: space-between; align-items: center; }"


class RacePage:
    """The boxes of the page and their text; `slot` is empty, for the page that embeds the view."""

    def __init__(self, chips: Any, controls: Sequence[Any], corner: Any, foot: Any) -> None:
        """`corner` stands in the upper right corner of the objective, `foot` has the invisible parts."""
        self.panes = {name: PlotPane(None, sizing_mode="stretch_width", margin=0) for name in _WORDS}
        self.weights = SmallMultiples()
        words = [f"the {what} of each solver appears here" for what in _WORDS.values()]
        words.append("the kernel weights of each solver appear here")
        waiting = '<div class="waiting"><p>When the race begins,<br>{}</p></div>'
        self.covers = {cards.html(styles=_IN_FRONT): waiting.format(what) for what in words}
        self.bars = TimeBars(margin=0, sizing_mode="stretch_width")
        self.table, self.milestones = cards.html(), cards.html()
        self.precision = cards.html(visible=False, css_classes=_ASIDE)  # below both figures, whose axes stay in line
        self.titles = {name: cards.html() for name in _WORDS}  # above the figures
        self.weights_title = cards.html()
        self.slot = pn.Column(margin=0, sizing_mode="stretch_width", css_classes=_ASIDE)
        self._noun, self._large = "kernel", ""  # what has weights; the name of the large figure
        self._mark = self._words = ""  # on the figures, and in their place
        drawn = [*(self.panes[name] for name in _WORDS), self.weights.box]  # behind the covers
        look = {"position": "relative", "min-height": f"{WEIGHTS}px"}
        pairs = zip(self.covers, drawn, strict=True)
        self._stages = [pn.Column(*pair, styles=look, margin=0, sizing_mode="stretch_width") for pair in pairs]
        self._corner, named = corner, zip(_WORDS, self._stages, strict=False)
        self.figure_cards = {name: cards.card(self.titles[name], stage, css_classes=_ASIDE) for name, stage in named}
        objective = self.figure_cards["objective"]  # which says above what it stands
        objective.objects, objective.css_classes = [corner, *objective.objects], []
        self.figure_cards["tolerance"].visible = False  # of interest where a solver changes it
        top = _top(chips, controls)
        figures = cards.grid(*self.figure_cards.values(), columns="1, 1fr")
        figures.stylesheets = [*figures.stylesheets, _ROWS]
        self.folding = {box: list(box.stylesheets) for box in (figures, top, self.figure_cards["objective"])}
        weights = cards.card(self.weights_title, self._stages[-1])
        table = cards.card(self.table, self.milestones, css_classes=_ASIDE)
        parts = (top, figures, self.precision, weights, table, cards.card(self.bars, css_classes=_ASIDE))
        self.root = pn.Column(*parts, self.slot, foot, margin=0, sizing_mode="stretch_width")

    def enlarge(self, chosen: str, options: ChartOptions) -> None:
        """Give the figure chosen a row of its own, above the others; a box is as high as its figure will be."""
        self._large = chosen
        self._corner.visible = chosen == "objective"  # a small chart has no room for it
        self.write_titles(options)
        for (name, card), stage in zip(self.figure_cards.items(), self._stages, strict=False):
            card.styles = _IN_FULL if name == chosen else _AMONG_OTHERS
            stage.styles = {"position": "relative", "min-height": f"{LARGE if name == chosen else SMALL}px"}
        if self._words:
            self.say_instead(self._words)

    @property
    def document(self) -> Any:
        """The document the page is in, or None."""
        return document_of(self.table)

    def push(self) -> None:
        """Send raw Bokeh changes to a notebook, where they do not travel by themselves."""
        pn.io.push_notebook(self.panes["objective"])

    def paint(self, theme: Theme) -> None:
        """Put the colours of `theme` under everything; on a projector objective and weights stand alone."""
        projected = [_PROJECTED] if theme.projected else []
        self.root.stylesheets = [cards.variables(theme), ":host { background: var(--mk-page); }", *projected]
        for box, sheets in self.folding.items():
            box.stylesheets = [*sheets, _ASIDE_GONE] if theme.projected else sheets

    def show_empty(self) -> None:
        """Announce the next content, in front of the figures if there are any."""
        self._words = ""
        for head in self.weights.heads.values():
            head.object = ""
        self.weights_title.object = cards.title("Kernel weights", term="kernel weight")
        self.table.object = result_table([])
        for cover, words in self.covers.items():
            cover.object = words

    def show_race(self, mark: str) -> None:
        """Let the figures be seen; a `mark` says in every one of them what they are, if not the race set up."""
        self._mark = mark and f'<div class="recorded"><p>{mark}</p></div>'
        self.say_instead(self._words)

    def say_instead(self, words: str) -> None:
        """Let words stand where the figures would be, as they have nothing to draw; "" lets those be seen."""
        self._words = words
        for name, cover in zip([*_WORDS, ""], self.covers, strict=True):  # one that came would lay the page out anew
            told = escape(words) if name in (self._large, "") else ""
            cover.object = f'<div class="waiting"><p>{told}</p></div>' if words else self._mark

    def draw_nothing(self) -> None:
        """Take all figures off the page, which opens faster without any."""
        for pane in self.panes.values():
            pane.object = None
        self.weights.clear()

    def show_charts(self, charts: Charts) -> None:
        """Show the figures of a race on the page; those of the weights follow."""
        for name, pane in self.panes.items():
            plot = getattr(charts, name)
            # before the page has the figure
            plot.styles = pane.styles = _HIGH if charts.options.theme.projected else {}
            pane.object = plot
        self.weights.reserve(list(charts.by_run))

    def shows(self, charts: Charts) -> bool:
        """Return whether these are the figures on the page."""
        return self.panes["objective"].object is charts.objective

    def say(self, rows: Collection[ResultRow], regression: bool, step: int | None) -> None:
        """Fill the table, as of a step or the end."""
        when = "" if step is None else f'<p class="why">As of step {step:,}, where the timeline stands.</p>'
        self.table.object = f"{when}{result_table(rows, regression, self._noun)}"

    def name_kernels(self, slots: KernelSlots, theme: Theme, noun: str) -> None:
        """Write the legend of the weights of kernels, or other `noun`."""
        self._noun = noun
        self.weights_title.object = weights_heading(slots, theme, noun, "kernel weight" if noun == "kernel" else "")

    def write_titles(self, options: ChartOptions) -> None:
        for name, chart in race_charts({}, options).items():
            with_note = name == self._large or chart.term == "projected gradient"  # which says why there is no gap
            shown = replace(chart, title="Objective") if name == "objective" else chart
            self.titles[name].object = chart_heading(shown, with_note)

    def say_precision(self, text: str) -> None:
        """Write below objective and gap what is exact and what approximate, where kernels are approximated."""
        self.precision.object = f'<p class="why alone">{escape(text)}</p>' if text else ""
        self.precision.visible = bool(text)


def _top(chips: Any, controls: Sequence[Any]) -> pn.Row:
    within = ":host { flex-wrap: wrap; align-items: center; max-width: 100%; }"  # of the window: words come and go
    right = pn.Row(*controls, margin=0, css_classes=_ASIDE, stylesheets=[within])
    params = {"margin": (8, 0, 10, 0), "sizing_mode": "stretch_width", "css_classes": ["across"]}
    return pn.Row(chips, right, stylesheets=[_SPREAD], **params)
