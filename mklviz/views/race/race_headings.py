"""The headings on the page of a race, as HTML: the title of a figure, and a line below with its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mklviz.views.chart.description import Chart
from mklviz.views.chart.race_charts import weights_title
from mklviz.views.look.cards import title
from mklviz.views.look.palette import Theme

__all__ = ["chart_heading", "weights_heading"]


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
