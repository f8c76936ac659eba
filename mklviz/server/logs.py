"""The log of the server, on the error stream: short entries, and never more a minute than a disk can bear.

A page can make the server log something as often as the connection allows. So each entry is cut. When the
entries of a minute have reached their limit, further ones are only counted, and the next minute begins with the count.
"""

from __future__ import annotations

import logging
import sys

from mklviz.quoting import one_line

MINUTE = 60.0  # seconds
LETTERS = 60_000  # a minute for what went wrong, and as many for the rest, so that neither crowds the other out
LONGEST_ENTRY = 4_000  # letters
FIRST = 1_000  # of them from the beginning of an entry that is cut, the rest from its end, where a traceback says why
LONGEST_LINE = 500


class ShortEntries(logging.Formatter):
    """Cuts long entries in their middle, and leaves out characters that would steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry of a record."""
        try:
            text = super().format(record)
        except Exception as error:  # an object that is quoted has a __str__ of its own
            text = f"{record.levelname} An entry that cannot be written: {type(error).__name__}"
        finally:
            record.exc_text = None  # logging would keep it uncut
        if len(text) > LONGEST_ENTRY:
            text = f"{text[:FIRST]}\n… ({len(text) - LONGEST_ENTRY:,} letters)\n{text[FIRST - LONGEST_ENTRY :]}"
        return "\n".join(_plain(line) for line in text.splitlines())


def _plain(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * min(indent, LONGEST_LINE) + one_line(line, LONGEST_LINE)


class Budget(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes entries while a minute's share of letters lasts: one for warnings and worse, one for the rest."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._minute, self._left_out, self._left = 0, 0, [LETTERS, LETTERS]

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry, unless there is no share left."""
        if (minute := int(record.created // MINUTE)) != self._minute:
            left_out, self._minute, self._left_out, self._left = self._left_out, minute, 0, [LETTERS, LETTERS]
            if left_out:
                text = f"{left_out:,} more entries were left out, as there were too many in a minute."
                super().emit(logging.LogRecord("mklviz", logging.WARNING, "", 0, text, (), None))
        if self._left[record.levelno >= logging.WARNING] > 0:
            super().emit(record)
        else:
            self._left_out += 1

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry of a record, which takes its part of the share."""
        text = super().format(record)
        self._left[record.levelno >= logging.WARNING] -= len(text)
        return text

    def handleError(self, record: logging.LogRecord) -> None:
        """Go on: a full disk or a closed pipe is no reason to stop."""


def log_to_stderr() -> None:
    """Log on the standard error what the server does, and when."""
    handler = Budget()
    handler.setFormatter(ShortEntries("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.captureWarnings(True)
    for name in ("bokeh", "panel", "param"):  # they have handlers of their own
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("panel").setLevel(logging.WARNING)  # at lower levels it logs every message
