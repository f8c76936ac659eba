"""The part of a full product in which every value occurs, or in which every two values that can meet still meet.

A fault that a product of solvers, losses, regularizers and situations brings to light nearly always hangs on one value
or on two that meet (Cohen, Dalal, Fredman and Patton, The AETG system, IEEE Transactions on Software Engineering 23,
1997). Of a test marked ``pairwise`` the quick tests take a cover of the pairs, of one marked ``each_value`` a cover of
the values, both found greedily; the rest is marked ``full``.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import pytest

__all__ = ["covered", "leave_the_rest_to_full", "meetings"]

STRENGTHS = {"pairwise": 2, "each_value": 1}  # how many values must meet


def meetings(row: Sequence[object], strength: int = 2) -> set[Hashable]:
    """Return the values that meet in a row, by twos or one by one, with their places; they are told apart by repr."""
    return set(itertools.combinations(enumerate(map(repr, row)), strength))


def covered(rows: Sequence[Sequence[object]], strength: int = 2) -> list[bool]:
    """Return which rows make up the cover: greedily, those with most pairs not seen before come first.

    What a row would add only shrinks as others are taken, so one pass for each number of pairs is all it takes.
    """
    meeting, seen, taken = [meetings(row, strength) for row in rows], set[Hashable](), [False] * len(rows)
    for worth in range(max(map(len, meeting), default=0), 0, -1):
        for place, found in enumerate(meeting):
            if len(found - seen) >= worth:
                taken[place] = True
                seen |= found
    return taken


def leave_the_rest_to_full(items: Sequence[pytest.Item]) -> None:
    """Mark ``full`` whatever lies outside the covers of the tests marked ``pairwise`` or ``each_value``."""
    products: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        for name, strength in STRENGTHS.items():
            if item.get_closest_marker(name):
                products.setdefault((item.nodeid.partition("[")[0], strength), []).append(item)
    for (_, strength), cases in products.items():
        rows = [list(case.callspec.params.values()) for case in cases]  # type: ignore[attr-defined]
        for case, taken in zip(cases, covered(rows, strength), strict=True):
            if not taken:
                case.add_marker("full")
