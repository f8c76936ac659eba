"""Running it: stop rules, single solves, runs that can be paused, and races."""

from mklviz.engine.grid import lambda_max, parameters, path_values, with_parameter
from mklviz.engine.kinds import KINDS, Kind, ProblemSize, kind_of, mean_diagonal, recommend, rivals
from mklviz.engine.paths import Path, path
from mklviz.engine.race import Race
from mklviz.engine.registry import available_solvers, make_solver, solver_classes, why_not
from mklviz.engine.replaying import Profile, Replay, Returned, measured, objective_profile, replay
from mklviz.engine.run import Run
from mklviz.engine.solving import solve
from mklviz.engine.stop import (
    FLAT,
    KKT,
    Gap,
    IterateGap,
    MaxIter,
    MaxSeconds,
    Measured,
    ModelGap,
    ObjectiveChange,
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
    "IterateGap",
    "Kind",
    "MaxIter",
    "MaxSeconds",
    "Measured",
    "ModelGap",
    "ObjectiveChange",
    "Path",
    "ProblemSize",
    "Profile",
    "ProjectedGradient",
    "Race",
    "Replay",
    "Returned",
    "Run",
    "StopRule",
    "WeightChange",
    "available_solvers",
    "kind_of",
    "lambda_max",
    "make_solver",
    "mean_diagonal",
    "measured",
    "objective_profile",
    "parameters",
    "path",
    "path_values",
    "recommend",
    "replay",
    "rivals",
    "solve",
    "solver_classes",
    "standard_rules",
    "why_not",
    "with_parameter",
]
