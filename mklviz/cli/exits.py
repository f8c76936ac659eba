"""What the exit code says, for scripts; and for people, below every `--help`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mklviz.recipe import Recipe
    from mklviz.record import Trace

__all__ = ["BAD_INPUT", "EXIT_CODES", "FAILED", "INTERRUPTED", "SHORT_OF_GAP", "code_of"]

FAILED, BAD_INPUT, SHORT_OF_GAP, INTERRUPTED = 1, 2, 3, 130

EXIT_CODES = """\
exit codes:
  0    all went well
  1    a solver broke down, and its results so far are printed; or a plug-in checked breaks a promise
  2    the words, the data or a file are at fault, or something was not kept: one sentence on the error stream says it
  3    a limit, such as --max-iter, ended a solver before the gap asked for; --gap none asks for none
  130  ended by Ctrl-C; the results so far are printed and kept
"""


def code_of(traces: Iterable[Trace], recipe: Recipe, complete: bool) -> int:
    """Return the exit code of runs that have ended; `complete` says whether they were not interrupted."""
    ends = {trace.status for trace in traces}
    if not complete:
        return INTERRUPTED
    if "failed" in ends:
        return FAILED
    return SHORT_OF_GAP if "limit" in ends and recipe.goal is not None else 0
