"""What the figures of a race draw, read from their description and their tables."""

from __future__ import annotations

from _undrawn import DrawnChart, draw_none

from mklviz.views.race.race_view import RaceView

__all__ = ["drawn_chart"]


def drawn_chart(view: RaceView, name: str) -> DrawnChart:
    """Return one of the charts that show all runs as it is drawn now."""
    assert view.charts is not None
    tables = {table: source.data for table, source in view.charts.sources.items()}
    return draw_none(view.charts.described[name], tables)
