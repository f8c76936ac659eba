"""What a run was computed with: the versions of Python and of the packages whose arithmetic decides its last digits."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

from mklviz._version import __version__

__all__ = ["versions_in_use"]

_PACKAGES = ("numpy", "scipy", "numba")


def versions_in_use() -> dict[str, str]:
    """Return versions by name: "mklviz", "python" and packages."""
    return dict(_found())


@cache
def _found() -> dict[str, str]:
    own = {"mklviz": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in _PACKAGES}
