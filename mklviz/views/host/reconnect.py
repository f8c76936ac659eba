"""What a page needs to outlive its connection: signs of life, a way to come back, and an address that has the set-up.

The server counts up `beat` and the browser answers with `heard`. A page that hears nothing says so and tries to come
back to its session. If the session is over, it starts again from its address; see ``reconnect.js``.
"""

from __future__ import annotations

import secrets
from time import monotonic
from typing import ClassVar

import panel as pn
import param
from panel.custom import JSComponent

from mklviz.views.host.beside import beside

__all__ = ["Reconnect"]

BEAT = 3.0  # seconds
GONE_AFTER = 10.0  # seconds without an answer after which a page counts as left, even if its connection looks open


class Reconnect(JSComponent):
    """Invisible part of a page."""

    page_id = param.String(default="", doc="Tells this page from one that is built anew for the same session")
    session = param.String(default="", doc="The id of the page's session, without its signature")
    query = param.String(default="", doc='The end of the page\'s address; "" leaves it as it is')
    beat = param.Integer(default=0, doc="How many signs of life were sent")
    heard = param.Integer(default=0, doc="The last of them that was answered")

    _busy__ignore: ClassVar[list[str]] = ["heard"]

    _esm = beside(__file__, "reconnect.js")

    def __init__(self) -> None:
        document = pn.state.curdoc
        self._context = document.session_context if document is not None else None
        session = self._context.id.split(".")[0] if self._context else ""
        super().__init__(page_id=secrets.token_hex(8), session=session, width=0, height=0, margin=0)
        self._beat_at = self._heard_at = monotonic()
        self.param.watch(self._take_note, "heard")

    def tick(self, now: float) -> None:
        """Send a sign of life when one is due."""
        if now - self._beat_at >= BEAT:
            self._beat_at = now
            self.beat += 1

    @property
    def present(self) -> bool:
        """Whether a browser shows the page."""
        session = self._context.session if self._context else None
        if session is None or session.connection_count == 0:
            return False
        return monotonic() - self._heard_at < GONE_AFTER

    def _take_note(self, _event: object) -> None:
        self._heard_at = monotonic()
