"""The public names of mklviz and their homes: `__init__.py` imports each from there when it is first used."""

import typing

from . import plot as plot
from .contract import Iterate as Iterate
from .contract import Solver as Solver
from .datasets import Dataset as Dataset
from .datasets import list_datasets as list_datasets
from .datasets import load_dataset as load_dataset
from .datasets import read_dataset as read_dataset
from .engine import KKT as KKT
from .engine import Gap as Gap
from .engine import IterateGap as IterateGap
from .engine import MaxIter as MaxIter
from .engine import MaxSeconds as MaxSeconds
from .engine import ModelGap as ModelGap
from .engine import ObjectiveChange as ObjectiveChange
from .engine import Path as Path
from .engine import ProjectedGradient as ProjectedGradient
from .engine import Race as Race
from .engine import Run as Run
from .engine import WeightChange as WeightChange
from .engine import available_solvers as available_solvers
from .engine import lambda_max as lambda_max
from .engine import make_solver as make_solver
from .engine import objective_profile as objective_profile
from .engine import path as path
from .engine import path_values as path_values
from .engine import recommend as recommend
from .engine import replay as replay
from .engine import solve as solve
from .kernels import Gaussian as Gaussian
from .kernels import KernelBank as KernelBank
from .kernels import Laplacian as Laplacian
from .kernels import LearnedGaussian as LearnedGaussian
from .kernels import LearnedPolynomial as LearnedPolynomial
from .kernels import Linear as Linear
from .kernels import Nystrom as Nystrom
from .kernels import NystromBank as NystromBank
from .kernels import ParametricBank as ParametricBank
from .kernels import ParametricKernel as ParametricKernel
from .kernels import Polynomial as Polynomial
from .kernels import ProductBank as ProductBank
from .kernels import paper_bank as paper_bank
from .learn import KernelTransformer as KernelTransformer
from .learn import MKLClassifier as MKLClassifier
from .learn import MKLClassifierCV as MKLClassifierCV
from .learn import MKLRegressor as MKLRegressor
from .problem import BlockL1 as BlockL1
from .problem import BlockPower as BlockPower
from .problem import CustomRegularizer as CustomRegularizer
from .problem import ElasticNet as ElasticNet
from .problem import Entropy as Entropy
from .problem import EpsilonInsensitive as EpsilonInsensitive
from .problem import GroupSquaredPlusL1 as GroupSquaredPlusL1
from .problem import Hinge as Hinge
from .problem import L1Penalty as L1Penalty
from .problem import LogDet as LogDet
from .problem import Logistic as Logistic
from .problem import LpBall as LpBall
from .problem import LpPenalty as LpPenalty
from .problem import MulticlassHinge as MulticlassHinge
from .problem import OneAgainstAllHinge as OneAgainstAllHinge
from .problem import PowerPenalty as PowerPenalty
from .problem import Predictor as Predictor
from .problem import Problem as Problem
from .problem import Simplex as Simplex
from .problem import SimplexRidge as SimplexRidge
from .problem import Squared as Squared
from .problem import equivalents as equivalents
from .problem import one_against_all as one_against_all
from .recipe import Recipe as Recipe
from .record import Trace as Trace
from .views import Explorer as Explorer
from .views import path_figure as path_figure
from .views import save_html as save_html
from .views.notebook.show_race import race as race

__version__: str

def __getattr__(name: str) -> typing.Any: ...  # a kernel family, loss or regularizer added as one new file
