"""mklviz: see how multiple kernel learning solvers behave.

    import mklviz as mv

    train, test = mv.load_dataset("ionosphere").split(train=0.5, seed=0)
    problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
    trace = mv.solve(problem, "level", gap=1e-2)

Names are imported when first used, so that ``import mklviz`` stays light and a plain solve never loads the screen.
Those that stand on packages which are not installed are there all the same, and say what to install when they are used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from mklviz._version import __version__ as __version__

if TYPE_CHECKING:
    from mklviz import plot
    from mklviz.contract import Iterate, Solver
    from mklviz.datasets import Dataset, list_datasets, load_dataset, read_dataset
    from mklviz.engine import (
        KKT,
        Gap,
        IterateGap,
        MaxIter,
        MaxSeconds,
        ModelGap,
        ObjectiveChange,
        Path,
        ProjectedGradient,
        Race,
        Run,
        WeightChange,
        available_solvers,
        lambda_max,
        make_solver,
        objective_profile,
        path,
        path_values,
        recommend,
        replay,
        solve,
    )
    from mklviz.kernels import (
        Gaussian,
        KernelBank,
        Laplacian,
        LearnedGaussian,
        LearnedPolynomial,
        Linear,
        Nystrom,
        NystromBank,
        ParametricBank,
        ParametricKernel,
        Polynomial,
        ProductBank,
        paper_bank,
    )
    from mklviz.learn import KernelTransformer, MKLClassifier, MKLClassifierCV, MKLRegressor
    from mklviz.problem import (
        BlockL1,
        BlockPower,
        CustomRegularizer,
        ElasticNet,
        Entropy,
        EpsilonInsensitive,
        GroupSquaredPlusL1,
        Hinge,
        L1Penalty,
        LogDet,
        Logistic,
        LpBall,
        LpPenalty,
        MulticlassHinge,
        OneAgainstAllHinge,
        PowerPenalty,
        Predictor,
        Problem,
        Simplex,
        Squared,
        equivalents,
        one_against_all,
    )
    from mklviz.recipe import Recipe
    from mklviz.record import Trace
    from mklviz.views import Explorer, path_figure, save_html
    from mklviz.views.notebook.show_race import race

_HOMES = {
    "mklviz.contract": ["Iterate", "Solver"],
    "mklviz.datasets": ["Dataset", "list_datasets", "load_dataset", "read_dataset"],
    "mklviz.engine": [
        "KKT",
        "Gap",
        "IterateGap",
        "MaxIter",
        "MaxSeconds",
        "ModelGap",
        "ObjectiveChange",
        "Path",
        "ProjectedGradient",
        "Race",
        "Run",
        "WeightChange",
        "available_solvers",
        "lambda_max",
        "make_solver",
        "objective_profile",
        "path",
        "recommend",
        "path_values",
        "replay",
        "solve",
    ],
    "mklviz.kernels": [
        "Gaussian",
        "KernelBank",
        "Laplacian",
        "LearnedGaussian",
        "LearnedPolynomial",
        "Linear",
        "Nystrom",
        "NystromBank",
        "ParametricBank",
        "ParametricKernel",
        "Polynomial",
        "ProductBank",
        "paper_bank",
    ],
    "mklviz.learn": ["KernelTransformer", "MKLClassifier", "MKLClassifierCV", "MKLRegressor"],
    "mklviz.problem": [
        "BlockL1",
        "BlockPower",
        "CustomRegularizer",
        "ElasticNet",
        "Entropy",
        "EpsilonInsensitive",
        "GroupSquaredPlusL1",
        "Hinge",
        "L1Penalty",
        "LogDet",
        "Logistic",
        "LpBall",
        "LpPenalty",
        "MulticlassHinge",
        "OneAgainstAllHinge",
        "PowerPenalty",
        "Predictor",
        "Problem",
        "Simplex",
        "Squared",
        "equivalents",
        "one_against_all",
    ],
    "mklviz.plot": ["plot"],
    "mklviz.recipe": ["Recipe"],
    "mklviz.record": ["Trace"],
    "mklviz.views": ["Explorer", "path_figure", "save_html"],
    "mklviz.views.notebook.show_race": ["race"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "KKT",
    "BlockL1",
    "BlockPower",
    "CustomRegularizer",
    "Dataset",
    "ElasticNet",
    "Entropy",
    "EpsilonInsensitive",
    "Explorer",
    "Gap",
    "Gaussian",
    "GroupSquaredPlusL1",
    "Hinge",
    "Iterate",
    "IterateGap",
    "KernelBank",
    "KernelTransformer",
    "L1Penalty",
    "Laplacian",
    "LearnedGaussian",
    "LearnedPolynomial",
    "Linear",
    "LogDet",
    "Logistic",
    "LpBall",
    "LpPenalty",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MaxIter",
    "MaxSeconds",
    "ModelGap",
    "MulticlassHinge",
    "Nystrom",
    "NystromBank",
    "ObjectiveChange",
    "OneAgainstAllHinge",
    "ParametricBank",
    "ParametricKernel",
    "Path",
    "Polynomial",
    "PowerPenalty",
    "Predictor",
    "Problem",
    "ProductBank",
    "ProjectedGradient",
    "Race",
    "Recipe",
    "Run",
    "Simplex",
    "Solver",
    "Squared",
    "Trace",
    "WeightChange",
    "available_solvers",
    "equivalents",
    "lambda_max",
    "list_datasets",
    "load_dataset",
    "make_solver",
    "objective_profile",
    "one_against_all",
    "paper_bank",
    "path",
    "path_figure",
    "path_values",
    "plot",
    "race",
    "read_dataset",
    "recommend",
    "replay",
    "save_html",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return _imported(name, _HOME_OF[name])
    if name and name[0].isupper():  # a kernel family, loss or regularizer added as one new file
        from mklviz.kernels import kernel_families
        from mklviz.problem import loss_families, regularizer_families

        for families in (kernel_families, loss_families, regularizer_families):
            for family in families().values():
                if family.__name__ == name:
                    return family
    raise AttributeError(f"module 'mklviz' has no attribute {name!r}")


def _imported(name: str, home: str) -> Any:
    """Return a public name; what stands on packages that are not installed says so when it is used, not before."""
    from mklviz.errors import MissingPackage

    try:
        module = importlib.import_module(home)
        return module if home == f"mklviz.{name}" else getattr(module, name)
    except MissingPackage as error:
        from mklviz.absent import stand_in

        return stand_in(name, error)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if "IPython" in sys.modules:
    importlib.import_module("mklviz.views.notebook.rich_display").register()
