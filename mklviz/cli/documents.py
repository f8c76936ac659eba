"""The results of a command as one JSON document on the output: numbers as they are, null where there is none.

What people read is made of the same things by `mklviz.cli.live`, `mklviz.cli.path` and `mklviz.cli.documents`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz._version import __version__
from mklviz.streams import has_all_signs

if TYPE_CHECKING:
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


# What there is to choose from: ``mklviz claims | datasets | losses | regularizers | solvers | scenarios``.
#
# Each list is gathered as values, which ``--json`` writes and people read as lines.


def _claims() -> dict[str, Any]:
    from mklviz.reproduce.claims import all_claims

    keys = ("name", "paper", "place", "sentence", "untestable")
    return {"claims": [{key: getattr(claim, key) for key in keys} for claim in all_claims().values()]}


def _statements() -> dict[str, Any]:
    from mklviz.reproduce.recorded import how_many_text, stated_answers

    keys = {key: key for key in ("paper", "place", "sentence", "verdict")} | {"claims": "names", "obstacle": "obstacle"}
    entries = [{key: getattr(each, name) for key, name in keys.items()} for each in stated_answers()]
    return {"statements": entries, "summary": how_many_text()}


def _datasets() -> dict[str, Any]:
    from mklviz.datasets import describe_datasets

    return {"datasets": [dataclasses.asdict(info) for info in describe_datasets()]}


def _families(kind: str) -> dict[str, Any]:
    """Return each class by its registry name with all options, and the first line of what it says of itself."""
    from mklviz.problem import loss_families, regularizer_families

    families: Mapping[str, Any] = loss_families() if kind == "losses" else regularizer_families()
    entries = [
        {
            "name": name,
            "label": family.label,
            "what": (family.__doc__ or family.label).strip().splitlines()[0],
            "options": {field.name: field.default for field in dataclasses.fields(family) if field.init},
        }
        for name, family in families.items()
    ]
    return {kind: entries}


def _solvers() -> dict[str, Any]:
    from mklviz.engine import KINDS, solver_classes

    solvers = [
        {
            "name": name,
            "label": solver.label,
            "paper": solver.paper,
            "options": [
                {"name": option, "default": value, "help": solver.param[option].doc or ""}
                for option, value in solver().options().items()
            ],
        }
        for name, solver in solver_classes().items()
    ]
    recommended = [
        {"problem": kind.what, "solver": kind.solver, "why": kind.why, "measured": kind.measured} for kind in KINDS
    ]
    return {"solvers": solvers, "recommended": recommended}


def _scenarios() -> dict[str, Any]:
    from mklviz.scenarios import scenarios

    entries = [
        {
            "name": name,
            "title": scenario.title,
            "data": scenario.recipe.data.source,
            "solvers": [{"name": choice.name, "options": dict(choice.options)} for choice in scenario.recipe.solvers],
            "look_for": scenario.look_for,
        }
        for name, scenario in scenarios().items()
    ]
    return {"scenarios": entries}


def _claim_lines(document: dict[str, Any]) -> None:
    width = 2 + max(len(entry["name"]) for entry in document["claims"])
    for entry in document["claims"]:
        text = f"{entry['sentence']} ({entry['paper']}, {entry['place']})"
        print(_filled(text, f"{entry['name']:<{width}}", width))


def _statement_lines(document: dict[str, Any]) -> None:
    for entry in document["statements"]:
        print(_filled(f"{entry['paper']}, {entry['place']}: {entry['sentence']}", "", 4))
        print(f"    {entry['verdict']}")
        if entry["claims"]:
            print(_filled(f"mklviz reproduce {' '.join(entry['claims'])}", "    ", 6))
        if entry["obstacle"]:
            print(_filled(entry["obstacle"], "    ", 4))
    print(f"{document['summary']}.")


def _dataset_lines(document: dict[str, Any]) -> None:
    for info in document["datasets"]:
        size = f"{info['n_samples']:>7,} x {info['n_features']:<4}"
        classes = " / ".join(info["classes"]) or "numbers"
        print(f"{info['name']:<16}{size} {info['task']:<11}{classes}  ({info['kind']})")


def _family_lines(document: dict[str, Any]) -> None:
    (families,) = document.values()
    width = 2 + max(len(entry["name"]) for entry in families)
    for entry in families:
        print(_filled(entry["what"], f"{entry['name']:<{width}}", width))
        options = ",".join(f"{key}={value}" for key, value in entry["options"].items())
        if options:
            print(f"{'':<{width}}{entry['name']}:{options}")


def _solver_lines(document: dict[str, Any]) -> None:
    for entry in document["solvers"]:
        print(_filled(f"{entry['label']}. {entry['paper']}", f"{entry['name']:<12}", 12))
        for option in entry["options"]:
            print(_filled(option["help"], f"{'':<12}{option['name']}={option['default']} ", 16))
    print("\nWhich solver, measured as CPU time to a gap of 1 %; `mklviz run` takes it where none is named:")
    for kind in document["recommended"]:
        print(_filled(f"{kind['problem']}: it {kind['why']}. {kind['measured']}", f"{kind['solver']:<12}", 12))


def _scenario_lines(document: dict[str, Any]) -> None:
    width = 2 + max(len(entry["name"]) for entry in document["scenarios"])
    for entry in document["scenarios"]:
        solvers = ", ".join(" with ".join([each["name"], *each["options"]]) for each in entry["solvers"])
        print(f"{entry['name']:<{width}}{entry['title']} ({entry['data']}: {solvers})")
        print(_filled(entry["look_for"], " " * width, width))


def _filled(text: str, begin: str, indent: int) -> str:
    space = " " * indent
    return textwrap.fill(begin + text, 110, subsequent_indent=space, replace_whitespace=False, break_on_hyphens=False)


LISTS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[dict[str, Any]], None]]] = {
    "claims": (_claims, _claim_lines),
    "datasets": (_datasets, _dataset_lines),
    "losses": (partial(_families, "losses"), _family_lines),
    "regularizers": (partial(_families, "regularizers"), _family_lines),
    "solvers": (_solvers, _solver_lines),
    "scenarios": (_scenarios, _scenario_lines),
    "statements": (_statements, _statement_lines),  # which claims --all shows
}
