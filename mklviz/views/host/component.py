"""A part of a page with a script of its own, and messages to and from that script."""

from __future__ import annotations

from typing import Any

from panel.custom import JSComponent

__all__ = ["ScriptedComponent"]


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
