"""A part of a page with a script of its own, and messages to and from that script."""

from __future__ import annotations

from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from mklviz.views.host.beside import beside

__all__ = ["ONE_IN_FLIGHT", "DraggedComponent", "ScriptedComponent"]

ONE_IN_FLIGHT = beside(__file__, "one_in_flight.js")


class ScriptedComponent(JSComponent):
    """A component that draws itself in the browser by the script in its ``_esm``."""

    def receive(self, message: Any) -> None:
        """Answer a message of the script."""

    def send(self, message: Any) -> None:
        """Send the script a message."""
        self._send_msg(message)

    def before_page(self) -> None:
        """Bring the parameters up to date; called before a page is given them for the first time."""

    def _handle_msg(self, data: Any) -> None:
        self.receive(data)

    def _get_model(self, *args: Any, **settings: Any) -> Any:
        self.before_page()
        return super()._get_model(*args, **settings)


class DraggedComponent(ScriptedComponent):
    """What is dragged in the browser while a picture follows; its script begins with `ONE_IN_FLIGHT`.

    The browser tells one state at a time, the newest, and the next one when the picture of the last has been painted:
    so nothing queues, however slow a picture is.
    """

    drawn = param.Integer(default=0, doc="How many of the states told are drawn, or never will be")

    _busy__ignore: ClassVar[list[str]] = ["drawn"]  # no work that a page would have to be busy for

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.drawn += 1
