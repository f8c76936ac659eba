"""A process that is forked while a race runs can race as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
import mklviz as mv
from mklviz.engine import Race, MaxIter

train, _ = mv.load_dataset("two_moons").split(train=0.5, seed=0)
problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0), mv.Simplex())
race = Race(problem, ["level", "spg"], [MaxIter(10**6)], pace=50.0)
race.start()
while not all(len(trace) > 2 for trace in race.traces.values()):
    race.wait(0.01)
child = os.fork()
own = Race(problem, ["level", "spg"], [MaxIter(20)])
own.start()
ended = own.wait(180.0) and all(run.status in ("limit", "rule", "converged") for run in own.runs.values())
if child == 0:
    os._exit(0 if ended else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
goes_on = not race.finished
race.cancel()
race.wait(180.0)
sys.exit(code or not ended or not goes_on)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system does not fork.")
def test_a_race_runs_in_a_process_forked_from_one_that_races() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
