"""What stands above the figures of a race: the horizontal axis, logarithmic scales and the way back from a zoom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklviz.views.form import Button, Checkbox, Form, Row, Segments, follow

__all__ = ["race_controls"]


def race_controls(view: Any, reset_zoom: Callable[..., None]) -> list[Any]:
    """Return the controls of a view with the parameters `x_axis`, `log_x` and `log_y`."""
    axis = Segments(label="Horizontal axis", options=view.param.x_axis.names)
    follow(axis, view, "x_axis")
    boxes = [Checkbox(label=view.param[name].label) for name in ("log_x", "log_y")]
    for box, name in zip(boxes, ("log_x", "log_y"), strict=True):
        follow(box, view, name)
    reset = Button(lambda *_: reset_zoom(), label="Reset zoom", variant="text")
    return [Form(Row(axis, *boxes, reset, wrap=True), sizing_mode=None)]
