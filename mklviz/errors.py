"""What can go wrong, as one tree; each message says what was wrong, what was expected and what to do.

::

    MklvizError
    ├── ProblemError         a problem that cannot be posed, or words for one (also a ValueError)
    │   └── KernelError      a kernel, Gram matrix or bank that cannot be built
    │       └── BankTooLarge the bank would not fit in the memory allowed
    │           └── MemoryTaken it would, if others had not taken it
    ├── UnsupportedProblem   this solver cannot solve that problem (also a ValueError)
    ├── UnknownName          nothing of its kind has that name (also a KeyError and a ValueError)
    ├── ContractError        a plug-in that does not keep what its kind promises
    ├── MissingPackage       what was asked for needs a package that is not installed (also an ImportError)
    ├── SolverError          a solver broke down on a problem it supports (also a RuntimeError)
    └── Interrupted          the run was cancelled in the middle of a step

Data sets raise ``mklviz.datasets.DataError`` (a ValueError): that package stands on numpy alone.
"""

from __future__ import annotations

from typing import Any, NoReturn

from mklviz.quoting import one_line

__all__ = [
    *("BankTooLarge", "ContractError", "Interrupted", "KernelError", "MemoryTaken", "MissingPackage"),
    *("MklvizError", "ProblemError", "SolverError", "UnknownName", "UnsupportedProblem", "stand_in"),
]


class MklvizError(Exception):
    """Base class of mklviz's own errors, which say one sentence on one line, also where a plug-in has written it."""

    found: Any = None  # what a solve or a path had computed before it broke down

    def __str__(self) -> str:
        return one_line(super().__str__())


class ProblemError(MklvizError, ValueError):
    """A problem that cannot be posed, or words and options that cannot be used for one."""


class KernelError(ProblemError):
    """A kernel, Gram matrix or bank that cannot be built."""


class BankTooLarge(KernelError):
    """The kernel bank would not fit in the memory allowed."""


class MemoryTaken(BankTooLarge):
    """What is asked for would fit in the memory allowed, if others had not taken it."""


class UnsupportedProblem(MklvizError, ValueError):
    """This solver cannot solve that problem."""


class UnknownName(MklvizError, KeyError, ValueError):
    """No data set, solver, kernel family, loss or other thing of its kind has that name."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return one_line(str(self.args[0])) if self.args else ""


class ContractError(MklvizError):
    """A solver, loss, regularizer or kernel family that does not keep what its kind promises."""


class MissingPackage(MklvizError, ImportError):
    """What was asked for needs a package that is not installed."""


class SolverError(MklvizError, RuntimeError):
    """A solver broke down on a problem it supports."""


class Interrupted(MklvizError):
    """The run was cancelled in the middle of a step."""


# -- public names whose packages are not installed: they can be imported, listed and shown, and say so when used


class _Absent(type):
    """The metaclass of stand-ins for classes that cannot be imported."""

    _sentence: str

    def __call__(cls, *arguments: Any, **named: Any) -> NoReturn:
        raise MissingPackage(cls._sentence)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # an inspection needs no package
            raise AttributeError(name)
        raise MissingPackage(cls._sentence)


def stand_in(name: str, error: MissingPackage) -> type:
    """Return a stand-in called `name` that raises `error` anew at every call or access."""
    sentence = str(error)
    return _Absent(name, (), {"__doc__": sentence, "__module__": "mklviz", "_sentence": sentence})
