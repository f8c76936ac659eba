"""The page around the dashboard: header, drawer for the controls, and what its shell must not do."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.views.host.markup import Markup
from mklviz.views.host.page_shell import PAGE_TEMPLATE, never_busy
from mklviz.views.look.theme import PAGE_SX, SIDEBAR_WIDTH, THEME

__all__ = ["build_page", "status_html", "status_line"]

# Bokeh lets nothing be higher than what is around it, which in a page that scrolls is the window: a column would end
# there, its cards drawn over each other
_AS_HIGH_AS_IT_IS = ":host { max-height: none !important; }"

TITLE, SUBTITLE = "mklviz", "Watch multiple-kernel solvers think"


def build_page(header: Sequence[Any], controls: Sequence[Any], main: Any) -> pmui.Page:
    """Return the page of one session; without controls it has no drawer."""
    page = pmui.Page(
        template=PAGE_TEMPLATE,
        meta_title=TITLE,
        header=[_brand(), *header],
        sidebar=list(controls),
        main=[pn.Column(main, stylesheets=[_AS_HIGH_AS_IT_IS], sizing_mode="stretch_width", margin=(4, 20, 24, 20))],
        theme_config=THEME,
        sx=PAGE_SX,
        sidebar_width=SIDEBAR_WIDTH,
        sidebar_resizable=False,
        busy_indicator=None,
    )
    never_busy(page)
    return page


def status_line() -> Markup:
    """Return the place for a sentence in the header, which leaves room for what stands behind it."""
    narrow = [":host { min-width: 0; }"]
    return Markup(margin=0, align="center", sizing_mode="stretch_width", stylesheets=narrow)


def status_html(sentence: str) -> str:
    """Return a sentence that screen readers say when it changes."""
    return (
        '<span role="status" aria-live="polite" style="font: 400 13px/1.4 var(--bokeh-base-font); overflow: hidden;'
        " display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;"
        f' color: var(--mui-palette-text-secondary)">{escape(sentence)}</span>'
    )


def _brand() -> pn.pane.HTML:
    """The name of the app, which is also the page's heading."""
    return pn.pane.HTML(
        f'<div style="display: flex; gap: 16px; align-items: baseline; white-space: nowrap; margin-right: 24px;'
        f' font-family: var(--bokeh-base-font)"><h1 style="margin: 0; font-size: 17px;'
        f' color: var(--mui-palette-text-primary)">{TITLE}</h1>'
        f'<span class="subtitle" style="font-size: 13px; color: var(--mui-palette-text-secondary)">{SUBTITLE}</span>'
        "</div>",
        stylesheets=["@media (max-width: 599px) { .subtitle { display: none; } }"],
        margin=0,
        align="center",
    )
