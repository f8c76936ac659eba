"""Multiple kernel learning in scikit-learn's manner: estimators for pipelines, grids and cross-validation.

They pose the problems of `mklviz.problem` and solve them by the solvers of `mklviz.engine`; nothing is computed here
that is not computed there.
"""

from mklviz.errors import MissingPackage

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingPackage(
        "mklviz's estimators stand on scikit-learn, which is not installed: pip install scikit-learn, or install"
        ' mklviz with its extra, as in pip install ".[learn]".'
    ) from error

from mklviz.learn.classifier import MKLClassifier
from mklviz.learn.one_class import MKLOneClass
from mklviz.learn.regressor import MKLRegressor
from mklviz.learn.search import MKLClassifierCV, MKLRegressorCV
from mklviz.learn.transformer import KernelTransformer, MKLTransformer

__all__ = [
    "KernelTransformer",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLTransformer",
]
