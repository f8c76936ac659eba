"""The controls above the figures of a race: the horizontal axis, logarithmic scales and the way back from a zoom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklviz.views.form import Button, Checkbox, Form, FormRow, Segments, follow

_ABOVE = (
    "Draws the objective less the best lower bound of all solvers. It is done by itself where the plain curves lie too"
    " flat to be told apart."
)

__all__ = ["above_box", "race_controls"]
_CORNER = {"position": "absolute", "top": "6px", "right": "12px"}  # takes no room from the figure


def race_controls(view: Any, reset_zoom: Callable[..., None]) -> list[Any]:
    """Return the controls of a view with the parameters `x_axis`, `log_x` and `log_y`."""
    axis = Segments(label="Horizontal axis", options=view.param.x_axis.names)
    follow(axis, view, "x_axis")
    boxes = [Checkbox(label=view.param[name].label) for name in ("log_x", "log_y")]
    for box, name in zip(boxes, ("log_x", "log_y"), strict=True):
        follow(box, view, name)
    reset = Button(lambda *_: reset_zoom(), label="Reset zoom", variant="text")
    return [Form(FormRow(axis, *boxes, reset, wrap=True), sizing_mode=None)]


def above_box(view: Any) -> Form:
    """Return the box beside the heading of the objective, for a view with the parameter `above`."""
    box = Checkbox(label=view.param.above.label, description=_ABOVE)
    follow(box, view, "above")
    return Form(FormRow(box), sizing_mode=None, styles=_CORNER, css_classes=["aside"])
