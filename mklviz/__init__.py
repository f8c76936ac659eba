"""mklviz: see how multiple kernel learning solvers behave.

    import mklviz as mv

    train, test = mv.load_dataset("ionosphere").split(train=0.5, seed=0)
    problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
    trace = mv.solve(problem, "level", gap=1e-2)

Names are imported when first used, so that ``import mklviz`` stays light and a plain solve never loads the screen;
`__init__.pyi` lists them. Those that stand on packages which are not installed are there all the same, and say what to
install when they are used.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import lazy_loader

from mklviz._version import __version__ as __version__

_imported, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _present(name)
    if name and name[0].isupper():  # a kernel family, loss or regularizer added as one new file
        from mklviz.kernels import kernel_families
        from mklviz.problem import loss_families, regularizer_families

        for families in (kernel_families, loss_families, regularizer_families):
            for family in families().values():
                if family.__name__ == name:
                    return family
    raise AttributeError(f"module 'mklviz' has no attribute {name!r}")


def _present(name: str) -> Any:
    """Return a public name; what stands on packages that are not installed says so when it is used, not before."""
    from mklviz.errors import MissingPackage

    try:
        return _imported(name)
    except MissingPackage as error:
        from mklviz.errors import stand_in

        return stand_in(name, error)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if "IPython" in sys.modules or "marimo" in sys.modules:
    importlib.import_module("mklviz.views.notebook").register()
