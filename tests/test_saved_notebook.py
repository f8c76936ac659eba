"""A notebook of five races with their recordings stays small enough to be sent and kept under version control."""

from __future__ import annotations

from typing import Any

import pytest
from _cells import executed

MOST = 2_000_000  # bytes
PROBLEM = """
import mklviz as mv
train, test = mv.load_dataset("heart").split()
problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
"""
RACE = "race = mv.race(problem, ['silp', 'level', 'spg']{})"


def five(words: str = "", **options: Any) -> tuple[int, list[str]]:
    """Return how many bytes a notebook of five races has, and what each race keeps for a page."""
    import nbformat

    document = executed(PROBLEM, *[RACE.format(words), "assert race.wait(240)"] * 5, **options)
    races = [cell.outputs[-1]["data"]["text/html"] for cell in document.cells[1::2]]
    return len(nbformat.writes(document).encode()), races


def test_five_races_are_saved_in_two_megabytes_with_their_recordings_and_the_state_of_their_widgets() -> None:
    size, races = five()
    assert all(race.count("<iframe") == 1 for race in races)
    assert size <= MOST


@pytest.mark.full
def test_so_are_five_races_of_as_many_steps_as_there_may_be_without_the_state_of_their_widgets() -> None:
    size, races = five(", gap=None", store_widget_state=False)  # as JupyterLab and Notebook 7 save them by default
    assert all(race.count("<iframe") == 1 for race in races)
    assert size <= MOST
