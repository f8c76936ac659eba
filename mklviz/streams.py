"""Standard streams: those that the process was started without, as ``mklviz serve 2>&-`` does, those whose encoding
lacks signs, and lines redrawn."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable
from io import TextIOWrapper
from typing import TextIO

__all__ = ["PLAIN_SECONDS", "ProgressLine", "has_all_signs", "prepare_streams", "redraws"]

REFRESH_SECONDS, PLAIN_SECONDS = 0.2, 10.0  # between two lines: redrawn in place, and in a file
_PLAIN = str.maketrans(
    {"≥": ">=", "≤": "<=", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "‘": "'", "’": "'", "×": "x", "±": "+-"}
)


def prepare_streams() -> None:
    """Open those that are closed, and let all write whatever their encoding, plain signs for those that it lacks.

    So no file or connection takes the numbers of closed streams and gets what is meant for them.
    """
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_PLAINLY)


def has_all_signs(stream: TextIO) -> bool:
    """Return whether a stream can write every sign there is."""
    return (stream.encoding or "utf-8").lower().startswith("utf")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = unicodedata.normalize("NFKD", error.object[error.start : error.end].translate(_PLAIN))
    return "".join(map(_spelled, text)).encode("ascii", "replace").decode(), error.end


def _spelled(sign: str) -> str:
    """Return a Greek letter's name, nothing for an accent, and any other sign as it is."""
    words = unicodedata.name(sign, "").split()
    if words[:1] == ["COMBINING"]:
        return ""
    return words[-1].lower().replace("lamda", "lambda") if words[:1] == ["GREEK"] else sign


_PLAINLY = "mklviz.plainly"
codecs.register_error(_PLAINLY, _plainly)


def _open_closed() -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, number)
            if nowhere > 2:
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def redraws(stream: TextIO) -> bool:
    """Return whether lines on `stream`, of a terminal or a notebook, can be drawn over."""
    kernel = getattr(sys.modules.get("ipykernel.iostream"), "OutStream", None)
    if kernel is not None and isinstance(stream, kernel):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb" and os.name != "nt"


class ProgressLine:
    """A line on the error stream, redrawn in place; every few seconds a new one where that is a file.

    `patience`: seconds before the first; `drawn`: whether there is one.
    """

    def __init__(self, patience: float | None = None, stream: TextIO | None = None) -> None:
        self._stream, self.drawn = stream or sys.stderr, False
        self.in_place = redraws(self._stream)
        usual = 0.0 if self.in_place else PLAIN_SECONDS
        self._due = time.monotonic() + (usual if patience is None else patience)

    def update(self, text: Callable[[], str]) -> None:
        """Say how far it is, if the last time was long ago."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + (REFRESH_SECONDS if self.in_place else PLAIN_SECONDS)
            self._draw(text())

    def finish(self, text: str) -> None:
        """Say how it ended, and leave the line."""
        self._draw(text)
        self.drawn = False
        if self.in_place:
            print(file=self._stream, flush=True)

    def leave(self, text: str) -> None:
        """Say how it ended on as many lines as that takes."""
        start = "\r\x1b[2K" if self.in_place else ""
        print(f"{start}{text}", file=self._stream, flush=True)

    def _draw(self, text: str) -> None:
        self.drawn = True
        start, width = ("\r\x1b[2K", shutil.get_terminal_size().columns - 1) if self.in_place else ("", None)
        print(f"{start}{text[:width]}", end="" if self.in_place else "\n", file=self._stream, flush=True)
