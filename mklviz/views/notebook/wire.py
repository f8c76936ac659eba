"""Between the kernel of a notebook and a page that shows it: the page asks, and all that it needs comes over a comm.

An output holds a few lines of script and nothing else: programs and figures would be saved with every notebook, and be
out of date when it is opened again. The page asks as soon as it can, after a reload as well, gets what it lacks and
then the figures as they stand, says when it has drawn them, and from then on gets what changes. Until then changes are
collected: whatever is sent to a page that has not drawn meets no figures there.

JupyterLab has what pages say handled in a thread of its own in the kernel (a subshell), so that they are answered while
a cell runs. Panel is not made for threads: whoever touches a view has the lock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

import bokeh
import panel as pn
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.embed.elements import div_for_render_item
from bokeh.embed.util import standalone_docs_json_and_render_items
from bokeh.protocol.messages.patch_doc import patch_doc
from panel.io import notebook
from panel.io.model import add_to_doc
from pyviz_comms import Comm

from mklviz.views.host.bokehjs import libraries
from mklviz.views.notebook.drawing_lock import LOCK

__all__ = ["LiveFigures", "Page"]

LONG = 50_000  # characters from which a text is sent once, however often a document has it


class LiveFigures(Protocol):
    """What a page shows."""

    def look(self) -> None:
        """Bring it up to date."""

    def resend(self) -> None:
        """Expect a page that may have missed something."""

    def __panel__(self) -> Any: ...


class Page:
    """One page of a browser that shows what a cell offers.

    Parameters
    ----------
    comm : Comm of the kernel
        As the page has opened it.
    known : sequence of str
        Names of the programs and long texts that the page has.
    shown : Shown
        For this page alone.
    quiet : str
        Style sheet for as long as the figures are there.
    """

    def __init__(self, comm: Any, known: Sequence[str], shown: LiveFigures, quiet: str) -> None:
        self.drawn = False
        self.shown = shown
        self._comm, self._known = comm, set(known)
        self._patches = _Patches(self._send)
        comm.on_msg(self._hear)
        with LOCK:
            self._show(quiet)

    def look(self) -> None:
        """Send what is new, once the page has drawn."""
        with LOCK:
            if self.drawn:
                self.shown.look()
                self._push()

    def resend(self) -> None:
        """Send everything once more with the next look."""
        with LOCK:
            self.shown.resend()

    def _show(self, quiet: str) -> None:
        pn.config.inline = True  # from a network without internet, anything else stays empty without a word
        self._document = Document()
        root = pn.panel(self.shown).get_root(self._document, self._patches)
        add_to_doc(root, self._document, hold=True)
        content, [item] = standalone_docs_json_and_render_items([root], suppress_callback_warning=True)
        texts: dict[str, str] = {}
        content = _without_long(content, texts)
        for name, text in libraries().items():
            self._tell(name, kind="library", text=text, version=bokeh.__version__)
        for name, text in texts.items():
            self._tell(name, kind="text", text=text)
        place = {"place": div_for_render_item(item), "items": [item.to_json()], "quiet": quiet}
        self._send({"kind": "document", "content": serialize_json(content), **place})

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
                self._patches.release()
                self.drawn = True
                self.shown.resend()
            elif said["kind"] == "leave":
                self.drawn = False
            elif said["kind"] == "events":
                self._apply(said["content"])
            self.look()

    def _apply(self, content: Any) -> None:
        """Take over what has happened on the page, and tell it what follows from that."""
        self._push()  # or it would count as the page's own
        self._document.hold()
        try:
            patch_doc(patch_doc.create_header(), {}, content).apply_to_document(self._document, self._patches.id)
        finally:
            self._document.unhold()
            self._document.hold()

    def _push(self) -> None:
        notebook.push(self._document, self._patches)


class _Patches(Comm):
    """Where Panel sends a change in parts; they leave as one message, and none before the page has drawn."""

    def __init__(self, send: Callable[[Mapping[str, Any], Sequence[bytes]], None]) -> None:
        super().__init__()
        self._comm = self  # Panel asks whether it is open
        self._leave = send
        self._parts: list[Any] = []
        self._waiting: list[tuple[dict[str, Any], list[bytes]]] | None = []

    def send(self, data: Any = None, metadata: Any = None, buffers: Sequence[bytes] = ()) -> None:
        """Collect header, metadata, content, and a reference and the bytes of each buffer."""
        self._parts.append(buffers[0] if data is None else data)
        if len(self._parts) < 3 + 2 * json.loads(self._parts[0]).get("num_buffers", 0):
            return
        refs = [json.loads(ref)["id"] for ref in self._parts[3::2]]
        patch = {"kind": "patch", "content": self._parts[2], "refs": refs}, self._parts[4::2]
        self._parts = []
        if self._waiting is None:
            self._leave(*patch)
        else:
            self._waiting.append(patch)

    def release(self) -> None:
        """Send what has waited for the page to draw."""
        waiting, self._waiting = self._waiting or [], None
        for patch in waiting:
            self._leave(*patch)


def _without_long(value: Any, texts: dict[str, str]) -> Any:
    """Put a name in the place of every long text, which goes to `texts`."""
    if isinstance(value, str) and len(value) > LONG:
        name = sha256(value.encode()).hexdigest()
        texts[name] = value
        return name
    if isinstance(value, list):
        return [_without_long(inner, texts) for inner in value]
    if isinstance(value, dict):
        return {key: _without_long(inner, texts) for key, inner in value.items()}
    return value
