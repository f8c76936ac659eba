"""Kernel weights as bars that a person drags, by mouse, finger or arrow keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import param

from mklviz.views.host.beside import KEEP_HOLD, beside
from mklviz.views.host.dragging import ONE_IN_FLIGHT, DraggedComponent

__all__ = ["WeightBars"]


class WeightBars(DraggedComponent):
    """The bars; `on_change` is called with the weights of all of them, each from 0 to `most`."""

    names = param.List(default=[], doc="The kernels")
    weights = param.List(default=[], doc="Their weights")
    most = param.Number(default=1.0, doc="The weight of a bar that is full")
    shared = param.Boolean(default=True, doc="Whether the weights sum to one")
    on_change: Callable[[Sequence[float]], None] | None = None

    _esm = ONE_IN_FLIGHT + KEEP_HOLD + beside(__file__, "weight_bars.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "weight_bars.css")]

    def receive(self, message: Any) -> None:
        """Hand on weights, if that is what they are."""
        weights = message.get("weights") if isinstance(message, dict) else None
        if self.on_change is None or not isinstance(weights, list) or len(weights) != len(self.names):
            return
        if all(isinstance(one, (int, float)) and 0.0 <= one <= self.most for one in weights):  # false for nan
            self.on_change([float(one) for one in weights])
