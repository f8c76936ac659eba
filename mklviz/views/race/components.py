"""The legend as a row of buttons, and the bars of the time that each solver took.

Press a button to hide or show a solver's curves everywhere; after them, in grey, one per pinned race, to unpin it. A
bar is as long as its solver's time compared with the longest, or, as shares, as long as all others. The page holds the
bars; while solvers run, only their numbers travel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from html import escape
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from mklviz.context import PARTS
from mklviz.record import Trace
from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.look.cards import title
from mklviz.views.look.palette import TEXT_CSS, RunStyle, swatch

_SCRIPT, _SHEET = CONTROLS + beside(__file__, "components.js"), beside(__file__, "components.css")


class Chips(ScriptedComponent):
    """Toggle buttons with the line and marker of each run, and those of the races that are pinned."""

    items = param.List(default=[])
    hidden = param.List(default=[])
    pinned = param.List(default=[])
    on_take_off: Callable[[int], None] | None = None  # called with the key of a race in grey whose button is pressed

    _esm = f"{_SCRIPT}export const render = chips"

    _stylesheets: ClassVar[list[str]] = [_SHEET]

    def name_runs(self, styles: Mapping[str, RunStyle]) -> None:
        self.items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]

    def receive(self, message: Any) -> None:
        """Take off the race in grey whose button was pressed, if it is still there."""
        if self.on_take_off is not None and message.get("off") in [item["key"] for item in self.pinned]:
            self.on_take_off(message["off"])


# -- where the time goes: one bar per solver, its CPU seconds split into what they were spent on


LABELS = {part: {"svm": "SVM", "combine": "combine kernels"}.get(part, part) for part in PARTS}


WHY = (
    "CPU seconds inside each solver. The subproblem is its own linear program, projection or formula; other is mostly"
    " certificates."
)


def heading() -> str:
    """Return the card's title with the parts and their colours; a tooltip explains each part."""
    entries = (
        f'<span title="{escape(why.capitalize())}"><i class="part" style="background: var(--mk-{part})"></i>'
        f"{LABELS[part]}</span>"
        for part, why in PARTS.items()
    )
    return title("Where the time goes", beside=f'<span class="legend">{"".join(entries)}</span>')


class TimeBars(JSComponent):
    """The bars.

    `items`: ``key``, ``label`` and ``swatch`` (an SVG) of each run; `spent`: CPU seconds by part, a list per key, empty
    where not measured; `hidden`: keys of the runs that are not drawn; `shares`: whether all bars are equally long.
    """

    items = param.List(default=[])
    spent = param.Dict(default={})
    hidden = param.List(default=[])
    shares = param.Boolean(default=False)
    heading = param.String(default="", constant=True)
    why = param.String(default=WHY, constant=True)
    parts = param.List(default=list(LABELS.items()), constant=True)

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"heading": heading(), **params})

    def follow(self, traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], hidden: Collection[str]) -> None:
        """Update the bars to the runs' current times; nothing is sent where nothing changed."""
        items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]
        news: dict[str, Any] = {"items": items, "spent": spent_by(traces), "hidden": sorted(hidden)}
        self.param.update(**{name: value for name, value in news.items() if value != getattr(self, name)})

    _esm = f"{_SCRIPT}export const render = timeBars"

    _stylesheets: ClassVar[list[str]] = [TEXT_CSS, _SHEET]


def spent_by(traces: Mapping[str, Trace]) -> dict[str, list[float]]:
    """Return the CPU seconds by part of every run, rounded to visible digits; none where they were not measured."""
    spent = {}
    for key, trace in traces.items():
        split = trace.split_at(len(trace) - 1) if len(trace) else dict.fromkeys(PARTS, 0.0)
        spent[key] = [round(seconds, 5) for seconds in split.values()]
    return spent
