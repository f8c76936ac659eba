"""Where the user has zoomed to in a race. The browser keeps it, over figures that are built anew, and tells the server
whether there is anything: what the figures draw does not change by itself while somebody looks at a part of it."""

from __future__ import annotations

from collections.abc import Mapping

from bokeh.models import ColumnDataSource, CustomJS, DataRange1d

from mklviz.views.host.beside import beside

__all__ = ["Zooms"]

# a range tells where the user has put it, and begins there when its figure is built anew; only the first number that it
# is given decides, as all later ones without a user are those of a reset
_KEEP = beside(__file__, "keep_zoom.js")


class Zooms:
    """The zooms of one race, in whatever figures it is drawn."""

    def __init__(self) -> None:
        self._places = ColumnDataSource(name="zooms", syncable=False)
        self._told = ColumnDataSource(name="zoomed")

    def __bool__(self) -> bool:
        """Whether the user has zoomed, as far as the browser has told."""
        return bool(self._told.tags)

    def keep(self, axes: Mapping[str, DataRange1d]) -> None:
        """Let the browser remember where the user puts a range, by its name."""
        for name, axis in axes.items():
            keep = CustomJS(args={"zooms": self._places, "told": self._told, "name": name}, code=_KEEP)
            axis.js_on_change("start", keep)
            axis.js_on_change("end", keep)
