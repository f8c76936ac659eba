"""The part of a full product in which every value occurs, or in which every two values that can meet still meet.

A fault that a product of solvers, losses, regularizers and situations brings to light nearly always hangs on one value
or on two that meet (Cohen, Dalal, Fredman and Patton, The AETG system, IEEE Transactions on Software Engineering 23,
1997). Of a test marked ``pairwise`` the quick tests take a cover of the pairs; of one marked ``each_value`` they take a
cover of the values, and the full ones a cover of the pairs, all found greedily. What is left is marked ``product``, as
is all but the values of one marked ``each_value("release")``.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import pytest

__all__ = ["covered", "leave_the_rest", "pairs", "shown"]


def pairs(row: Sequence[object]) -> set[Hashable]:
    """Return the pairs of values that meet in a row, each with its two places; values are told apart by their repr."""
    return set(itertools.combinations(enumerate(map(repr, row)), 2))


def covered(rows: Sequence[Sequence[object]]) -> list[bool]:
    """Return which rows make up the cover of the pairs: greedily, those with most pairs not seen before come first.

    What a row would add only shrinks as others are taken, so one pass for each number of pairs is all it takes.
    """
    meeting, seen, taken = [pairs(row) for row in rows], set[Hashable](), [False] * len(rows)
    for worth in range(max(map(len, meeting), default=0), 0, -1):
        for place, found in enumerate(meeting):
            if len(found - seen) >= worth:
                taken[place] = True
                seen |= found
    return taken


def shown(rows: Sequence[Sequence[object]]) -> list[bool]:
    """Return which rows show every value: those with most new ones first, and of equals those of the rarest values."""
    values = [list(enumerate(map(repr, row))) for row in rows]
    used, taken = Counter[Hashable](), [False] * len(rows)
    while any(value not in used for row in values for value in row):
        best = max(values, key=lambda row: (sum(value not in used for value in row), -sum(used[each] for each in row)))
        taken[values.index(best)] = True
        used.update(best)
    return taken


COVERS = {"pairwise": covered, "each_value": shown}


def leave_the_rest(items: list[pytest.Item]) -> None:
    """Mark what the quick cases of a marked test leave."""
    for mark, cover in COVERS.items():
        functions: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.get_closest_marker(mark):
                functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
        for cases in functions.values():
            left = _outside(cover, cases)
            late = cover is covered or cases[0].get_closest_marker(mark).args  # type: ignore[union-attr]
            rest = left if late else _outside(covered, left)
            for case in left:
                case.add_marker("product" if case in rest else "full")


def _outside(cover: Callable[[Sequence[Sequence[object]]], list[bool]], cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of a test that its cover leaves out."""
    rows = [list(case.callspec.params.values()) for case in cases]  # type: ignore[attr-defined]
    return [case for case, taken in zip(cases, cover(rows), strict=True) if not taken]
