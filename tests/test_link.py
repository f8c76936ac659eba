"""A link sets the controls to its recipe; a bad part gives a sentence, and the rest is used."""

from __future__ import annotations

import pytest

from mklviz.problem import EpsilonInsensitive, Hinge
from mklviz.recipe import DataChoice, StopChoice
from mklviz.views.links import link
from mklviz.views.sidebar.sidebar import Sidebar


@pytest.fixture(scope="module")
def sidebar() -> Sidebar:
    return Sidebar()


def test_a_bad_part_of_a_link_gives_a_sentence_and_the_rest_is_used(sidebar: Sidebar) -> None:
    said = link.open_words(sidebar, "data=diabetes; solvers=levle; loss=epsilon-insensitive:epsilon=0.5; C=3; gap=soon")
    assert "Did you mean level?" in said
    assert "The gap to stop at must be a number" in said
    shown = sidebar.recipe
    assert shown.data == DataChoice("diabetes")
    assert shown.problem.loss == EpsilonInsensitive(3.0, epsilon=0.5)
    assert shown.stop == StopChoice()


def test_a_class_that_the_data_have_not_is_owned_up_to(sidebar: Sidebar) -> None:
    assert link.open_words(sidebar, "data=iris; positive=rose") == "“positive=rose” cannot be used here."
    assert sidebar.recipe.data == DataChoice("iris")


def test_a_file_that_is_not_there_is_asked_for_and_the_rest_is_used(sidebar: Sidebar) -> None:
    link.open_words(sidebar, "data=sonar")
    said = link.open_words(sidebar, f"data=sha256:{'0' * 64}; C=5")
    assert "an uploaded file" in said
    assert sidebar.recipe.problem.loss == Hinge(5.0)
    assert sidebar.recipe.data == DataChoice("sonar")


def test_a_column_is_called_by_its_name_as_on_the_command_line(sidebar: Sidebar) -> None:
    assert link.open_words(sidebar, "data=heart; kernels=gauss:1@thal poly:1@age,sex") == ""
    assert [family.on for family in sidebar.recipe.kernels.families] == [("thal",), ("age", "sex")]
    assert sidebar.blocked == ""
    link.open_words(sidebar, "data=heart; kernels=gauss:1@foo")
    assert sidebar.blocked.startswith("There is no column 'foo'. Columns: age, sex, ")
