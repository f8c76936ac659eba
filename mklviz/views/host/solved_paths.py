"""Paths that a browser solves by itself (`mkl.js`): what its scripts are told of a problem that is small enough."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mklviz.analysis.weight_map import WeightMap
from mklviz.contract import Solver
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.views.host.beside import WORDS_SCRIPT, beside

SOLVER = beside(__file__, "mkl.js")
"""The solvers, for a worker."""
SOLVED_PATHS = WORDS_SCRIPT + beside(__file__, "solved_paths.js")
"""Stands before a script that draws paths from a start."""
DRAG_HANDLE = SOLVED_PATHS + beside(__file__, "drag_handle.js")
"""The script of the handle on a figure."""
SOLVERS = {"silp", "simplemkl", "level", "spg"}
MOST_KERNELS, MOST_SAMPLES = 10, 300


def solves_alone(problem: Problem, solvers: Mapping[str, Solver]) -> bool:
    """Return whether a browser can solve the paths of these solvers by itself, at once."""
    small = problem.m <= MOST_KERNELS and problem.n <= MOST_SAMPLES and problem.bank.kind == "sum"
    svm = type(problem.loss) is Hinge and problem.loss.bias and problem.sample_weight is None
    known = all(one.name_ in SOLVERS and type(one)().options() == one.options() for one in solvers.values())
    return small and svm and known and type(problem.regularizer) is Simplex


def problem_data(problem: Problem) -> dict[str, Any]:
    """Return a problem for the script that solves it: the lower triangles of kernels of samples that differ."""
    kernels = []
    for unit in np.eye(problem.m):
        kernel = problem.bank.combine(unit)
        _, first, of = np.unique(kernel, axis=0, return_index=True, return_inverse=True)
        packed = kernel[np.ix_(first, first)][np.tril_indices(len(first))].astype("<f8")
        kernels.append({"of": of.reshape(-1).tolist(), "values": base64.b64encode(packed.tobytes()).decode()})
    return {"kernels": kernels, "y": problem.y.tolist(), "C": problem.loss.C}


def solved_paths(
    problem: Problem,
    solvers: Mapping[str, Solver],
    looks: Mapping[str, tuple[str, str]],
    map_: WeightMap,
    names: Sequence[str],
) -> dict[str, Any] | None:
    """Return what the handle on a map needs to solve runs of these `looks` itself; None where that is too much."""
    if map_.flat is None or not solves_alone(problem, solvers):
        return None
    runs = [
        dict(zip(("key", "solver", "label", "colour"), (key, solver.name_, *looks[key]), strict=True))
        for key, solver in solvers.items()
    ]
    flat = [part.tolist() for part in map_.flat]
    return {"solver": SOLVER, "problem": problem_data(problem), "runs": runs, "names": list(names), "flat": flat}
