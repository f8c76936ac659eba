"""numba's compiler with a cache on disk that may be damaged, unwritable or full.

numba itself raises then: at import where there is no folder it may write to, at a call where a file cannot be read or
the disk is full. Here such a function is compiled for this process alone, and one line in the log says why.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core.caching import FunctionCache

__all__ = ["njit"]

_log = logging.getLogger(__name__)


class _Guarded(FunctionCache):
    """numba's cache of one function, put aside where it fails."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # whatever a damaged file makes of unpickling and linking
            _say(f"The cache of compiled functions in {self.cache_path} is damaged and set aside", error)
            self._empty()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say(f"Compiled functions cannot be kept in {self.cache_path}, and are compiled at every start", error)
            self.disable()

    def _empty(self) -> None:
        """Forget what is there, so that the next process does not stumble."""
        try:
            self.flush()
        except OSError:
            self.disable()


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of that name, with a cache on disk that never stands in the way.

    A division by zero gives what it gives in NumPy: to look for one at each division takes a fifth more to compile.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        found: Any = numba.njit(**{"error_model": "numpy", **options, "cache": False})(function)
        if options.get("cache") and not numba.config.DISABLE_JIT:
            try:
                found._cache = _Guarded(function)  # what `enable_caching` does, with its own class
            except RuntimeError as error:
                _say("There is no folder for compiled functions, which are compiled at every start", error)
        return found

    return decorate


@cache
def _say_once(sentence: str) -> None:
    _log.warning("%s.", sentence)


def _say(sentence: str, error: Exception) -> None:
    """Log one line, however many functions it concerns."""
    _log.debug("%s: %r", sentence, error)
    _say_once(sentence)
