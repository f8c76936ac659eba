"""The boxes of a page: white cards with a heading, grids of equal columns, and the theme as CSS variables."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from mklviz.context import PARTS
from mklviz.views.look.palette import FONT, Theme

__all__ = ["GAP", "TEXT_CSS", "card", "grid", "html", "title", "variables"]

GAP = 12  # pixels between cards
_CARD = """
:host { background: var(--mk-card); border: 1px solid var(--mk-border); border-radius: 10px; padding: 12px 14px 8px;
  box-sizing: border-box; min-width: 0; }
"""
_GRID = """
:host {{ display: grid; grid-template-columns: repeat({columns}); column-gap: {gap}px; align-content: start; }}
:host(.bk-hidden) {{ display: none; }}
.scroll-button {{ display: none; }}"""

TEXT_CSS = """
:host { color: var(--mk-text); font: 13px/1.45 var(--mk-font); }
h3 { display: inline-block; font-size: 15px; font-weight: 700; margin: 0 18px 0 0; }
.legend { display: inline-flex; flex-wrap: wrap; gap: 2px 16px; vertical-align: baseline; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.legend i { width: 11px; height: 11px; border-radius: 2px; }
.title { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 0; }
.legend i.dashes { width: 22px; height: 0; border-top: 2px dashed var(--mk-muted); border-radius: 0; }
:host(.narrow) { container-type: inline-size; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 10px; min-height: 24px; }
.head b { font-size: 14px; }
.head .name { display: inline-flex; align-items: center; gap: 7px; }
.moved { flex-basis: 100%; min-height: 1.45em; color: var(--mk-muted); font-size: 12.5px; cursor: help; }
@container (max-width: 270px) { .moved { min-height: 2.9em; } }
.pill { padding: 1px 10px; border-radius: 11px; font-size: 12.5px; line-height: 20px; white-space: nowrap;
  cursor: help; }
.trouble { color: var(--mk-bad); font-size: 12.5px; flex-basis: 100%; }
.why { margin: 2px 0 0; color: var(--mk-muted); font-size: 12.5px; }
.why.alone { margin: 0 4px 12px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.quiet { color: var(--mk-muted); text-align: center !important; padding: 18px !important; }
.scroll { overflow-x: auto; }
table.results { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px; }
.results th, .results td { padding: 7px 8px; text-align: right; white-space: nowrap; vertical-align: top; }
.results th:first-child, .results th:nth-child(2), .results td:nth-child(2) { text-align: left; }
.results thead th { font-size: 12.5px; font-weight: 600; color: var(--mk-muted); padding-top: 2px; white-space: normal;
  vertical-align: bottom; }
.results tbody tr { border-top: 1px solid var(--mk-border); }
.results tbody th { font-weight: 500; }
.results svg { margin-right: 8px; vertical-align: -1px; }
.results .reason { display: block; color: var(--mk-muted); font-size: 12.5px; white-space: normal; min-width: 13em;
  max-width: 30em; }
.results .failed + .reason { color: var(--mk-bad); }
.word { display: inline-block; padding: 0 9px; border: 1px solid var(--mk-border); border-radius: 11px;
  font-size: 12.5px; line-height: 20px; }
.word i::before { content: attr(data-sign); font-style: normal; font-weight: 700; margin-right: 6px; }
.word.running { border-color: var(--mk-accent); color: var(--mk-accent); }
.word.converged { border-color: transparent; background: var(--mk-good-fill); color: var(--mk-good); }
.word.precision { border-color: var(--mk-good); color: var(--mk-good); }
.word.rule { border: 1px dashed var(--mk-muted); color: var(--mk-text); }
.word.limit { border-color: transparent; background: var(--mk-neutral-fill); color: var(--mk-neutral); }
.word.failed { border-color: transparent; background: var(--mk-bad-fill); color: var(--mk-bad); }
.hidden-run, .hidden-run .pill { color: var(--mk-muted) !important; background: none !important; }
.hidden-run b, .hidden-run th { text-decoration: line-through; }
.hidden-run svg { opacity: 0.4; }
"""


def variables(theme: Theme) -> str:
    """Return the theme as a stylesheet for the outermost element; custom properties reach into every shadow root."""
    names = ("page", "card", "border", "text", "muted", "accent")
    tokens = "".join(f"--mk-{name}: {getattr(theme, name)};" for name in names)
    pairs = zip(PARTS, theme.parts, strict=True)
    tokens += "".join(f"--mk-{part}: {fill}; --mk-on-{part}: {text};" for part, (fill, text) in pairs)
    words = {"good": theme.good, "bad": theme.bad, "neutral": theme.neutral}
    tokens += "".join(f"--mk-{name}-fill: {fill}; --mk-{name}: {text};" for name, (fill, text) in words.items())
    return f":host {{ {tokens} --mk-font: {FONT}; }}"


def html(text: str = "", **params: Any) -> pn.pane.HTML:
    """Return a pane for markup made here; whatever came from elsewhere has been escaped."""
    return pn.pane.HTML(text, stylesheets=[TEXT_CSS], margin=0, sizing_mode="stretch_width", **params)


def title(text: str, *, beside: str = "") -> str:
    """Return a card's heading with `beside` (HTML) to its right."""
    return f'<div class="title"><h3>{escape(text)}</h3>{beside}</div>'


def card(*objects: Any, **params: Any) -> pn.Column:
    """Return a white box around `objects`."""
    return pn.Column(*objects, stylesheets=[_CARD], margin=(0, 0, GAP, 0), sizing_mode="stretch_width", **params)


def grid(*objects: Any, columns: str, **params: Any) -> pn.Column:
    """Return `objects` in equal columns; `columns` is the argument of CSS ``repeat``."""
    sheet = _GRID.format(columns=columns, gap=GAP)
    return pn.Column(*objects, stylesheets=[sheet], margin=0, sizing_mode="stretch_width", **params)
