"""Between the kernel of a notebook and a page that shows it: the page asks, and all that it needs comes over a comm.

An output holds a few lines of script and nothing else: programs and figures would be saved with every notebook, and be
out of date when it is opened again. The page asks as soon as it can, after a reload as well, gets what it lacks and
then the figures as they stand, says when it has drawn them, and from then on gets what changes. Until then changes are
collected: whatever is sent to a page that has not drawn meets no figures there.

JupyterLab has what pages say handled in a thread of its own in the kernel (a subshell), so that they are answered while
a cell runs. Panel is not made for threads: whoever touches a view has the lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

import bokeh
from bokeh.core.json_encoder import serialize_json

from mklviz.views.host.bokehjs import libraries
from mklviz.views.host.comm_document import CommDocument
from mklviz.views.notebook.drawing_lock import LOCK

__all__ = ["LiveFigures", "Page"]

LONG = 50_000  # characters from which a text is sent once, however often a document has it


class LiveFigures(Protocol):
    """The content of a page."""

    def update(self) -> None:
        """Bring it up to date."""

    def resend(self) -> None:
        """Prepare for a page that may have missed something."""

    def __panel__(self) -> Any: ...


class Page:
    """One page of a browser that shows what a cell offers.

    `comm`: as the page has opened it; `known`: names of the programs and long texts that the page has; `shown`: for
    this page alone; `quiet`: style sheet for as long as the figures are there.
    """

    def __init__(self, comm: Any, known: Sequence[str], shown: LiveFigures, quiet: str) -> None:
        self.drawn = False
        self.shown = shown
        self._comm, self._known = comm, set(known)
        comm.on_msg(self._hear)
        with LOCK:
            self._show(quiet)

    def update(self) -> None:
        """Send what is new, once the page has drawn."""
        with LOCK:
            if self.drawn:
                self.shown.update()
                self._document.push()

    def resend(self) -> None:
        """Send everything again with the next update."""
        with LOCK:
            self.shown.resend()

    def _show(self, quiet: str) -> None:
        self._document = CommDocument(self.shown, self._send)
        texts: dict[str, str] = {}
        content = _without_long(self._document.content, texts)
        for name, text in libraries().items():
            self._tell(name, kind="library", text=text, version=bokeh.__version__)
        for name, text in texts.items():
            self._tell(name, kind="text", text=text)
        self._send({"kind": "document", "content": serialize_json(content), **self._document.render, "quiet": quiet})

    def _tell(self, name: str, **message: Any) -> None:
        if name not in self._known:
            self._send({"name": name, **message})

    def _send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        self._comm.send(dict(data), buffers=list(buffers))

    def _hear(self, message: Mapping[str, Any]) -> None:
        """Answer the page."""
        said = message["content"]["data"]
        with LOCK:
            if said["kind"] == "drawn":
                self._document.release()
                self.drawn = True
                self.shown.resend()
            elif said["kind"] == "leave":
                self.drawn = False
            elif said["kind"] == "events":
                self._document.apply(said["content"])
            self.update()


def _without_long(value: Any, texts: dict[str, str]) -> Any:
    """Replace every long text by a name, and put the text into `texts`."""
    if isinstance(value, str) and len(value) > LONG:
        name = sha256(value.encode()).hexdigest()
        texts[name] = value
        return name
    if isinstance(value, list):
        return [_without_long(inner, texts) for inner in value]
    if isinstance(value, dict):
        return {key: _without_long(inner, texts) for key, inner in value.items()}
    return value
