"""Record the races of scenarios anew, for `mklviz.record.recordings`.

    python .ci/recordings.py                   those that the package has
    python .ci/recordings.py silp-oscillates   these

Runs a scenario's recipe at full speed and writes what is drawn of it: dual variables and certificates are left out, and
weights have four digits, so that a race of 442 kernels takes some 100 kB. Version and recipe stand in the files.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mklviz.contract import Array, Iterate
from mklviz.record import Trace
from mklviz.record.bundle import write_bundle
from mklviz.record.recordings import FOLDER
from mklviz.record.verdict import Verdict
from mklviz.scenarios import load_scenario

LOST = 40  # of the 52 bits of a weight's digits: zeros pack well
NOTHING = np.empty(0)


def main(names: Sequence[str]) -> None:
    """Write the recordings of these scenarios, or of all that have one."""
    for name in names or sorted(path.stem for path in FOLDER.glob("*.zip")):
        path = FOLDER / f"{name}.zip"
        with path.open("wb") as file:
            write_bundle(recorded(name), file)
        print(f"{path}: {path.stat().st_size:,} bytes")


def recorded(name: str) -> dict[str, Trace]:
    """Run a scenario's race and return its traces, thinned."""
    recipe = load_scenario(name).recipe
    race = recipe.race(recipe.prepare())
    for run in race.runs.values():  # one after the other: their clocks are not to disturb each other
        while run.advance():
            pass
    return {key: thinned(run.trace) for key, run in race.runs.items()}


def thinned(trace: Trace) -> Trace:
    """Return a run with what is drawn of it alone."""
    header = (trace.solver, trace.label, trace.options, trace.kernel_names, trace.problem, trace.recipe, trace.versions)
    small = Trace(*header)
    for t, iterate in enumerate(trace):
        small.append(_thinned(iterate), trace.seconds_at(t), trace.split_at(t) or None)
    small.finish(Verdict(trace.status, trace.reason))
    return small


def _thinned(iterate: Iterate) -> Iterate:
    return replace(iterate, weights=_rounded(iterate.weights), dual=NOTHING, certificate=None)


def _rounded(weights: Array) -> Array:
    half = np.int64(1) << (LOST - 1)
    rounded = ((weights.view(np.int64) + half) >> LOST) << LOST
    return np.where(weights < 1e-6, 0.0, rounded.view(np.float64))


if __name__ == "__main__":
    main(sys.argv[1:])
