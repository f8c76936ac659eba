"""A document of Bokeh whose browser is at the other end of a comm, rather than of a server's socket."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.embed.elements import div_for_render_item
from bokeh.embed.util import standalone_docs_json_and_render_items
from bokeh.protocol.messages.patch_doc import patch_doc
from panel.io import notebook
from panel.io.model import add_to_doc
from pyviz_comms import Comm

__all__ = ["CommDocument"]

Send = Callable[[Mapping[str, Any], Sequence[bytes]], None]


class CommDocument:
    """The document of something that Panel can show.

    `content` is the document as built, in JSON; `render` is the markup of its place on a page and Bokeh's render items.
    """

    def __init__(self, shown: Any, send: Send) -> None:
        pn.config.inline = True  # from a network without internet, anything else stays empty without a word
        self._document, self._changes = Document(), _Changes(send)
        root = pn.panel(shown).get_root(self._document, self._changes)
        add_to_doc(root, self._document, hold=True)
        self.content, [item] = standalone_docs_json_and_render_items([root], suppress_callback_warning=True)
        self.render = {"place": div_for_render_item(item), "items": [item.to_json()]}

    def push(self) -> None:
        """Send what has changed."""
        notebook.push(self._document, self._changes)

    def release(self) -> None:
        """Send the changes that have waited for the page to draw, and from now on every one at once."""
        self._changes.release()

    def apply(self, content: Any) -> None:
        """Take over what has happened on the page."""
        self.push()  # or it would count as the page's own
        self._document.hold()
        try:
            patch_doc(patch_doc.create_header(), {}, content).apply_to_document(self._document, self._changes.id)
        finally:
            self._document.unhold()
            self._document.hold()


class _Changes(Comm):
    """Where Panel sends a change in parts; they leave as one message, and none before the page has drawn."""

    def __init__(self, send: Send) -> None:
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
