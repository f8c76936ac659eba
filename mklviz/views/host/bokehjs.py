"""The scripts that a notebook page needs for live figures, as texts: without internet there is no other source."""

from __future__ import annotations

from functools import cache

from bokeh.resources import Resources
from panel.io.resources import DIST_DIR

from mklviz.views.host.beside import beside

__all__ = ["libraries", "program"]

# Panel loads its components as modules that import by name, and no browser by itself lets a page add names later
_SHIM_MODE = """document.head.append(Object.assign(document.createElement("script"),
  { type: "esms-options", textContent: '{"shimMode": true}' }))
"""


def program() -> str:
    """Return the script that draws what the kernel sends."""
    return beside(__file__, "receive.js")


@cache
def libraries() -> dict[str, str]:
    """Return BokehJS and Panel's part of it, by name, in the order in which they are to be run."""
    bokeh = Resources(mode="inline", components=["bokeh", "bokeh-widgets", "bokeh-tables"]).js_raw
    shims = next((DIST_DIR / "bundled" / "reactiveesm").glob("es-module-shims*/dist/es-module-shims.min.js"))
    return {
        "modules": _SHIM_MODE + shims.read_text(encoding="utf-8"),
        "bokeh": "\n".join(bokeh),
        "panel": (DIST_DIR / "panel.min.js").read_text(encoding="utf-8"),
    }
