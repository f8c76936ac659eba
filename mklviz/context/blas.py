"""One BLAS thread for solvers and for what builds their kernels: fair clocks, the same bits, no fight over the cores.

A product of matrices that is split among threads is rounded in another way, and solvers go another way from there on.

The limit belongs to the whole process, while solves in several threads overlap in any order, so the first to come sets
it and the last to go restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  brings a BLAS of its own, which must be there before libraries are looked for
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders = 0
_limits: Any = None  # what restores the limits of before


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of all overlapping uses ends."""
    global _holders, _limits
    with _lock:
        _holders += 1
        if _limits is None:
            _limits = _libraries().limit(limits=1, user_api="blas")
            _let_others_change_it()
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
                _let_others_change_it()


def _let_others_change_it() -> None:
    """Leave a block of threadpoolctl: until then it lets no other thread change the limits of OpenBLAS, silently."""
    with _libraries().limit(limits=None):
        pass


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries in use. Looking for them takes milliseconds, several SVMs: it is done once."""
    return ThreadpoolController()
