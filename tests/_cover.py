"""The part of a full product in which every two values that can meet still meet.

A fault that a product of solvers, losses, regularizers and situations brings to light nearly always hangs on one value
or on two that meet (Cohen, Dalal, Fredman and Patton, The AETG system, IEEE Transactions on Software Engineering 23,
1997). Of a test marked ``pairwise`` the quick tests take a cover, found greedily; the rest is marked ``full``.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import pytest

__all__ = ["covered", "leave_the_rest_to_full", "pairs"]

Pair = tuple[int, Hashable, int, Hashable]


def pairs(row: Sequence[object]) -> set[Pair]:
    """Return the pairs of values that meet in a row, each with its two places; values are told apart by their repr."""
    words = [repr(value) for value in row]
    return {(i, words[i], j, words[j]) for i, j in itertools.combinations(range(len(words)), 2)}


def covered(rows: Sequence[Sequence[object]]) -> list[bool]:
    """Return which rows make up the cover: greedily, those with most pairs not seen before come first.

    What a row would add only shrinks as others are taken, so one pass for each number of pairs is all it takes.
    """
    meeting, seen, taken = [pairs(row) for row in rows], set[Pair](), [False] * len(rows)
    for worth in range(max(map(len, meeting), default=0), 0, -1):
        for place, found in enumerate(meeting):
            if len(found - seen) >= worth:
                taken[place] = True
                seen |= found
    return taken


def leave_the_rest_to_full(items: Sequence[pytest.Item]) -> None:
    """Mark ``full`` whatever lies outside the covers of the tests marked ``pairwise``."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("pairwise"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        rows = [list(case.callspec.params.values()) for case in cases]  # type: ignore[attr-defined]
        for case, taken in zip(cases, covered(rows), strict=True):
            if not taken:
                case.add_marker("full")
