"""Same recipe, same bits: whatever ran before in the process, and however many threads BLAS has when it begins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mklviz.kernels import Bank, Gaussian, KernelBank, NystromBank, Polynomial
from mklviz.scenarios import scenarios

X = np.random.default_rng(0).standard_normal((40, 3))
FAMILIES = [Gaussian(on="all+each"), Polynomial(on="all+each")]
QUICK = ("noisy-svms", "three-kernels", "second-order", "sparse-or-dense")
LESSONS = [name for name, each in scenarios().items() if each.question is not None]

RACES = """
import hashlib, json, sys
import numpy as np
from mklviz.scenarios import load_scenario

def digest(trace):
    found = hashlib.md5()
    for it in trace:
        for part in (it.weights, it.dual, [it.objective, it.lower_bound, it.step, it.svm_solves]):
            found.update(np.ascontiguousarray(part, dtype=float).tobytes())
    return found.hexdigest()

def raced(name):
    recipe = load_scenario(name).recipe
    race = recipe.race(recipe.prepare())
    race.start()
    assert race.wait(500.0)
    return {key: digest(trace) for key, trace in race.traces.items()}

print(json.dumps([(name, raced(name)) for name in sys.argv[1:]]))
"""


def blas_threads() -> set[int]:
    return {int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas"}


def kept(seen: set[int]) -> Bank:
    return KernelBank.build(X, FAMILIES, progress=lambda _: seen.update(blas_threads()))


def approximated(seen: set[int]) -> Bank:
    return NystromBank.build(X, FAMILIES, 10, progress=lambda _: seen.update(blas_threads()))


def threads_of(build: Callable[[set[int]], object]) -> list[list[int]]:
    """Return the numbers of BLAS's threads before, while and after a bank is built, where there are two."""
    seen: set[int] = set()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        build(seen)
        return [sorted(before), sorted(seen), sorted(blas_threads())]


@pytest.mark.parametrize("build", [kept, approximated])
def test_kernels_are_built_by_one_blas_thread_although_there_are_two(build) -> None:
    """In a process of its own: a race that a test has left in this one may keep BLAS to one thread."""
    program = f"import test_same_bits as here; print(here.threads_of(here.{build.__name__}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    before, seen, after = json.loads(done.stdout)
    assert 2 in before
    assert seen == [1]
    assert after == before


def differing(names: list[str]) -> list[tuple[str, str]]:
    """Return which runs differ, lesson and solver, when a fresh process races forth and back, in its own BLAS code."""
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    order = [*names, *reversed(names)]
    done = subprocess.run(
        [sys.executable, "-c", RACES, *order], env=environment, check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    pairs = zip(found, reversed(found), strict=True)
    return [(name, key) for (name, one), (_, other) in pairs for key in one if one[key] != other[key]]


def test_lessons_take_the_same_steps_the_first_and_the_second_time() -> None:
    assert differing(list(QUICK)) == []


@pytest.mark.full
@pytest.mark.parametrize("turn", [1, -1])
def test_every_lesson_takes_the_same_steps_in_any_order(turn: int) -> None:
    assert differing(LESSONS[::turn]) == []
