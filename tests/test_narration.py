"""What every solver says of a step, sentence by sentence, as somebody has read and approved it.

A solver's examples, each with the approved sentences, are tests/approved/narration/SOLVER.toml: what its facts are
before and after a step, and how the iterate differs from the usual one. A new solver brings a file of its own. To renew
the sentences once they have changed, run

    python tests/test_narration.py

and read what differs before it is committed.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import ran

from mklviz.contract import Facts, Iterate, Solver
from mklviz.engine import available_solvers, make_solver
from mklviz.scenarios import load_scenario

APPROVED = Path(__file__).parent / "approved" / "narration"
FIRST = {"objective": 100.0, "bound": 50.0}  # the objective at the start, and before every step


def at(facts: Facts, objective: float = 90.0, bound: float = 80.0, step: float = 0.25, dual: float = 0.5) -> Iterate:
    """Return an iterate with four kernels, three of them in use."""
    weights = np.array([0.5, 0.25, 0.25, 0.0])
    return Iterate(weights, np.full(20, dual), objective, bound, step, 1, facts)


def facts_of(solver: Solver) -> type[Facts]:
    """Return the facts that a solver's module derives or imports, the most special ones."""
    known = vars(sys.modules[type(solver).__module__]).values()
    kinds = {Facts, *(kind for kind in known if isinstance(kind, type) and issubclass(kind, Facts))}
    return max(kinds, key=lambda kind: len(kind.__mro__))


def file_of(name: str) -> Path:
    return APPROVED / f"{name}.toml"


def examples(name: str) -> dict[str, Any]:
    """Return a solver's options and the steps of its examples."""
    return tomllib.loads(file_of(name).read_text(encoding="utf-8"))


def message_of(name: str) -> Iterator[str]:
    """Yield what a solver says of each of its examples."""
    known = examples(name)
    solver = make_solver(name, **known.get("options", {}))
    kind = facts_of(solver)
    for example in known["steps"]:
        first = FIRST if example.get("start") else {}
        before = None if first else at(kind(**example.get("before", {})), **FIRST)
        yield solver.narrate(before, at(kind(**example.get("facts", {})), **first | example.get("after", {})))


@pytest.mark.parametrize("name", available_solvers())
def test_what_a_solver_says_is_what_was_approved(name: str) -> None:
    assert sorted(path.stem for path in APPROVED.iterdir()) == sorted(available_solvers())
    renew = "Read what differs; if it is as it should be, renew the approved text: python tests/test_narration.py"
    steps = examples(name)["steps"]
    assert {bool(example.get("start")) for example in steps} == {True, False}  # a start and a step at least
    assert list(message_of(name)) == [example["says"] for example in steps], renew


NUMBER = r"−?(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:×10)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*(?!\w)"


def shapes(said: str) -> set[str]:
    """Return the sentences of a story without numbers, the plurals that depend on them, and names of kernels."""
    said = re.sub(r"(between|kernels?,) .*?( and the other| most)", r"\1 K\2", said)
    said = re.sub(NUMBER, "#", said)
    said = re.sub(r"# times|once(?=[;,])", "# time", said).replace(" at once", "")
    said = re.sub(r"(the|its) one cut( lies)?|both cuts lie|(all|its) # cuts( lie)?", "# cut", said)
    said = re.sub(r"\b(fell|rose) by # %|\bstayed at", "came", said).replace("came to", "came")
    said = re.sub(r"# (kernel|cut|trial|sample|step|Newton step|SVM solve|free support vector)s\b", r"# \1", said)
    return set(re.split(r"(?<=[.;])\s", said))


@pytest.mark.parametrize("name", ["silp-is-fine", "silp-oscillates", "three-groups", "lp-norms", "sparse-or-dense"])
def test_what_solvers_say_in_a_race_was_approved(name: str) -> None:
    recipe = load_scenario(name).recipe
    race = ran(recipe.race(recipe.prepare()))
    for run in race.runs.values():
        known = {shape for said in message_of(run.trace.solver) for shape in shapes(said)}
        for before, after in pairwise([None, *run.trace]):
            assert shapes(run.solver.narrate(before, after)) <= known


def renew(name: str) -> None:
    """Write what a solver says into its file."""
    said = message_of(name)
    text = file_of(name).read_text(encoding="utf-8")
    text = re.sub("^says = .*$", lambda _: f"says = {json.dumps(next(said), ensure_ascii=False)}", text, flags=re.M)
    file_of(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in available_solvers():
        renew(name)
    print(f"Written: {APPROVED}")
