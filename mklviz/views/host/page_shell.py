"""The page of panel-material-ui around the dashboard: its template, and what its shell must not do."""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui
from panel.util import edit_readonly

from mklviz.views.host.beside import beside

__all__ = ["PAGE_TEMPLATE", "never_busy", "page_template"]

PAGE_TEMPLATE = f"""{{% extends "base.html" %}}{{% block preamble %}}{{{{ super() }}}}
<script>{{% raw %}}{beside(__file__, "unloaded.js")}{{% endraw %}}</script>{{% endblock %}}"""


def page_template(html: str) -> str:
    """Return the template of a page with some HTML of its own, which is seen before the scripts are loaded."""
    contents = "{% block contents %}{% raw %}" + html + "{% endraw %}{{ super() }}{% endblock %}"
    return PAGE_TEMPLATE + contents


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
