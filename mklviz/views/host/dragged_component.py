"""What is dragged in the browser while a picture follows.

The browser tells one state at a time, the newest, and the next one when the picture of the last has been painted: so
nothing queues, however slow a picture is.
"""

from __future__ import annotations

from typing import ClassVar

import param

from mklviz.views.host.beside import beside
from mklviz.views.host.component import ScriptedComponent

__all__ = ["ONE_IN_FLIGHT", "DraggedComponent"]

ONE_IN_FLIGHT = beside(__file__, "one_in_flight.js")


class DraggedComponent(ScriptedComponent):
    """A component whose script begins with `ONE_IN_FLIGHT`."""

    drawn = param.Integer(default=0, doc="How many of the states told are drawn, or never will be")

    _busy__ignore: ClassVar[list[str]] = ["drawn"]  # no work that a page would have to be busy for

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.drawn += 1
