"""What a cell of a notebook shows: figures that live as long as a page looks at them, and a picture that stays.

The output itself holds a few lines of script, with which a page asks the kernel for the figures, and below it a picture
that is hidden while they are there. A notebook that is saved keeps the picture: it is what there is to see without the
kernel, on a code host and in an export. Knows no Panel, which is loaded when the first page asks.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mklviz.views.host.kernel import display_script, listen
from mklviz.views.notebook.drawing_lock import LOCK

if TYPE_CHECKING:
    from mklviz.views.notebook.wire import LiveFigures, Page

__all__ = ["Output", "still_html"]


_log = logging.getLogger(__name__)
_outputs: dict[str, Output] = {}


class Output:
    """The output of a cell.

    `subject`: the object to show; its ``repr`` is shown where nothing can be drawn; `build`: builds the figures, anew
    for every page that asks for them; `draw`: draws the picture, as SVG; called outside the main thread; `pages`: that
    have asked so far.
    """

    def __init__(self, subject: object, build: Callable[[], LiveFigures], draw: Callable[[], str]) -> None:
        self.id = uuid4().hex
        self.pages: list[Page] = []
        self._subject, self._build, self._draw = subject, build, draw
        self._picture: Any = None

    def display(self, meanwhile: str = "") -> None:
        """Show it below the cell that runs; `meanwhile` stands where the picture will be."""
        from IPython.display import display

        listen(_answer)
        _outputs[self.id] = self
        display_script(self.id, repr(self._subject))
        shown = self._wrapped(f"<p>{escape(meanwhile)}</p>")
        bundle = {"text/html": shown, "text/plain": repr(self._subject)}
        self._picture = display(bundle, raw=True, display_id=f"still-{self.id}")  # type: ignore[no-untyped-call]

    def keep_picture(self) -> None:
        """Draw the current picture in place of the previous one."""
        with LOCK:
            drawn = self._draw()
        name = repr(self._subject)
        shown = self._wrapped(still_html(drawn, name))
        self._picture.update({"text/html": shown, "image/svg+xml": drawn, "text/plain": name}, raw=True)

    def update(self) -> None:
        """Bring every page up to date."""
        for page in list(self.pages):
            try:
                page.update()
            except Exception:
                _log.exception("A page is no longer drawn")
                self.pages.remove(page)

    def answer(self, comm: Any, known: list[str]) -> None:
        """Give a page what it needs."""
        with LOCK:
            from mklviz.views.host.bokehjs import program
            from mklviz.views.notebook.wire import Page

            if "program" not in known:
                comm.send({"program": program()})
            self.pages.append(Page(comm, known, self._build(), f'[data-still="{self.id}"] {{ display: none; }}'))

    def _wrapped(self, html: str) -> str:
        return f'<div data-still="{self.id}">{html}</div>'


def still_html(drawn: str, name: str) -> str:
    """Return a picture as HTML that needs no trust: a page may show it where it lets no scripts and no SVG in."""
    source = base64.b64encode(drawn.encode()).decode()
    return f'<img alt="{escape(name)}" style="max-width: 100%" src="data:image/svg+xml;base64,{source}">'


def _answer(comm: Any, message: Any) -> None:
    asked = message["content"]["data"]
    output = _outputs.get(asked.get("offer"))
    if output is None:
        comm.close()  # its kernel is gone: the picture stays
        return
    try:
        output.answer(comm, asked.get("known", []))
    except Exception:
        _log.exception("The figures of a cell could not be shown")
        comm.close()
