"""What plug-ins promise, as checks: of a solver, a loss, a regularizer and a family of kernels.

`mklviz check FILE` runs them on a file, the tests on every plug-in. A check takes the class, says in the
first line of its docstring what is promised, and raises `ContractError` with a sentence where that is not kept.
"""

from mklviz.check.losses import LOSS_PROMISES
from mklviz.check.plugin import CheckResult, checked, plugins_in
from mklviz.check.regularizers import KERNEL_PROMISES, REGULARIZER_PROMISES
from mklviz.check.solvers import SOLVER_PROMISES

__all__ = [
    "KERNEL_PROMISES",
    "LOSS_PROMISES",
    "REGULARIZER_PROMISES",
    "SOLVER_PROMISES",
    "CheckResult",
    "checked",
    "plugins_in",
]
