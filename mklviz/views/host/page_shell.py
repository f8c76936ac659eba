"""The page of panel-material-ui around the dashboard: its template, and what its shell must not do."""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui
from panel.util import edit_readonly

from mklviz.views.host.beside import beside

__all__ = ["PAGE_TEMPLATE", "never_busy", "page_template"]


def _block(name: str, html: str) -> str:
    return f"{{% block {name} %}}{{% raw %}}{html}{{% endraw %}}{{{{ super() }}}}{{% endblock %}}"


def _script(block: str, file: str) -> str:
    return _block(block, f"<script>{beside(__file__, file)}</script>")


# the scripts stand before those of Bokeh and Panel, and after
PAGE_TEMPLATE = (
    '{% extends "base.html" %}' + _script("preamble", "unloaded.js") + _script("postamble", "built_first.js")
)


def page_template(html: str) -> str:
    """Return the template of a page with some HTML of its own, which is seen before the scripts are loaded."""
    return PAGE_TEMPLATE + _block("contents", html)


def never_busy(page: pmui.Page) -> None:
    """Free a page from the busy light of the process.

    Otherwise the page walks twice through its whole document at every tick of a clock to say "busy". The light, which
    lives as long as the process, would also keep the pages of all sessions that are over.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", [])):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)
