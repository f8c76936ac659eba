"""The figures of the kernel weights, one for each run, each below the name of its solver."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

import panel as pn

from mklviz.record.motion import Motion
from mklviz.views.host.components import PlotPane
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme, swatch
from mklviz.views.race.figures import FEWEST, SMALL, Charts
from mklviz.views.race.results import ResultRow, badge

__all__ = ["SmallMultiples"]

HEAD = 50  # pixels above a small multiple
_AT_FOOT = ":host { height: 100%; justify-content: space-between; }"  # figures of a row are aligned
_SCALE = "Each solver has a scale of its own. This one is drawn so many times as tall as the one that reaches highest."


class SmallMultiples:
    """Up to four solvers stand in one row, five and six in two; on a projector no more than two in one."""

    def __init__(self) -> None:
        self.box = pn.Column(margin=(4, 0, 0, 0), sizing_mode="stretch_width")
        self.heads: dict[str, pn.pane.HTML] = {}  # above the figure of each run

    def clear(self) -> None:
        """Take all figures off the page."""
        self.box.objects, self.heads = [], {}

    def reserve(self, keys: Sequence[str]) -> None:
        """Reserve the space for the figures of these runs."""
        self.heads = {key: cards.html(css_classes=["narrow"]) for key in keys}
        rows = -(-len(self.heads) // _across(len(self.heads)))
        self.box.objects = [pn.Spacer(height=rows * (SMALL + HEAD), sizing_mode="stretch_width")]

    def show_charts(self, charts: Charts) -> None:
        """Show the figures in the space reserved for them.

        They keep their places when hidden: a shared range never forgets the bounds of a figure taken off the page.
        """
        projected, runs = charts.options.theme.projected, len(charts.weights)
        across = min(_across(runs), 2) if projected else _across(runs)
        styles = _shared_out(-(-runs // across)) if projected else {}
        for plot in charts.weights.values():
            plot.styles = styles
        cells = [
            pn.Column(
                *(self.heads[key], PlotPane(plot, sizing_mode="stretch_width", margin=0, styles=styles)),
                **{
                    "margin": (0, 0, 0 if projected else 6, 0),
                    "min_width": 0,
                    "sizing_mode": "stretch_width",
                    "stylesheets": [_AT_FOOT],
                },
            )
            for key, plot in charts.weights.items()
        ]
        columns = f"auto-fit, minmax(max(210px, calc(100% / {across} - {cards.GAP}px)), 1fr)"
        self.box.objects = [cards.grid(*cells, columns=columns)]

    def name(
        self, rows: Collection[ResultRow], motions: Mapping[str, Motion], enlarged: Mapping[str, str], theme: Theme
    ) -> None:
        """Write above each figure its solver, how large it is drawn, and how the weights moved or why it failed."""
        for row in rows:
            trouble = f'<span class="moved trouble">{escape(row.reason)}</span>' if row.status == "failed" else ""
            verdict = "" if trouble else badge(motions[row.key], theme)
            quiet = " hidden-run" if row.hidden else ""
            scale = (
                f'<span class="pill scale" title="{_SCALE}">{_scale_word(enlarged[row.key])}</span>'
                if enlarged[row.key]
                else ""
            )
            self.heads[row.key].object = f'<div class="head{quiet}">{_name(row.style)}{scale}{verdict}{trouble}</div>'

    def name_nobody(self) -> None:
        """Write nothing above the figures, which wait for a race."""
        for head in self.heads.values():
            head.object = ""


def _scale_word(enlarged: str) -> str:
    """Return how far a figure is enlarged; where type is large, without the word that says so."""
    word, times = enlarged.split()
    return f'<span class="word-of-scale">{word}&nbsp;</span>{times}'


def _shared_out(rows: int) -> dict[str, str]:
    """Return the height of each row of figures, so that all rows fill the screen together."""
    return {"min-height": f"max({FEWEST}px, calc((100vh - 340px) / {rows} - 45px))", "max-height": "none"}


def _across(solvers: int) -> int:
    return solvers if solvers <= 4 else 3


def _name(style: RunStyle) -> str:
    return f'<span class="name">{swatch(style)}<b>{escape(style.label)}</b></span>'
