"""Record the races of scenarios and of papers' claims anew, for `mklviz.record.bundle`.

    python .ci/recordings.py                   those of scenarios that the package has
    python .ci/recordings.py silp-oscillates   these
    python .ci/recordings.py claims            those of the claims, which takes minutes

Runs a recipe at full speed and writes what is drawn of it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.bundle import FOLDER, write_recording
from mklviz.reproduce.recorded import claim_races
from mklviz.scenarios import Evidence, Outcome, load_scenario


def main(names: Sequence[str]) -> None:
    """Write the recordings of these scenarios, or of all that have one; or, if asked, those of the claims."""
    if [*names] == ["claims"]:
        for shown in claim_races():
            write(shown.name, raced(shown.recipe).traces, {})
        return
    for name in names or sorted(path.stem for path in FOLDER.glob("*.zip")):
        scenario = load_scenario(name)
        outcome, question = raced(scenario.recipe), scenario.question
        write(name, outcome.traces, {} if question is None else question.answer(outcome).evidence)


def write(name: str, traces: Mapping[str, Trace], evidence: Evidence) -> None:
    """Write the file of a recording."""
    path = FOLDER / f"{name}.zip"
    path.parent.mkdir(exist_ok=True)
    write_recording(path, traces, evidence)
    print(f"{path}: {path.stat().st_size:,} bytes", flush=True)


def raced(recipe: Recipe) -> Outcome:
    """Run a race, and return its problem and its traces."""
    prepared = recipe.prepare()
    race = recipe.race(prepared)
    for run in race.runs.values():  # one after the other: their clocks are not to disturb each other
        while run.advance():
            pass
    return Outcome(prepared, race.traces)


if __name__ == "__main__":
    main(sys.argv[1:])
