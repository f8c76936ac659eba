"""Points drawn by hand: what is taken from the page, what becomes of it, and what is learned after each change."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _problems import ran
from _shown import control, source_of
from _ticks import following, shown
from _waits import wait_for
from bokeh.models import ColumnDataSource
from test_model_tab import MOONS, prepared

from mklviz.analysis.drawn_points import (
    COARSE,
    FILE,
    FINE,
    MOST_POINTS,
    Points,
    as_file,
    learned,
    points_of,
    read_points,
)
from mklviz.datasets import read_dataset_bytes
from mklviz.engine import MaxIter, Race, solve
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.recipe import Recipe
from mklviz.recipe.choices import digest
from mklviz.recipe.prepared import Prepared, build_bank
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.model import points_card
from mklviz.views.model.points_card import PointsCard

CLASSES = ("upper", "lower")


def raced(posed: Prepared) -> Race:
    return ran(Race(posed.problem, ("level",), rules=(MaxIter(3),)))


def opened(words: str = MOONS) -> tuple[Explorer, PointsCard]:
    """Return an explorer that shows a race, and a card that follows it, in edit mode and with what was learned."""
    explorer, card = Explorer(), PointsCard()
    session = explorer.session
    explorer.sidebar.load(Recipe.from_words(words))
    session.show(Recipe.from_words(words), prepared(words), raced(prepared(words)))
    following(session, card)
    card.editing.value = True
    until(card, lambda: "Learned" in card.progress.object or "press Run" in card.progress.object, "what is learned")
    return explorer, card


def until(card: PointsCard, found: Callable[[], Any], what: str) -> None:
    wait_for(found, what, card.update)


def field(card: PointsCard) -> ColumnDataSource:
    """Return what is learned, as it is drawn."""
    return source_of(card.figure.plot, "drawn-field")


def change(card: PointsCard, x: float, y: float, label: str) -> None:
    """Add a point, as the page does."""
    data = card.figure.source.data
    card.figure.source.data = {"x": [*data["x"], x], "y": [*data["y"], y], "label": [*data["label"], label]}


def columns(count: int = 6, **other: Any) -> dict[str, Any]:
    labels = [CLASSES[k % 2] for k in range(count)]
    return {"x": np.linspace(-1, 1, count).tolist(), "y": [0.0] * count, "label": labels, **other}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (columns(x=[0.0]), "could not be understood"),
        (columns(x=["a"] * 6), "could not be understood"),
        (columns(x=[None] * 6), "could not be understood"),
        (columns(label=["upper", "nobody"] * 3), "could not be understood"),
        ({}, "Class upper needs at least 2 points"),
        (columns(x=[float("nan")] * 6), "too far away"),
        (columns(x=[1e300] * 6), "too far away"),
        (columns(MOST_POINTS + 1), "500 points at most"),
        (columns(3), "Class lower needs at least 2 points"),
    ],
)
def test_what_is_no_set_of_points_is_refused_in_a_sentence(sent: dict[str, Any], said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        read_points(sent, CLASSES)


def test_points_are_read_back_from_their_file_as_they_were_drawn() -> None:
    points = points_of(prepared())
    assert len(points) == 200
    assert read_points({"x": points.x, "y": points.y, "label": points.labels}, CLASSES) == points
    data = read_dataset_bytes(as_file(points, ("x1", "x2")), FILE)
    assert data.X.tolist() == [list(place) for place in zip(points.x, points.y, strict=True)]
    assert data.feature_names == ("x1", "x2")
    assert tuple(data.classes[int(y > 0)] for y in data.y) == points.labels
    low, high = points.window
    assert (low < data.X.min(axis=0)).all()
    assert (high > data.X.max(axis=0)).all()


@pytest.mark.full
def test_a_tap_does_what_was_chosen_before_it_even_where_the_page_has_not_heard_of_that_yet() -> None:
    _, card = opened()
    figure, before = card.figure, card.points
    card.adds.value = "lower"
    change(card, 0.1, 0.2, "upper")
    assert list(figure.source.data["label"]) == [*before.labels, "lower"]
    assert (figure.source.data["x"][-1], figure.source.data["y"][-1]) == (0.1, 0.2)
    card.adds.value = ""
    change(card, 0.3, 0.4, "lower")
    assert list(figure.source.data["label"]) == [*before.labels, "lower"]
    assert len(figure.source.data["x"]) == len(before) + 1
    until(card, lambda: len(card.points or ()) == len(before) + 1, "the point to be taken over")
    source_of(figure.plot, "drawn-taps").data = {"place": [200], "at": [1]}  # on the point that was added
    until(card, lambda: card.points == before, "the point to be removed")
    card.adds.value = "upper"
    source_of(figure.plot, "drawn-taps").data = {"place": [0], "at": [2]}  # selects it, and no more
    assert len(figure.source.data["x"]) == len(before)


@pytest.mark.parametrize(
    ("place", "x"),
    [
        *(([], []), ([200], [0.0]), ([-1], [0.0]), ([0.5], [0.0]), ([0], ["1"]), ([0], [float("nan")])),
        *(([0], [1e300]), ([0, 1], [0.0, 0.0])),
    ],
)
def test_a_drag_that_makes_no_sense_moves_no_point(place: list[float], x: list[Any]) -> None:
    points = points_of(prepared())
    assert points.moved({}) is points.moved({"place": place, "x": x, "y": [0.0] * len(x)}) is None


def test_the_point_that_is_dragged_moves_and_no_other() -> None:
    points = points_of(prepared())
    moved = points.moved({"place": [3], "x": [0.123456], "y": [-2]})
    before, after = ([*zip(each.x, each.y, each.labels, strict=True)] for each in (points, moved))
    assert after[3] == (0.1235, -2.0, points.labels[3])
    assert after[:3] + after[4:] == before[:3] + before[4:]


def test_the_field_is_the_decision_of_the_problem_on_all_points_on_the_side_of_its_class() -> None:
    recipe, points = Recipe.from_words(MOONS), points_of(prepared())
    content, fractions = as_file(points, ("x1", "x2")), []  # type: tuple[bytes, list[float]]
    field = learned(content, recipe, CLASSES, points.window, FINE, fractions.append)
    assert fractions == sorted(fractions)
    assert 0.3 < fractions[-1] <= 0.9
    data = read_dataset_bytes(content, FILE)
    problem = Problem(build_bank(recipe.kernels, data), data.y, recipe.problem.loss, recipe.problem.regularizer)
    best = solve(problem).best
    low, high = points.window
    corner = low + 0.5 / FINE.across * (high - low)
    f = float(problem.predictor(best.weights, best.dual).decision_values(corner[None])[0])
    assert data.classes == ("lower", "upper")  # of which the second is +1, and has the first colour here
    assert field.values[0, 0] == pytest.approx(-f)
    assert "Learned from all 200 points by" in field.sentence
    for x, y in field.boundary:
        assert len(x) == len(y) > 1
    assert field.margins


def test_of_three_classes_the_field_says_which_is_chosen() -> None:
    rng = np.random.default_rng(0)
    centres = {"c": (0.0, 4.0), "a": (-4.0, 0.0), "b": (4.0, 0.0)}
    labels = tuple(name for name in centres for _ in range(8))
    places = np.array([centres[name] for name in labels]) + 0.3 * rng.standard_normal((24, 2))
    points = Points(tuple(places[:, 0].tolist()), tuple(places[:, 1].tolist()), labels)
    recipe = Recipe.from_words("data=iris; kernels=gauss:2@all; loss=multiclass-hinge; C=10; solvers=spg")
    field = learned(as_file(points, ("u", "v")), recipe, tuple(centres), points.window, FINE, lambda _: None)
    low, high = points.window
    for number, centre in enumerate(centres.values()):
        column, row = ((np.array(centre) - low) / (high - low) * FINE.across).astype(int)
        assert field.values[row, column] == number
    assert field.boundary == field.margins == []


@pytest.mark.full
def test_a_point_that_is_added_becomes_a_data_set_and_changes_what_is_learned() -> None:
    explorer, card = opened()
    figure, sidebar = card.figure, explorer.sidebar
    before = field(card).data["image"][0].copy()
    assert sidebar.recipe.data.source == "two_moons"
    change(card, 0.0, -2.5, "upper")
    until(card, lambda: "all 201 points" in card.progress.object, "what 201 points say")
    assert not np.array_equal(field(card).data["image"][0], before)
    recipe = sidebar.recipe
    own = recipe.data.dataset
    kept = read_dataset_bytes(as_file(card.points, own.feature_names), "kept.csv")
    assert (own.title, own.n_samples) == ("Drawn points", 201)
    assert recipe.data.source == digest(own) == digest(kept)
    assert "Own data" in sidebar.data.choice.groups
    # a race on them keeps them, in the colours of its classes
    again = recipe.prepare()
    explorer.session.show(recipe, again, raced(again))
    assert card.editing.value
    card.update()
    assert card.figure is not figure
    assert len(card.points) == 201
    assert list(card.adds.options.values()) == ["lower", "upper", ""]
    assert card.task.working  # as its kernels may be others
    # and one on other data does not
    explorer.session.show(Recipe.from_words(MOONS), prepared(), raced(prepared()))
    assert not card.editing.value
    assert card.points is None


def shape(card: PointsCard) -> tuple[int, ...]:
    return field(card).data["image"][0].shape


@pytest.mark.full
def test_the_decision_follows_a_point_that_is_dragged_coarsely_and_finely_where_it_rests() -> None:
    explorer, card = opened()
    card.rest = 1e9
    figure, before = card.figure, card.points
    assert shape(card) == (FINE.across, FINE.across)
    images = [field(card).data["image"][0]]
    for count, y in enumerate((-1.0, -2.0), start=1):
        figure.dragged.asked.data = {"place": [0], "x": [0.0], "y": [y]}
        until(card, lambda count=count: figure.dragged.answered.data["count"] == [count], "the picture")  # type: ignore[misc]
        images.append(field(card).data["image"][0])
        assert shape(card) == (COARSE.across, COARSE.across)
        assert card.progress.object.startswith("Coarse: learned from all 200 points")
    assert not np.array_equal(images[1], images[2])
    assert explorer.sidebar.recipe.data.source == "two_moons"  # nothing is decided before it is let go
    assert card.points == before
    card.rest = 0.0
    until(card, lambda: shape(card) == (FINE.across, FINE.across), "the fine picture")
    assert list(card.weights.tables["bars"]["weight"])[-1] > 0.0
    figure.dragged.asked.data = {"place": [999], "x": [0.0], "y": [0.0]}
    assert figure.dragged.answered.data["count"] == [3]  # or the page would wait for ever


@pytest.mark.full
def test_what_cannot_be_used_is_taken_back_with_a_sentence() -> None:
    explorer, card = opened()
    card.figure.source.data = columns(3)
    card.update()
    assert "Class lower needs at least 2 points" in card.refusal.object
    assert card.figure.source.data["label"] == list(card.points.labels)
    explorer.sidebar.data.body.locked = True
    change(card, 0.0, 0.0, "upper")
    card.update()
    assert "The link locks the data" in card.refusal.object
    assert len(card.points) == 200
    assert explorer.sidebar.recipe.data.source == "two_moons"
    explorer.sidebar.data.body.locked = False
    change(card, 0.0, 0.0, "upper")
    card.update()
    assert card.refusal.object == ""
    control(card, "Start over").answer({"click": True})
    card.update()
    assert len(card.points) == 200


@pytest.mark.full
def test_learning_can_be_stopped_by_hand_and_does_not_begin_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    _, card = opened()

    def slow(*rest: Any) -> Any:
        wait_for(lambda: False, "somebody who stops it", lambda: rest[-1](0.5))

    monkeypatch.setattr(points_card, "learned", slow)
    change(card, 0.0, -2.5, "upper")
    until(card, lambda: card.task.working, "the work")
    card.task.cancel()
    until(card, lambda: not card.task.working, "its end")
    assert "Stopped by hand" in card.progress.object
    card.most_points = 100
    change(card, 0.1, -2.5, "upper")
    card.update()
    assert not card.task.working
    assert "press Run" in card.progress.object
    assert card.figure is not None
    assert field(card).data["image"] == []


def test_points_are_edited_in_the_plane_by_those_who_lead_and_up_to_a_bound() -> None:
    session = shown(raced(prepared()), Recipe.from_words(MOONS), prepared())
    assert PointsCard.refuses(session) == ""
    session.follows = True
    assert PointsCard.refuses(session) is None
    for words in (
        "data=sonar; kernels=gauss:2@all; solvers=spg",
        "data=friedman; loss=squared; kernels=gauss:2@all; solvers=spg",
    ):
        assert PointsCard.refuses(shown(raced(prepared()), Recipe.from_words(words), prepared(words))) is None
