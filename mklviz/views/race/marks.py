"""Where the cursor stands: in every figure one upright line per run, at the step shown."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bokeh.models import CDSView, ColumnDataSource, GlyphRenderer, IndexFilter, VSpan
from bokeh.plotting import figure

from mklviz.views.look.palette import RunStyle

__all__ = ["Marks"]

COLUMNS = ("iteration", "svm_solves", "seconds")


class Marks:
    """The lines of all figures, from one small source.

    `x`: the column that is drawn.
    """

    def __init__(self, styles: Mapping[str, RunStyle], x: str) -> None:
        self._keys, self._x = list(styles), x
        colours = [style.colour for style in styles.values()]
        nowhere = [math.nan] * len(colours)
        self.source = ColumnDataSource({"colour": colours, **dict.fromkeys(COLUMNS, nowhere)}, name="marks")
        self.renderers: list[GlyphRenderer] = []

    def draw(self, plot: figure, key: str | None = None) -> None:
        """Draw the lines of all runs in `plot`, or that of one run alone."""
        line = VSpan(x=self._x, line_color="colour", line_width=1.5, line_alpha=0.9)
        view = CDSView() if key is None else CDSView(filter=IndexFilter([self._keys.index(key)]))
        self.renderers.append(plot.add_glyph(self.source, line, view=view))

    def set_x(self, x: str) -> None:
        """Draw over another column."""
        self._x = x
        for renderer in self.renderers:
            renderer.glyph.x = x

    def move(self, positions: Mapping[str, Mapping[str, float]]) -> None:
        """Move the lines to the positions of the runs, by column; a run without a position has no line."""
        for name in COLUMNS:
            column = [float(positions.get(key, {}).get(name, math.nan)) for key in self._keys]
            drawn = list(self.source.data[name])
            if any(a != b and not (math.isnan(a) and math.isnan(b)) for a, b in zip(column, drawn, strict=True)):
                self.source.data = {**self.source.data, name: column}
