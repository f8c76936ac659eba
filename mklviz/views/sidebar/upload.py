"""A file input that believes no size it is told: pieces of an upload are counted as they come.

The browser sends a file in numbered pieces. What is not a piece of bytes, is out of its turn, or is one piece too many
ends the upload with a sentence, and nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel_material_ui as pmui

from mklviz._quoting import named
from mklviz.limits import LIMITS

__all__ = ["PIECE", "Upload"]

PIECE = 2**20  # bytes
MOST_OFFERED = 200 * 2**20  # bytes; larger files the browser itself refuses to send
_UNUSABLE = "The upload could not be understood: choose the file again."


class Upload(pmui.FileInput):
    """A file input whose `refuse` is called with a sentence where a file cannot be taken."""

    def __init__(self, refuse: Callable[[str], None], **params: Any) -> None:
        super().__init__(chunk_size=PIECE, max_file_size=MOST_OFFERED, **params)
        self._refuse = refuse
        self._pieces: list[bytes] = []
        self._begun, self._said = ("", 0), ""

    def _handle_msg(self, msg: Any) -> None:
        status = msg.get("status") if isinstance(msg, Mapping) else None
        if status == "initializing":
            self._pieces, self._begun, self._said = [], ("", 0), ""
        elif status == "upload_event":
            self._take(msg)
        elif status == "finished":
            self._finish()
        else:
            self._say(_UNUSABLE)

    def _take(self, piece: Mapping[str, Any]) -> None:
        """Keep a piece, unless something was wrong with it or one before."""
        name, data = piece.get("name"), piece.get("data")
        place, count = piece.get("chunk"), piece.get("total_chunks")
        if self._said:
            return
        if not (
            isinstance(name, str)
            and isinstance(data, bytes | bytearray | memoryview)
            and type(place) is type(count) is int
        ):
            self._say(_UNUSABLE)
            return
        data = bytes(data)  # of which Bokeh may give a view
        most = LIMITS.upload_bytes
        if count * PIECE >= most + 2 * PIECE or sum(map(len, self._pieces)) + len(data) > most + PIECE:
            self._say(f"{named(name)} has about {count * PIECE >> 20:,} MB, but at most {most >> 20} MB are read.")
        elif place != len(self._pieces) + 1 or place > count or (self._pieces and self._begun != (name, count)):
            self._say(_UNUSABLE)
        else:
            self._begun = name, count
            self._pieces.append(data)

    def _finish(self) -> None:
        name, count = self._begun
        whole, pieces = not self._said and len(self._pieces) == count, b"".join(self._pieces)
        self._pieces, self._begun = [], ("", 0)
        if whole and count:
            self.param.update(value=None)  # the same file again is an upload again
            self.param.update(filename=name, mime_type="", value=pieces)
        elif not self._said:
            self._say(_UNUSABLE if count else "The file is empty: choose one with a header line and rows below it.")
        self._send_msg({"status": "error", "error": self._said} if self._said else {"status": "finished"})
        self._said = ""

    def _say(self, sentence: str) -> None:
        self._said, self._pieces = sentence, []
        self._refuse(sentence)
