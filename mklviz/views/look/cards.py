"""The boxes of a page: white cards with a heading, grids of equal columns, and the theme as CSS variables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import panel as pn

from mklviz.context import PARTS
from mklviz.glossary import GLOSSARY
from mklviz.views.host.beside import beside
from mklviz.views.host.components import Markup
from mklviz.views.look.palette import FONT, RunStyle, Theme, swatch

__all__ = [
    "GAP",
    "TEXT_CSS",
    "Rooted",
    "card",
    "cell",
    "column",
    "figure",
    "grid",
    "heading",
    "help_mark",
    "html",
    "legend",
    "title",
    "variables",
    "word_variables",
]

GAP = 12  # pixels between cards
_CARD = """
:host { background: var(--mk-card); border: 1px solid var(--mk-border); border-radius: 10px; padding: 12px 14px 8px;
  box-sizing: border-box; min-width: 0; }"""
_GRID = """
:host {{ display: grid; grid-template-columns: repeat({columns}); column-gap: {gap}px; align-content: start; }}
.bk-panel-models-layout-Column {{ height: auto; }}  /* as high as the highest card of the row */
:host(.bk-hidden) {{ display: none; }}
.scroll-button {{ display: none; }}"""

TEXT_CSS = beside(__file__, "cards.css")


class Rooted(pn.viewable.Viewer):
    """Something on a page that is seen as its `root`."""

    root: Any

    def __panel__(self) -> Any:
        return self.root


def variables(theme: Theme) -> str:
    """Return the theme as a stylesheet for the outermost element; custom properties reach into every shadow root."""
    names = ("page", "card", "border", "text", "muted", "accent")
    tokens = "".join(f"--mk-{name}: {getattr(theme, name)};" for name in names)
    pairs = zip(PARTS, theme.parts, strict=True)
    tokens += "".join(f"--mk-{part}: {fill}; --mk-on-{part}: {text};" for part, (fill, text) in pairs)
    tokens += word_variables(theme)
    return f":host {{ {tokens} --mk-font: {FONT}; {_size(theme)} }}"


def word_variables(theme: Theme) -> str:
    """Return the colours of words such as "converged" as CSS variables."""
    words = {"good": theme.good, "bad": theme.bad, "neutral": theme.neutral}
    return "".join(f"--mk-{name}-fill: {fill}; --mk-{name}: {text};" for name, (fill, text) in words.items())


def _size(theme: Theme) -> str:
    """Return the type size as CSS; at large sizes, explanations are left out."""
    return f"--mk-scale: {theme.scale:g};" + (" --mk-detail: none;" if theme.projected else "")


def figure(plot: Any = None) -> pn.pane.Bokeh:
    """Return a figure as wide as its card."""
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)


def cell(heading: Any, plot: Any, below: int = 0) -> pn.Column:
    """Return a figure under its heading, one of several beside each other."""
    return pn.Column(heading, figure(plot), margin=(0, 0, below, 0), min_width=0, sizing_mode="stretch_width")


def column(*objects: Any) -> pn.Column:
    """Return the cards of a tab below each other."""
    return pn.Column(*objects, margin=(8, 0, 0, 0), sizing_mode="stretch_width")


def html(text: str = "", **params: Any) -> pn.pane.HTML:
    """Return a pane for markup made here; whatever came from elsewhere has been escaped."""
    return Markup(text, stylesheets=[TEXT_CSS], margin=0, sizing_mode="stretch_width", **params)


def title(text: str, *, term: str = "", beside: str = "") -> str:
    """Return a card's heading with `beside` (HTML) to its right; a `term` of the glossary is explained behind it."""
    return f'<div class="title"><h3>{escape(text)}{help_mark(term) if term else ""}</h3>{beside}</div>'


def heading(text: str, why: str, *, beside: str = "") -> str:
    """Return a card's heading with the line that explains the card below."""
    return f'{title(text, beside=beside)}<p class="why">{escape(why)}</p>'


def legend(styles: Iterable[RunStyle]) -> str:
    """Return the names of runs, each beside its line and marker."""
    entries = "".join(f"<span>{swatch(style)}{escape(style.label)}</span>" for style in styles)
    return f'<span class="legend">{entries}</span>'


def help_mark(term: str) -> str:
    """Return a question mark that says in one sentence what a term of the glossary means."""
    sentence = escape(f"{term[0].upper()}{term[1:]}: {GLOSSARY[term]}")
    return f'<span class="help" role="note" tabindex="0" aria-label="{sentence}" data-tip="{sentence}"></span>'


def card(*objects: Any, **params: Any) -> pn.Column:
    """Return a white box around `objects`."""
    return pn.Column(*objects, stylesheets=[_CARD], margin=(0, 0, GAP, 0), sizing_mode="stretch_width", **params)


def grid(*objects: Any, columns: str, **params: Any) -> pn.Column:
    """Return `objects` in equal columns; `columns` is the argument of CSS ``repeat``."""
    sheet = _GRID.format(columns=columns, gap=GAP)
    return pn.Column(*objects, stylesheets=[sheet], margin=0, sizing_mode="stretch_width", **params)
