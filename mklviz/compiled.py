"""numba's compiler, with a cache on disk that may be damaged, unwritable or full, and that notices every change.

numba itself raises where there is no folder it may write to, where a file cannot be read, or where the disk is full.
Here such a function is compiled for this process alone, and one line in the log says why.

numba takes a function from its cache as long as the function's own file is the same, together with old code of whatever
it calls in other files. Here those files count as well.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

__all__ = ["njit"]

_log = logging.getLogger(__name__)


class _Guarded(FunctionCache):
    """numba's cache of one function, put aside where it fails."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = sorted(_digest(file, os.stat(file).st_mtime_ns) for file in _files_of(function))
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # any error that a damaged file causes in unpickling and linking
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
        """Delete the damaged files, so that the next process does not fail on them."""
        try:
            self.flush()
        except OSError:
            self.disable()


def _files_of(function: Callable[..., Any]) -> set[str]:
    """Return the names of the files whose compiled functions this one may call, at any depth, and of its own."""
    files: set[str] = set()
    waiting: list[Any] = [function]
    while waiting:
        inner = waiting.pop()
        if inner.__code__.co_filename not in files:
            files.add(inner.__code__.co_filename)
            waiting += [value.py_func for value in inner.__globals__.values() if isinstance(value, Dispatcher)]
    return files


@cache
def _digest(file: str, changed: int) -> bytes:
    """Return the digest of a file that was last changed at the time `changed`."""
    return sha256(Path(file).read_bytes()).digest()


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of that name, with a cache on disk that never stands in the way.

    A division by zero gives what it gives in NumPy: to look for one at each division takes a fifth more to compile.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        compiled: Any = numba.njit(**{"error_model": "numpy", **options, "cache": False})(function)
        if options.get("cache") and not numba.config.DISABLE_JIT:
            try:
                compiled._cache = _Guarded(function)  # what `enable_caching` does, with its own class
            except RuntimeError as error:
                _say("There is no folder for compiled functions, which are compiled at every start", error)
        return compiled

    return decorate


@cache
def _say_once(sentence: str) -> None:
    _log.warning("%s.", sentence)


def _say(sentence: str, error: Exception) -> None:
    """Log one line, however many functions it concerns."""
    _log.debug("%s: %r", sentence, error)
    _say_once(sentence)
