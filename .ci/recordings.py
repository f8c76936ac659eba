"""Record the races of scenarios and of papers' claims anew, for `mklviz.record.bundle`.

    python .ci/recordings.py                   those of scenarios that the package has
    python .ci/recordings.py silp-oscillates   these
    python .ci/recordings.py claims            those of the claims, which takes minutes

Runs a recipe at full speed and writes what is drawn of it: dual variables and certificates are left out, and
weights and facts have few digits, so that a race of 442 kernels takes some 80 kB. Version and recipe stand in the
files, and of a lesson what was computed for its picture.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array, Iterate
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.record.archive import SavedFacts
from mklviz.record.bundle import EVIDENCE, FOLDER, SUFFIX
from mklviz.record.run_facts import Verdict
from mklviz.reproduce.recorded import claim_races
from mklviz.scenarios import Evidence, Outcome, load_scenario

DIGITS = 5  # of facts, and of what was computed for a picture
LOST = 46  # of the 52 bits of a weight's digits: zeros pack well
NOTHING = np.empty(0)


def main(names: Sequence[str]) -> None:
    """Write the recordings of these scenarios, or of all that have one; or, if asked, those of the claims."""
    if [*names] == ["claims"]:
        for shown in claim_races():
            _, traces = raced(shown.recipe)
            write(shown.name, traces, {})
    else:
        for name in names or sorted(path.stem for path in FOLDER.glob("*.zip")):
            write(name, *recorded(name))


def write(name: str, traces: Mapping[str, Trace], evidence: Evidence) -> None:
    """Write the file of a recording, of traces that are thinned for it."""
    path = FOLDER / f"{name}.zip"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for key, trace in traces.items():  # keys as they are, by which recordings are asked for
            with archive.open(f"{key}{SUFFIX}", "w") as member:
                thinned(trace).save(member)
        if evidence:
            archive.writestr(EVIDENCE, json.dumps(_short(evidence)), zipfile.ZIP_DEFLATED)
    print(f"{path}: {path.stat().st_size:,} bytes", flush=True)


def recorded(name: str) -> tuple[Mapping[str, Trace], Evidence]:
    """Run a scenario's race and return its traces, and what its answer is drawn from."""
    scenario = load_scenario(name)
    prepared, traces = raced(scenario.recipe)
    question = scenario.question
    return traces, {} if question is None else question.answer(Outcome(prepared, traces)).evidence


def raced(recipe: Recipe) -> tuple[Prepared, Mapping[str, Trace]]:
    """Run a race, and return its problem and its traces."""
    prepared = recipe.prepare()
    race = recipe.race(prepared)
    for run in race.runs.values():  # one after the other: their clocks are not to disturb each other
        while run.advance():
            pass
    return prepared, race.traces


def _short(value: Any) -> Any:
    """Return tables whose numbers have few digits."""
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def thinned(trace: Trace) -> Trace:
    """Return a run with what is drawn of it alone."""
    small = trace.without_steps()
    for t, iterate in enumerate(trace):
        small.append(_thinned(iterate), trace.seconds_at(t), trace.split_at(t) or None)
    small.finish(Verdict(trace.status, trace.reason))
    return small


def _thinned(iterate: Iterate) -> Iterate:
    facts = SavedFacts.read(_short(iterate.facts.known()))
    return replace(iterate, weights=_rounded(iterate.weights), dual=NOTHING, certificate=None, facts=facts)


def _rounded(weights: Array) -> Array:
    half = np.int64(1) << (LOST - 1)
    rounded = ((weights.view(np.int64) + half) >> LOST) << LOST
    return np.where(weights <= ACTIVE_WEIGHT, 0.0, rounded.view(np.float64))


if __name__ == "__main__":
    main(sys.argv[1:])
