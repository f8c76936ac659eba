"""Earlier races, in grey behind the current one: objective and gap of each of their runs.

Only the bound under their objectives changes. Where they solved another problem than the race
that is shown their objectives say nothing beside its own, and the gaps alone are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource

from mklviz.record import Trace
from mklviz.record.reference import Reference
from mklviz.views.chart.columns import Thinning, drawable, line_columns
from mklviz.views.look.palette import Theme, readable
from mklviz.views.look.styles import run_styles
from mklviz.views.race.figures import Charts
from mklviz.views.session.race_history import KeptRace, difference

__all__ = ["Pins"]

_COLUMNS = ("iteration", "svm_solves", "seconds", "objective", "above", "gap")


class Pins:
    """The lines in grey.

    `races`: the races that are pinned.
    """

    def __init__(self) -> None:
        self.races: Sequence[KeptRace] = ()
        self._lines: list[tuple[Trace, ColumnDataSource]] = []
        self._apart: set[int] = set()  # indices of races on another problem than the one shown
        self._reference = Reference()

    def draw(self, charts: Charts, theme: Theme) -> None:
        """Draw the races behind everything in these figures; `suit` gives them their points."""
        self._lines, self._reference = [], Reference()
        grey = readable(theme.axis, theme.card)
        for race in self.races:
            styles = run_styles(race.traces, theme)
            for key, trace in race.traces.items():
                source = ColumnDataSource({name: [] for name in _COLUMNS}, name=f"pin-{race.name}-{key}")
                charts.pin(source, f"{styles[key].label} ({race.name})", grey, styles[key].dash)
                self._lines.append((trace, source))

    def suit(self, shown: Sequence[Trace], log_x: bool) -> None:
        """Draw the values that can be compared with the runs that are `shown`."""
        self._apart = {index for index, race in enumerate(self.races) if difference([*shown, *race.traces.values()])}
        apart = {id(trace) for index in self._apart for trace in self.races[index].traces.values()}
        for trace, source in self._lines:
            columns = _columns(trace, log_x)
            if id(trace) in apart:
                columns["objective"] = [math.nan] * len(columns["objective"])
            source.data = columns | {"above": self._above(columns["objective"])}

    def refer(self, reference: Reference) -> None:
        """Draw objectives above another bound."""
        if reference != self._reference:
            self._reference = reference
            for _, source in self._lines:
                source.data = {**source.data, "above": self._above(source.data["objective"])}

    def _above(self, objectives: Sequence[float]) -> list[float]:
        return drawable(map(self._reference.above, objectives))

    def named(self) -> list[dict[str, Any]]:
        """Return the legend entry of each race."""
        return [
            {"key": index, "label": race.name, "told": race.summary, "apart": index in self._apart}
            for index, race in enumerate(self.races)
        ]


def _columns(trace: Trace, log_x: bool) -> dict[str, list[float]]:
    """Return the columns of a run that has ended, thinned like those of a live one."""
    columns = line_columns(trace, Thinning(log_x).whole(len(trace)), Reference())
    return {name: columns[name] for name in _COLUMNS}
