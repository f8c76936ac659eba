"""The layout of the page of a race: controls, large figures, weights per solver, table, time, small figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

import panel as pn

from mklviz.views.chart.description import Chart
from mklviz.views.chart.race_charts import ChartOptions, race_charts, weights_title
from mklviz.views.host.components import PlotPane
from mklviz.views.host.workarounds import document_of
from mklviz.views.look import cards
from mklviz.views.look.cards import title
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.race.figures import BIG, SMALL, Charts
from mklviz.views.race.results import ResultRow, result_table
from mklviz.views.race.small_multiples import SmallMultiples
from mklviz.views.race.time_bars import TimeBars

__all__ = ["RacePage", "chart_heading", "weights_heading"]


def chart_heading(chart: Chart) -> str:
    """Return the title of a chart and its note; the corner of the objective says above what it stands."""
    text = chart.title if chart.name != "objective" else "Objective"
    beside = f'<i class="dashes"></i>{escape(chart.beside)}' if chart.beside else ""
    legend = f'<span class="legend"><span>{beside}</span></span>' if chart.name == "gap" else ""
    return title(text, term=chart.term, beside=legend) + (_why(chart.note, chart.more) if chart.note else "")


def weights_heading(names: Sequence[str], count: int, theme: Theme, noun: str) -> str:
    """Return the heading of the weights, with the names of those shown, of `count` kernels or other `noun`."""
    entries = "".join(
        f'<span><i style="background:{colour}"></i>{escape(name)}</span>'
        for name, colour in zip(names, theme.kernels, strict=False)
    )
    term = "kernel weight" if noun == "kernel" else ""
    return title(weights_title(noun, len(names), count), term=term, beside=f'<span class="legend">{entries}</span>')


def _why(text: str, more: str = "") -> str:
    """Return a line below a heading, with more words in its tooltip."""
    detail = f' detail" title="{escape(more)}' if more else ""
    return f'<p class="why{detail}">{escape(text, quote=False)}</p>'


_RECORDED = '<div class="recorded"><p>Recording</p></div>'  # dimmed; the word is beside the name of the axis
_LARGE = {"objective": "objective", "gap": "certified gap", "step": "step size"}
_FIGURES = ("objective", "gap", "step", "active", "tolerance")
_THIRDS = "auto-fit, minmax(260px, 1fr)"  # all figures of a race stand in one row, but on a phone
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
        self.panes = {name: PlotPane(None, sizing_mode="stretch_width", margin=0) for name in _FIGURES}
        self.weights = SmallMultiples()
        words = [f"the {what} of each solver appears here" for what in _LARGE.values()]
        words.append("the kernel weights of each solver appear here")
        self.covers = {cards.html(styles=_IN_FRONT): _press_run(what) for what in words}
        self.bars = TimeBars(margin=0, sizing_mode="stretch_width")
        self.table, self.milestones = cards.html(), cards.html()
        self.precision = cards.html(visible=False, css_classes=_ASIDE)  # below both figures, whose axes stay in line
        self.titles = {name: cards.html() for name in _FIGURES}  # above the figures
        self.weights_title = cards.html()
        self.write_titles(ChartOptions(LIGHT))
        self.slot = pn.Column(margin=0, sizing_mode="stretch_width", css_classes=_ASIDE)
        self._noun = "kernel"  # what has weights
        *stages, weights = self._stages()
        top = _top(chips, controls)
        large = self._large_cards(corner, stages)
        figures = cards.grid(*large, columns=_THIRDS)
        self.folding = {box: list(box.stylesheets) for box in (figures, top, large[0])}
        self._small, self._tolerance_card = self._small_cards()
        self.root = pn.Column(
            top,
            figures,
            self.precision,
            cards.card(self.weights_title, weights),
            cards.card(self.table, self.milestones, css_classes=_ASIDE),
            cards.card(self.bars, css_classes=_ASIDE),
            self.slot,
            self._small,
            foot,
            margin=0,
            sizing_mode="stretch_width",
        )

    def _stages(self) -> list[pn.Column]:
        """Return the boxes of the figures, each behind its cover; a first one is as high as its figure will be."""
        figures = [*(self.panes[name] for name in _LARGE), self.weights.box]
        heights = [BIG] * len(_LARGE) + [SMALL]
        return [_stage(*parts) for parts in zip(self.covers, figures, heights, strict=True)]

    def _large_cards(self, corner: Any, stages: Sequence[pn.Column]) -> list[pn.Column]:
        objective, gap, step = stages
        return [
            cards.card(corner, self.titles["objective"], objective),
            cards.card(self.titles["gap"], gap, css_classes=_ASIDE),
            cards.card(self.titles["step"], step, css_classes=_ASIDE),
        ]

    def _small_cards(self) -> tuple[pn.Column, pn.Column]:
        """Return the box of the small figures, and in it the card of the SVM tolerance."""
        tolerance = cards.card(self.titles["tolerance"], self.panes["tolerance"], visible=False)
        active = cards.card(self.titles["active"], self.panes["active"])
        grid = cards.grid(active, tolerance, columns=_THIRDS)
        return pn.Column(grid, margin=0, sizing_mode="stretch_width", css_classes=_ASIDE), tolerance

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
        self.weights.name_nobody()
        self.weights_title.object = cards.title("Kernel weights", term="kernel weight")
        self.table.object = result_table([])
        self._small.visible = False
        for cover, words in self.covers.items():
            cover.object = words

    def show_race(self, recorded: bool) -> None:
        """Let the figures be seen; what is `recorded` is marked in every one of them."""
        self._small.visible = True
        for cover in self.covers:
            cover.object = _RECORDED if recorded else ""  # a pane that comes or goes lays the whole page out anew

    def draw_nothing(self) -> None:
        """Take all figures off the page, which opens faster without any."""
        for pane in self.panes.values():
            pane.object = None
        self.weights.clear()

    def show_charts(self, charts: Charts) -> None:
        """Show the figures of a race on the page; those of the weights follow."""
        for name, pane in self.panes.items():
            plot = getattr(charts, name)
            plot.styles = pane.styles = (
                _HIGH if charts.options.theme.projected else {}
            )  # before the page has the figure
            pane.object = plot
        self.weights.reserve(list(charts.by_run))

    def say(self, rows: Collection[ResultRow], regression: bool, step: int | None) -> None:
        """Fill the table, as of a step or the end."""
        when = "" if step is None else f'<p class="why">As of step {step:,}, where the timeline stands.</p>'
        self.table.object = f'{when}<div class="scroll" tabindex="0">{result_table(rows, regression, self._noun)}</div>'

    def show_tolerance(self, visible: bool) -> None:
        """Show the SVM tolerance, which is of interest where a solver changes it."""
        self._tolerance_card.visible = visible

    def name_kernels(self, names: Sequence[str], count: int, theme: Theme, noun: str) -> None:
        """Write the legend of the weights: the names of those shown, of `count` kernels or other `noun`."""
        self._noun = noun
        self.weights_title.object = weights_heading(names, count, theme, noun)

    def write_titles(self, options: ChartOptions) -> None:
        """Write the titles above the figures."""
        for name, chart in race_charts({}, options).items():
            self.titles[name].object = chart_heading(chart)

    def say_precision(self, text: str) -> None:
        """Write below objective and gap what is exact and what approximate, where kernels are approximated."""
        self.precision.object = f'<p class="why alone">{escape(text)}</p>' if text else ""
        self.precision.visible = bool(text)


def _top(chips: Any, controls: Sequence[Any]) -> pn.Row:
    right = pn.Row(*controls, margin=0, css_classes=_ASIDE, stylesheets=[":host { align-items: center; }"])
    params = {"margin": (8, 0, 10, 0), "sizing_mode": "stretch_width", "css_classes": ["across"]}
    return pn.Row(chips, right, stylesheets=[_SPREAD], **params)


def _press_run(what: str) -> str:
    """Return words that lie in front of the figure which is, or will be, behind them."""
    return f'<div class="waiting"><p>Press Run:<br>{what}</p></div>'


def _stage(cover: pn.pane.HTML, figure: Any, height: int) -> pn.Column:
    styles = {"position": "relative", "min-height": f"{height}px"}
    return pn.Column(cover, figure, styles=styles, margin=0, sizing_mode="stretch_width")
