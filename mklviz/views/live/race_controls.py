"""What stands above the figures of a race: the horizontal axis, logarithmic scales and the way back from a zoom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

__all__ = ["race_controls"]

_TEXT = {"fontSize": "0.82rem", "whiteSpace": "nowrap"}


def race_controls(view: Any, reset_zoom: Callable[[], None]) -> list[Any]:
    """Return the controls of a view with the parameters `x_axis`, `log_x` and `log_y`."""
    axis = pmui.RadioButtonGroup.from_param(
        view.param.x_axis, label="", size="small", margin=0, color="primary", sx={"& button": {**_TEXT, "py": 0.4}}
    )
    boxes = [
        pmui.Checkbox.from_param(
            view.param[name], size="small", margin=(0, 0, 0, 8), sx={"& .MuiFormControlLabel-label": _TEXT}
        )
        for name in ("log_x", "log_y")
    ]
    reset = pmui.Button(label="Reset zoom", variant="text", size="small", margin=(0, 0, 0, 8))
    reset.on_click(lambda _event: reset_zoom())
    return [axis, *boxes, reset]
