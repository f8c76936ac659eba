"""What stands in a file, or at an address of the web."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mklviz.quoting import MOST_NAME, named

from ._dataset import DataError

PATIENCE = 30.0  # seconds without a byte
MOST_BYTES = 2**30
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_KINDS = ("http", "https", "ftp")
_INSTEAD = "Save the file, and give its path"


def read_source(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """Return the bytes of a file or of an address, and the file's name; raise `DataError` where there are none."""
    address = _ADDRESS.match(source) if isinstance(source, str) else None
    if address is not None:
        return _fetched(str(source), address[1].lower())
    path = Path(source)
    try:
        path = path.expanduser()
        return path.read_bytes(), path.name
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error.strerror or error}.") from None
    except (RuntimeError, ValueError):  # no such home, or a zero byte in its name
        raise DataError(f"{shown(path)} is no name of a file.") from None


def _fetched(address: str, kind: str) -> tuple[bytes, str]:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    where = named(address)
    if kind not in _KINDS:
        raise DataError(f"{where} is an address that begins with {kind}://, which is not read. {_INSTEAD}.")
    try:
        with urlopen(address, timeout=PATIENCE) as answer:
            content = answer.read(MOST_BYTES + 1)
    except HTTPError as error:
        raise DataError(f"{where} answers {error.code}, {error.reason}. {_INSTEAD}.") from None
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DataError(f"{where} cannot be reached from here: {reason}. {_INSTEAD}.") from None
    if len(content) > MOST_BYTES:
        raise DataError(f"{where} has more than {MOST_BYTES // 2**20:,} MB. {_INSTEAD}.")
    return content, unquote(urlsplit(address).path.rstrip("/").rpartition("/")[2]) or "data"


def shown(path: Path) -> str:
    """Return a path for a message, cut to its name where it is long."""
    return named(str(path) if len(str(path)) <= MOST_NAME else path.name)
