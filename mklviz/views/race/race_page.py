"""Where things stand on the page of a race: controls, large figures, weights per solver, table, time, small figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import panel as pn

from mklviz.record.motion import Motion
from mklviz.views.chart.description import Chart
from mklviz.views.chart.race_charts import ChartOptions, race_charts, weights_title
from mklviz.views.host.document_models import document_of
from mklviz.views.host.plot_pane import PlotPane
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, swatch
from mklviz.views.race.figures import BIG, SMALL, Charts
from mklviz.views.race.results import ResultRow, badge, result_table
from mklviz.views.race.time_bars import TimeBars

__all__ = ["RacePage"]

_RECORDED = '<p class="recorded">Recording</p>'  # beside the name of the axis, where it covers nothing
_LARGE = {"objective": "objective", "gap": "certified gap", "step": "step size"}
_SMALL = ("active", "tolerance")
_FIGURES = (*_LARGE, *_SMALL)
_HEIGHTS = (BIG, BIG, BIG, SMALL)
_THIRDS = "auto-fit, minmax(260px, 1fr)"  # all figures of a race stand in one row, but on a phone
_IN_FRONT = {"position": "absolute", "inset": "0", "height": "100%", "z-index": "3", "pointer-events": "none"}
_HIGH = {"min-height": "max(380px, calc(100vh - 262px))", "max-height": "none"}  # in a room it fills the screen
HEAD = 50  # pixels above a small multiple
_ASIDE = ["aside"]  # what is folded away where objective and weights stand alone, for a room
_ASIDE_GONE = ".aside { display: none !important; }"
_IN_A_ROOM = (
    _ASIDE_GONE
    + " .across { grid-column: 1 / -1; } :host { display: grid !important; column-gap: 12px; align-items: start;"
    " grid-template-columns: minmax(0, 9fr) minmax(0, 11fr); }"
    " @media (max-width: 899px) { :host { grid-template-columns: minmax(0, 1fr); } }"
)
_SPREAD = ":host { flex-wrap: wrap; gap: 8px 16px; justify-content: space-between; align-items: center; }"


class RacePage:
    """The boxes of the page and what is written in them.

    Parameters
    ----------
    chips : Viewable
        Stands at the left above everything.
    controls : sequence of Viewable
        Stand at the right of it.
    corner : Viewable
        Stands in the upper right corner of the objective.
    foot : Viewable
        Invisible parts.

    Attributes
    ----------
    root : pn.Column
    bars : TimeBars
    titles : dict of str to pn.pane.HTML
        Above the figures, by the names of their charts.
    slot : pn.Column
        Empty place below the table of results.
    """

    def __init__(self, chips: Any, controls: Sequence[Any], corner: Any, foot: Any) -> None:
        self.slot = pn.Column(margin=0, sizing_mode="stretch_width", css_classes=_ASIDE)
        self._panes = {name: _pane() for name in _FIGURES}
        words = [f"the {what} of each solver appears here" for what in _LARGE.values()]
        words.append("the kernel weights of each solver appear here")
        self._waiting = {cards.html(styles=_IN_FRONT): _waiting(what) for what in words}
        self.bars = TimeBars(margin=0, sizing_mode="stretch_width")
        self._heads: dict[str, pn.pane.HTML] = {}
        self._options = ChartOptions(LIGHT)  # those that decide the words
        self._table, self._kernels = cards.html(), cards.html()
        self._milestones = cards.html()  # below the results, when there is an end to measure them by
        self.titles = {name: cards.html() for name in _FIGURES}
        self._write_titles()
        self._precision = cards.html(visible=False, css_classes=_ASIDE)  # below both figures, whose axes stay in line
        self._multiples = pn.Column(margin=(4, 0, 0, 0), sizing_mode="stretch_width")
        *stages, weights = (_stage(wait, height) for wait, height in zip(self._waiting, _HEIGHTS, strict=True))
        for stage, name in zip(stages, _LARGE, strict=True):
            stage.append(self._panes[name])
        weights.append(self._multiples)
        active, self._tolerance_card = (
            cards.card(self.titles[name], self._panes[name], visible=name == "active") for name in _SMALL
        )
        small = cards.grid(active, self._tolerance_card, columns=_THIRDS)
        self._moves = pn.Column(small, margin=0, sizing_mode="stretch_width", css_classes=_ASIDE)
        heads = ([corner, self.titles["objective"]], [self.titles["gap"]], [self.titles["step"]])
        folds = [{}, {"css_classes": _ASIDE}, {"css_classes": _ASIDE}]
        large = [cards.card(*head, stage, **fold) for head, stage, fold in zip(heads, stages, folds, strict=True)]
        right = pn.Row(*controls, margin=0, css_classes=_ASIDE, stylesheets=[":host { align-items: center; }"])
        self._large = cards.grid(*large, columns=_THIRDS)
        top = pn.Row(chips, right, stylesheets=[_SPREAD], margin=(8, 0, 10, 0), sizing_mode="stretch_width")
        top.css_classes = ["across"]
        self._with_asides = {box: list(box.stylesheets) for box in (self._large, top, large[0])}
        self.root = pn.Column(
            top,
            self._large,
            self._precision,
            cards.card(self._kernels, weights),
            cards.card(self._table, self._milestones, css_classes=_ASIDE),
            cards.card(self.bars, css_classes=_ASIDE),
            self.slot,
            self._moves,
            foot,
            margin=0,
            sizing_mode="stretch_width",
        )

    @property
    def document(self) -> Any:
        """The document the page is in, or None."""
        return document_of(self._table)

    def push(self) -> None:
        """Send raw Bokeh changes to a notebook, where they do not travel by themselves."""
        pn.io.push_notebook(self._panes["objective"])

    def resend(self) -> None:
        """Send all text once more."""
        for pane in (self._table, self._kernels, *self._heads.values()):
            pane.param.trigger("object")

    def paint(self, theme: Theme) -> None:
        """Put the colours of `theme` under everything; in a room objective and weights stand alone."""
        room = [_IN_A_ROOM] if theme.projected else []
        self.root.stylesheets = [cards.variables(theme), ":host { background: var(--mk-page); }", *room]
        for box, sheets in self._with_asides.items():
            box.stylesheets = [*sheets, _ASIDE_GONE] if theme.projected else sheets

    def show_empty(self) -> None:
        """Say what will appear, in front of the figures, if there are any."""
        for head in self._heads.values():
            head.object = ""
        self._kernels.object = cards.title("Kernel weights", term="kernel weight")
        self._table.object = result_table([])
        self._reveal(False)

    def show_race(self) -> None:
        """Let the figures be seen."""
        self._reveal(True)

    def mark_recording(self) -> None:
        """Say in every figure that what it draws is a recording."""
        for pane in self._waiting:
            pane.object = _RECORDED

    def _reveal(self, race: bool) -> None:
        self._moves.visible = race
        for pane, words in self._waiting.items():
            pane.object = "" if race else words  # a pane that comes or goes lays the whole page out anew

    def draw_nothing(self) -> None:
        """Empty the places of the figures: a page opens faster without any."""
        for pane in self._panes.values():
            pane.object = None
        self._multiples.objects, self._heads = [], {}

    def place(self, charts: Charts) -> None:
        """Put the figures of a race into their places."""
        styles = _HIGH if charts.options.theme.projected else {}
        for name, pane in self._panes.items():
            plot = getattr(charts, name)
            plot.styles = pane.styles = styles  # before the page has the figure
            pane.object = plot
        self._heads = {key: cards.html(css_classes=["narrow"]) for key in charts.by_run}
        rows = -(-len(self._heads) // _across(len(self._heads)))
        self._multiples.objects = [pn.Spacer(height=rows * (SMALL + HEAD), sizing_mode="stretch_width")]

    def place_weights(self, charts: Charts) -> None:
        """Put the figures of the kernel weights into their places, which were kept free for them."""
        self._multiples.objects = [self._small_multiples(charts)]

    def _small_multiples(self, charts: Charts) -> pn.Column:
        """Up to four solvers stand in one row, five and six in two; in a room no more than two in one.

        They keep their places when hidden: a shared range never forgets the bounds of a figure taken off the page.
        """
        room, runs = charts.options.theme.projected, len(charts.weights)
        across = min(_across(runs), 2) if room else _across(runs)
        styles = _shared_out(-(-runs // across)) if room else {}
        for plot in charts.weights.values():
            plot.styles = styles
        cells = [
            pn.Column(
                *(self._heads[key], _pane(plot, styles=styles)),
                **{"margin": (0, 0, 6, 0), "min_width": 0, "sizing_mode": "stretch_width"},
            )
            for key, plot in charts.weights.items()
        ]
        return cards.grid(*cells, columns=f"auto-fit, minmax(max(210px, calc(100% / {across} - {cards.GAP}px)), 1fr)")

    def say(
        self,
        rows: Collection[ResultRow],
        motions: Mapping[str, Motion],
        theme: Theme,
        regression: bool = False,
        cursor: int | None = None,
    ) -> None:
        """Fill the table, as of the step `cursor`, and the headings of the small multiples."""
        self.head(rows, motions, theme)
        when = "" if cursor is None else f'<p class="why">As of step {cursor:,}, where the timeline stands.</p>'
        self._table.object = (
            f'{when}<div class="scroll" tabindex="0">{result_table(rows, regression, self._options.noun)}</div>'
        )

    def head(self, rows: Collection[ResultRow], motions: Mapping[str, Motion], theme: Theme) -> None:
        """Fill the headings of the small multiples."""
        for row in rows:
            trouble = f'<span class="moved trouble">{escape(row.reason)}</span>' if row.status == "failed" else ""
            verdict = "" if trouble else badge(motions[row.key], theme)
            quiet = " hidden-run" if row.hidden else ""
            self._heads[row.key].object = f'<div class="head{quiet}">{_name(row.style)}{verdict}{trouble}</div>'

    def show_tolerance(self, visible: bool) -> None:
        """Show the SVM tolerance, which is of interest where a solver changes it."""
        self._tolerance_card.visible = visible

    def name_kernels(self, names: Sequence[str], kernels: int, theme: Theme, noun: str = "kernel") -> None:
        """Write the legend of the weights: the kernels, or whatever has weights, that are shown, out of so many."""
        entries = "".join(
            f'<span><i style="background:{colour}"></i>{escape(name)}</span>'
            for name, colour in zip(names, theme.kernels, strict=False)
        )
        self._write_titles(noun=noun)
        self._kernels.object = cards.title(
            weights_title(noun, len(names), kernels),
            term="kernel weight" if noun == "kernel" else "",
            beside=f'<span class="legend">{entries}</span>',
        )

    def say_milestones(self, table: str) -> None:
        """Show below the results what parts of the way had cost, or nothing."""
        self._milestones.object = table

    def name_objective(self, above: bool) -> None:
        """Write above the objective what is drawn."""
        self._write_titles(above=above)

    def say_precision(self, text: str) -> None:
        """Write below objective and gap what is exact and what approximate, where kernels are approximated."""
        self._precision.object = f'<p class="why alone">{escape(text)}</p>' if text else ""
        self._precision.visible = bool(text)

    def name_tolerance(self, gap: float | None, no_bound: str = "") -> None:
        """Write at which gap the solvers stop, or at which projected gradient where there is no gap, and why."""
        self._write_titles(gap_tolerance=gap, no_bound=no_bound)

    def _write_titles(self, **changes: Any) -> None:
        """Write above the figures what they show under other options."""
        self._options = replace(self._options, **changes)
        for name, chart in race_charts({}, self._options).items():
            self.titles[name].object = _heading(chart)


def _heading(chart: Chart) -> str:
    """Return the title of a chart and what is said of it; the corner of the objective says above what it stands."""
    title = chart.title if chart.name != "objective" else "Objective"
    beside = f'<i class="dashes"></i>{escape(chart.beside)}' if chart.beside else ""
    legend = f'<span class="legend"><span>{beside}</span></span>' if chart.name == "gap" else ""
    return cards.title(title, term=chart.term, beside=legend) + (_why(chart.note, chart.more) if chart.note else "")


def _why(text: str, more: str = "") -> str:
    """Return a line below a heading, with more words for whoever points at it."""
    detail = f' detail" title="{escape(more)}' if more else ""
    return f'<p class="why{detail}">{escape(text, quote=False)}</p>'


def _shared_out(rows: int) -> dict[str, str]:
    """Return the height that each of some rows of figures has, which fill the screen together."""
    return {"min-height": f"max(130px, calc((100vh - 340px) / {rows} - 45px))", "max-height": "none"}


def _across(solvers: int) -> int:
    return solvers if solvers <= 4 else 3


def _name(style: RunStyle) -> str:
    return f'<span class="name">{swatch(style)}<b>{escape(style.label)}</b></span>'


def _waiting(what: str) -> str:
    """Return words that lie in front of the figure which is, or will be, behind them."""
    return f'<div class="waiting"><p>Press Run:<br>{what}</p></div>'


def _stage(words: pn.pane.HTML, height: int) -> pn.Column:
    styles = {"position": "relative", "min-height": f"{height}px"}
    return pn.Column(words, styles=styles, margin=0, sizing_mode="stretch_width")


def _pane(plot: Any = None, **params: Any) -> PlotPane:
    return PlotPane(plot, sizing_mode="stretch_width", margin=0, **params)
