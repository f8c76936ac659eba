"""The tests of the tests: covers of full products leave out no pair and no value, and mutants are of code."""

import itertools
from collections import Counter
from types import SimpleNamespace

from _cover import covered, leave_the_rest, pairs, shown
from mutants import mutants_of


def union(rows: list[tuple[object, ...]]) -> set[object]:
    return set().union(*map(pairs, rows))


def test_pairs_of_a_product_of_three_take_little_more_than_its_two_longest_sides_and_values_its_longest() -> None:
    rows = list(itertools.product(range(9), range(7), range(4)))
    chosen = [row for row, taken in zip(rows, covered(rows), strict=True) if taken]
    assert union(chosen) == union(rows)
    assert 9 * 7 <= len(chosen) <= 80  # no cover is smaller than 63; 252 are the whole
    chosen = [row for row, taken in zip(rows, shown(rows), strict=True) if taken]
    assert len(chosen) == 9
    assert [set(side) for side in zip(*chosen, strict=True)] == [set(range(9)), set(range(7)), set(range(4))]
    assert max(Counter(row[2] for row in chosen).values()) == 3  # nine cases of four values: no value has many


class Case:
    """A test that pytest has collected, of a function that `mark` marks, for some values."""

    def __init__(self, mark: str, late: tuple[str, ...], values: tuple[int, ...]) -> None:
        self.mark, self.late, self.nodeid = mark, late, f"{mark}[{values}]"
        self.callspec = SimpleNamespace(params=dict(enumerate(values)))
        self.marks: list[str] = []
        self.add_marker = self.marks.append

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(args=self.late) if name == self.mark else None


def left(mark: str, *sides: int, late: tuple[str, ...] = ()) -> dict[tuple[str, ...], int]:
    """Return how many cases of a product get which marks."""
    cases = [Case(mark, late, row) for row in itertools.product(*map(range, sides))]
    leave_the_rest(cases)  # type: ignore[arg-type]
    return dict(Counter(tuple(case.marks) for case in cases))


def test_every_pair_is_met_and_the_rest_of_the_products_is_left() -> None:
    found = left("pairwise", 4, 4, 3)
    assert 4 * 4 <= found[()] <= 20
    assert found == {(): found[()], ("product",): 4 * 4 * 3 - found[()]}
    assert left("each_value", 4, 3) == {(): 4, ("full",): 4 * 3 - 4}  # of values, all that two sides leave
    assert left("each_value", 4, 3, late=("release",)) == {(): 4, ("product",): 4 * 3 - 4}
    assert left("", 3) == {(): 3}


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
    assert changed == {("+", "-"), ("*", "/"), ("max", "min"), ("<=", ">"), ("minimum", "maximum"), ("!=", "==")}
    assert len(mutants_of("x.py", TEXT)) == 6
