"""What every solver says of a step, sentence by sentence, as somebody has read and approved it.

The approved text is tests/approved/narration.txt. To renew it once sentences have changed, run

    python tests/test_narration.py

and read what differs before it is committed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import nan
from pathlib import Path

import numpy as np
import pytest

from mklviz.contract import Facts, Iterate
from mklviz.engine import available_solvers, make_solver
from mklviz.scenarios import load_scenario
from mklviz.solvers._ufo_state import EpochFacts
from mklviz.solvers.closed_form import ClosedFormFacts
from mklviz.solvers.level import LevelFacts
from mklviz.solvers.newton import NewtonFacts
from mklviz.solvers.obscure import ObscureFacts
from mklviz.solvers.pgd import PgdFacts
from mklviz.solvers.silp import SilpFacts
from mklviz.solvers.simplemkl import SimpleMklFacts
from mklviz.solvers.smo_mkl import SmoMklFacts
from mklviz.solvers.spg import SpgFacts
from mklviz.solvers.spicymkl import SpicyMklFacts

APPROVED = Path(__file__).parent / "approved" / "narration.txt"

Steps = list[tuple[str, Iterate | None, Iterate]]


def at(facts: Facts | None = None, objective: float = 90.0, bound: float = 80.0, step: float = 0.25) -> Iterate:
    """Return an iterate with four kernels, three of them in use."""
    weights, dual = np.array([0.5, 0.25, 0.25, 0.0]), np.full(20, 0.5)
    return Iterate(weights, dual, objective, bound, step, 1, facts or Facts())


BEGUN = at(objective=100.0, bound=50.0)
START = ("start", None, BEGUN)


def _after(what: str, facts: Facts, before: Facts | None = None, **state: float) -> tuple[str, Iterate, Iterate]:
    return what, at(before, objective=100.0, bound=50.0), at(facts, **state)


def _kink(facts: Facts, **state: float) -> tuple[str, Iterate, Iterate]:
    return _after("out of a kink", facts, **state)


def _line_searches() -> dict[str, Steps]:
    simple = {"line_search_trials": 12.0, "boundary_moves": 0.0, "reference_kernel": "gauss 2⁰ on age"}
    exact, rough = {"svm_tolerance": 1e-6}, {"svm_tolerance": 0.1}
    trials = {"line_search_trials": 3.0, "reference_value": 105.0}
    spectral = {"bb_step": 0.02, "share": 1.0, "line_search_trials": 1.0}
    return {
        "simplemkl": [
            START,
            _after("plain", SimpleMklFacts(**simple)),
            _after("one weight to zero", SimpleMklFacts(**simple | {"boundary_moves": 1.0})),
            _after("three weights to zero", SimpleMklFacts(**simple | {"boundary_moves": 3.0})),
            _after("nothing moved", SimpleMklFacts(**simple), objective=100.0, step=0.0),
            _kink(SimpleMklFacts(**simple, direction="averaged")),
        ],
        "pgd": [
            START,
            _after("plain", PgdFacts(**trials)),
            _after("rose", PgdFacts(**trials), objective=101.0),
            _after("nothing found", PgdFacts(**trials), objective=100.0, step=0.0),
            _after("finer SVMs", PgdFacts(**trials, svm_tolerance=0.01), Facts(**rough), step=0.0),
            _kink(PgdFacts(**trials, direction="averaged")),
            _kink(PgdFacts(**trials, direction="averaged"), objective=100.0, step=0.0),
        ],
        "spg": [
            START,
            _after("in full", SpgFacts(**spectral)),
            _after("shortened", SpgFacts(**spectral | {"share": 0.25, "line_search_trials": 3.0})),
            _after("nothing found", SpgFacts(**spectral | {"share": 0.0}), objective=100.0, step=0.0),
            _after("finer SVMs", SpgFacts(**spectral, **exact), Facts(**rough)),
            _kink(SpgFacts(**spectral, direction="averaged")),
            _kink(SpgFacts(**spectral | {"share": 0.0}, direction="averaged"), objective=100.0, step=0.0),
        ],
    }


def _models() -> dict[str, Steps]:
    promised = {"cuts": 3.0, "lp_value": 70.0, "moved": 0.75}
    level = {"cuts": 3.0, "level": 85.0, "moved": 0.2, "empty_level_sets": 0.0}
    newton = {"working_kernels": 4.0, "free_points": 7.0}
    return {
        "silp": [
            START,
            _after("at once", SilpFacts(**promised)),
            _after("rose", SilpFacts(**promised | {"moved": 0.1}), objective=130.0),
            _after("promise held", SilpFacts(**promised | {"cuts": 1.0, "lp_value": 89.9})),
            _after("no linear program", SilpFacts(cuts=3.0), objective=100.0),
        ],
        "level": [
            START,
            _after("plain", LevelFacts(**level)),
            _after("first", LevelFacts(**level | {"cuts": 1.0})),
            _after("empty level set", LevelFacts(**level | {"empty_level_sets": 1.0})),
            _after("bounds met", LevelFacts(), objective=100.0),
        ],
        "newton": [
            START,
            _after("in full", NewtonFacts(move="Newton", **newton), step=1.0),
            _after("shortened", NewtonFacts(move="Newton", **newton), step=0.5),
            _after("safeguard", NewtonFacts(move="gradient", **newton)),
            _after("dual alone", NewtonFacts(move="dual", **newton), objective=100.0),
            _after("end", NewtonFacts(move="none", **newton), objective=100.0),
        ],
    }


def _others() -> dict[str, Steps]:
    gained = {"gained": 1.0, "lost": 3.0, "most": "gauss 2⁰ on age", "power": 1.0, "retreats": 0.0}
    spicy = {"newton_steps": 2.0, "active_kernels": 3.0}
    epoch = {"epochs": 2.0, "updates": 25.0, "zero_kernels": 1.0}
    zero = at(objective=100.0, bound=0.0)
    zero.dual[:] = 0.0
    pairs = SmoMklFacts(pair_steps=20.0, violation=0.1)
    return {
        "closed-form": [
            START,
            _after("plain", ClosedFormFacts(**gained)),
            _after("ahead", ClosedFormFacts(**gained | {"power": 1.5})),
            _after("too far", ClosedFormFacts(**gained | {"retreats": 1.0}), ClosedFormFacts(**gained)),
            _after("stands", ClosedFormFacts(), objective=100.0),
        ],
        "smo-mkl": [
            ("start", None, zero),
            ("warm start", None, BEGUN),
            _after("plain", pairs, SmoMklFacts(pair_steps=0.0)),
            _after("same bound", pairs, SmoMklFacts(pair_steps=0.0), bound=50.0),
            _after("end", pairs, pairs, objective=100.0),
        ],
        "spicymkl": [
            START,
            _after("one step", SpicyMklFacts(**spicy), step=nan),
            _after("proximal", SpicyMklFacts(**spicy | {"newton_steps": 1.0}), step=10.0),
            _after("SVM", SpicyMklFacts(active_kernels=3.0, svm_tolerance=1e-6), step=nan),
        ],
        "ufo": [("start", None, zero), _after("plain", EpochFacts(**epoch), EpochFacts(updates=10.0))],
        "obscure": [
            ("start", None, zero),
            _after("online", ObscureFacts(**epoch, stage=1.0), ObscureFacts(updates=10.0)),
            _after("batch", ObscureFacts(**epoch, stage=2.0), ObscureFacts(updates=10.0)),
        ],
    }


STEPS = {**_line_searches(), **_models(), **_others()}
OPTIONS = {"pgd": {"nonmonotone": True}}


def told(name: str) -> Iterator[str]:
    """Yield what a solver says of each of its steps."""
    solver = make_solver(name, **OPTIONS.get(name, {}))
    for _, before, after in STEPS[name]:
        yield solver.narrate(before, after)


def written() -> str:
    """Return the text to approve."""
    parts = []
    for name in sorted(STEPS):
        lines = [f"  {what}: {said}" for (what, _, _), said in zip(STEPS[name], told(name), strict=True)]
        parts.append("\n".join([name, *lines]))
    return "\n\n".join(parts) + "\n"


def test_what_solvers_say_is_what_was_approved() -> None:
    renew = "Read what differs; if it is as it should be, renew the approved text: python tests/test_narration.py"
    assert written() == APPROVED.read_text(encoding="utf-8"), renew


def test_every_solver_has_an_approved_text() -> None:
    assert set(STEPS) == set(available_solvers())


NUMBER = r"-?(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)"


def shapes(said: str) -> set[str]:
    """Return the sentences of a story without numbers, the plurals that depend on them, and names of kernels."""
    said = re.sub(r"(between|kernels?,) .*?( and the other| most)", r"\1 K\2", said)
    said = re.sub(NUMBER, "#", said)
    said = re.sub(r"# times|once(?=[;,])", "# time", said).replace("stays", "stay").replace(" at once", "")
    said = re.sub(r"\b(fell|rose) by # %|\bstayed at", "came", said).replace("came to", "came")
    said = re.sub(r"# (kernel|cut|trial|sample|step|Newton step|SVM solve|free support vector)s\b", r"# \1", said)
    return set(re.split(r"(?<=[.;])\s", said))


RACES = ["silp-is-fine", "silp-oscillates", "three-groups", "lp-norms", "sparse-or-dense"]


@pytest.mark.parametrize("name", RACES)
def test_what_solvers_say_in_a_race_was_approved(name: str) -> None:
    recipe = load_scenario(name).recipe
    race = recipe.race(recipe.prepare())
    race.start()
    assert race.wait(300.0)
    for run in race.runs.values():
        known = {shape for said in told(run.trace.solver) for shape in shapes(said)}
        for before, after in pairwise([None, *run.trace]):
            assert shapes(run.solver.narrate(before, after)) <= known


if __name__ == "__main__":
    APPROVED.parent.mkdir(exist_ok=True)
    APPROVED.write_text(written(), encoding="utf-8")
    print(f"Written: {APPROVED}")
