"""The results of a command as one JSON document on the output: numbers as they are, null where there is none.

What people read is made of the same things by `mklviz.cli.live`, `mklviz.cli.path` and `mklviz.cli.lists`.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz._version import __version__
from mklviz.streams import has_all_signs

if TYPE_CHECKING:  # a list of data sets needs none of it
    from mklviz.contract import Iterate
    from mklviz.engine import Path, Race
    from mklviz.recipe import Recipe
    from mklviz.recipe.prepared import Prepared
    from mklviz.record import Trace


def print_document(document: Mapping[str, Any]) -> None:
    """Write the document to the output, under the version that wrote it."""
    plain = _plain({"mklviz": __version__, **document})
    ascii_only = not has_all_signs(sys.stdout)
    json.dump(plain, sys.stdout, indent=1, ensure_ascii=ascii_only, allow_nan=False, default=str)
    print()


def race_document(race: Race, recipe: Recipe, prepared: Prepared, complete: bool) -> dict[str, Any]:
    """Return what `mklviz run --json` prints of a race that has ended, `complete` unless it was interrupted."""
    from mklviz.record.summary import label

    runs = [
        {"solver": run.trace.solver, "label": label(key, run.trace), **_ended(run.trace, prepared)}
        for key, run in race.runs.items()
    ]
    return {**_posed(recipe, prepared), "approximation": race.precision or None, "complete": complete, "runs": runs}


def path_document(path: Path, recipe: Recipe, prepared: Prepared) -> dict[str, Any]:
    """Return what `mklviz path --json` prints."""
    values = [{"value": value, **_ended(trace, prepared)} for value, trace in path]
    solver = {"solver": path[0][1].solver, "label": path.label}
    summary = {"parameter": path.parameter, "warm_starts": path.warm, "complete": path.complete}
    return {**_posed(recipe, prepared), **solver, **summary, "values": values}


def _posed(recipe: Recipe, prepared: Prepared) -> dict[str, Any]:
    """Return what was solved."""
    return {
        "recipe": json.loads(recipe.to_json()),
        "data": prepared.train.title,
        "training_samples": prepared.problem.n,
        "test_samples": prepared.test.n_samples,
        "kernels": prepared.problem.m,
        "score": prepared.score_label,
    }


def _ended(trace: Trace, prepared: Prepared) -> dict[str, Any]:
    """Return how a run ended and what it took; without an iterate there is nothing else to tell."""
    status: dict[str, Any] = {"status": trace.status, "reason": trace.reason}
    if not len(trace):
        return status
    from mklviz.record.summary import result_at

    result, best, motion = result_at(trace), trace.best, trace.motion
    return {
        **status,
        "iterations": result.iterations,
        "svm_solves": result.svm_solves,
        "cpu_seconds": result.seconds,
        "cpu_shares": trace.shares,
        "objective": result.objective,
        "lower_bound": trace.best_bound.lower_bound,
        "gap": result.gap,
        "weight_moved": motion.moved,
        "share_in_vain": motion.share_in_vain,
        "score": prepared.score(best),
        "kernels_in_use": result.active,
        "weights": _weights(best, prepared.problem.bank.names),
    }


def _weights(best: Iterate, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the kernels that have weight, the largest first."""
    order = np.argsort(-best.weights, kind="stable")
    used = order[best.weights[order] > 0.0]
    return [{"kernel": names[k], "number": k, "weight": best.weights[k]} for k in used]


def _plain(value: Any) -> Any:
    """Return a value for JSON: infinite numbers and nan become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(entry) for entry in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None
