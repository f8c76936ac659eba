"""Files are replaced whole or not at all: a full disk leaves what was there before.

A new file is written beside the old one, brought to the disk, and only then given its name.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that becomes `path` when the block ends; an error leaves `path` as it was.

    Raises `OSError` if the file cannot be written.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not target.is_file():  # a pipe or a device has nothing to lose, and cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    beside = target.with_name(f".{secrets.token_hex(8)}.part")  # an own name may be too long with more added to it
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
