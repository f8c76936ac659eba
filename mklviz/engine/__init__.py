"""Running it: stop rules, single solves, runs that can be paused, and races."""

from mklviz.engine.grid import lambda_max, parameters, path_values, with_parameter
from mklviz.engine.kinds import KINDS, Kind, kind_of, recommend
from mklviz.engine.path import Path, path
from mklviz.engine.profile import Profile, objective_profile
from mklviz.engine.race import Race
from mklviz.engine.registry import available_solvers, make_solver, solver_classes, why_not
from mklviz.engine.run import Run
from mklviz.engine.solve import solve
from mklviz.engine.stop import (
    FLAT,
    KKT,
    Gap,
    MaxIter,
    MaxSeconds,
    ProjectedGradient,
    StopRule,
    WeightChange,
    standard_rules,
)

__all__ = [
    "FLAT",
    "KINDS",
    "KKT",
    "Gap",
    "Kind",
    "MaxIter",
    "MaxSeconds",
    "Path",
    "Profile",
    "ProjectedGradient",
    "Race",
    "Run",
    "StopRule",
    "WeightChange",
    "available_solvers",
    "kind_of",
    "lambda_max",
    "make_solver",
    "objective_profile",
    "parameters",
    "path",
    "path_values",
    "recommend",
    "solve",
    "solver_classes",
    "standard_rules",
    "why_not",
    "with_parameter",
]
