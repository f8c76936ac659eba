"""Mutants are small, valid and repeatable, and meet the tests that are nearest to them."""

from __future__ import annotations

import ast

import pytest
from mutants import ROOMS, ROOT, draw, mutants_of, nearest_tests

TEXT = '''"""A × b."""
def f(a, b):
    grown = (a
             + b) * 2  # * in words
    if max(a, b) <= np.minimum(a, 1):
        return f"{a}" + "x"
    return a if -a != b else 1
'''


def test_every_operator_comparison_and_extreme_is_turned_and_texts_are_not() -> None:
    changed = {(mutant.old, mutant.new) for mutant in mutants_of("x.py", TEXT)}
    assert changed == {
        ("+", "-"),
        ("*", "/"),
        ("max", "min"),
        ("<=", ">"),
        ("minimum", "maximum"),
        ("!=", "=="),
    }
    assert len(mutants_of("x.py", TEXT)) == 6


@pytest.mark.parametrize("seed", [0, 1])
def test_mutants_are_valid_changed_in_one_place_and_the_same_for_a_seed(seed: int) -> None:
    drawn = draw(40, seed)
    assert drawn == draw(40, seed)
    assert len(set(drawn)) == 40
    for mutant in drawn:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert ast.dump(ast.parse(mutant.apply(text))) != ast.dump(ast.parse(text)), mutant
        assert mutant.file.startswith(ROOMS)


def test_the_nearest_tests_come_first() -> None:
    assert "tests/test_spectral.py" in nearest_tests("solvers/spg.py")[:2]
    assert "tests/test_simplemkl.py" in nearest_tests("solvers/simplemkl.py")[:2]
    assert nearest_tests("mklviz/engine/run.py")[0] == "tests/test_run.py"
    assert nearest_tests("datasets/covertype_like.py")[0] == "tests/test_covertype.py"
