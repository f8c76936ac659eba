"""Standard streams: those that the process was started without, as ``mklviz serve 2>&-`` does, and terminals."""

from __future__ import annotations

import os
import sys
from typing import TextIO

__all__ = ["open_closed_streams", "redraws"]


def open_closed_streams() -> None:
    """Open those that are closed, so that no file or connection takes their numbers and gets what is meant for them."""
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
