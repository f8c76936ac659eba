"""The Model tab without a browser: it shows what the step shown has learned, and computes beside the page."""

import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from _problems import ran
from _shown import notes, words
from _ticks import following, shown, until
from _waits import wait_for

from mklviz.analysis.kernel_weights import Alignments
from mklviz.engine import MaxIter, Race
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import race_styles
from mklviz.views.model import model_card, model_sections
from mklviz.views.model.model_card import ACROSS, ModelCard, Subject, adopt
from mklviz.views.session.session import Session
from mklviz.views.tabs.model import Model

MOONS = "data=two_moons; kernels=gauss:1,2@all poly:1@each; C=10; solvers=level"


@cache
def prepared(words: str = MOONS) -> Prepared:
    return Recipe.from_words(words).prepare()


def raced(words: str = MOONS, solvers: tuple[str, ...] = ("level", "spg"), steps: int = 5) -> Race:
    return ran(Race(prepared(words).problem, solvers, rules=(MaxIter(steps),)))


def opened(words: str = MOONS, race: Race | None = None, posed: Prepared | None = None) -> tuple[Session, Model]:
    session = shown(race or raced(words), Recipe.from_words(words), posed or prepared(words))
    return session, following(session, Model())


def card(tab: Model, title: str) -> ModelCard:
    return next(card for card in tab.cards if card.section.title == title)


def settled(tab: Model) -> bool:
    """Whether every section that shows something shows what it should."""
    found = tab._subject()
    shown = [card.task for card in tab.cards if card.root.visible]
    return found is not None and bool(shown) and all(not task.working and task.key == found[0] for task in shown)


def subject(words: str, step: int | None = None) -> Subject:
    race = raced(words, ("spg",))
    trace, style = race.traces["spg"], race_styles(race, LIGHT)["spg"]
    return Subject(prepared(words), trace.best if step is None else trace[step], "SPG", style, LIGHT)


def nobody(fraction: float) -> None:
    assert 0.0 <= fraction <= 1.0


@pytest.mark.full
def test_every_section_shows_the_solution_and_then_the_step_of_the_cursor() -> None:
    session, tab = opened()
    until(tab, lambda: settled(tab), "every section")
    assert [len(card.figures) for card in tab.cards] == [2, 3, 2, 4, 1]
    assert {card.task.fault for card in tab.cards} == {""}
    trace = session.traces["level"]
    assert f"found at step {trace.best_index} of {len(trace) - 1}" in tab.label.object

    def first_weight() -> float:
        bars = card(tab, "Kernel weights").figures[0].renderers[0].data_source.data
        return float(max(bars["weight_of_kernel"]))

    assert first_weight() == pytest.approx(trace.best.weights.max())
    session.cursor = 0
    until(tab, lambda: settled(tab), "the first step")
    assert first_weight() == pytest.approx(0.25)
    assert "Level at step 0" in tab.label.object
    assert {part.task.key[2] for part in tab.cards if part.root.visible} == {tab.bar.step} == {tab.bar.slider.value}
    session.cursor = None
    tab.run.value = "spg"
    until(tab, lambda: settled(tab), "the other run")
    assert first_weight() == pytest.approx(session.traces["spg"].best.weights.max())


@pytest.mark.full
def test_the_decision_surface_follows_a_cursor_that_moves_coarsely_and_finely_where_it_rests() -> None:
    session, tab = opened()
    until(tab, lambda: settled(tab), "every section")
    surface = card(tab, "Decision surface")
    figures = surface.figures
    image, boundary = (plot_of.renderers[k].data_source for plot_of, k in ((figures[0], 0), (figures[0], 1)))
    assert image.data["image"][0].shape == (80, 80)
    tab.rest = 1e9

    def drawn() -> list[list[float]]:
        return [np.asarray(x).tolist() for x in boundary.data["xs"]]

    lines = [drawn()]
    for step in (1, 2):
        session.cursor = step
        until(tab, lambda: drawn() not in lines, "another boundary")
        lines.append(drawn())
        assert image.data["image"][0].shape == (ACROSS, ACROSS)
        assert "Coarse while the step changes" in words(surface)
    assert not surface.task.working
    tab.rest = 0.0
    until(tab, lambda: settled(tab), "every section at the step")
    assert surface.figures is figures
    assert image.data["image"][0].shape == (80, 80)
    assert "support vectors" in words(surface)


def test_a_tab_that_is_not_seen_computes_nothing_and_where_data_are_in_the_plane_their_surface_comes_first() -> None:
    session, tab = opened()
    parts = (card(tab, "Decision surface"), tab.points, card(tab, "Kernel weights"))
    places = [tab.root.objects.index(part.root) for part in parts]
    assert places == sorted(places)
    tab.shown = False
    tab.tick(time.monotonic())
    assert not any(card.task.working for card in tab.cards)
    assert "Press Run first" in Model.supports(Session())
    assert Model.supports(session) == ""
    session.clear()
    assert tab._subject() is None
    assert not any(card.root.visible for card in tab.cards)


def test_who_computes_can_be_stopped_and_says_so() -> None:
    _, tab = opened()
    with model_card.ONE_SECTION:
        until(tab, lambda: any(card.task.working for card in tab.cards), "a section that waits for its turn")
        waiting = next(card for card in tab.cards if card.task.working)
        waiting.task.cancel()
        until(tab, lambda: not waiting.task.working, "its end")
    assert waiting.task.fault == "Stopped by hand."
    assert waiting.figures == ()


@pytest.mark.full
def test_a_section_that_breaks_down_leaves_the_others_alone() -> None:
    blank: Any = SimpleNamespace(y=prepared().test.y, classes=("a", "b"))  # without points to be judged
    _, tab = opened(posed=replace(prepared(), test=blank))
    until(tab, lambda: settled(tab), "every section")
    assert "could not be computed" in card(tab, "On held-out samples").task.fault
    assert len(card(tab, "Gram matrices").figures) == 4


@pytest.mark.full
def test_while_the_race_goes_on_what_takes_longest_says_that_it_waits() -> None:
    race = Race(prepared().problem, ("level",), rules=(MaxIter(10_000),), pace=0.2)  # 53 steps: it outlasts all waiting
    _, tab = opened(race=race)  # before its first step, as where the tab is open when a race begins
    race.start()
    until(tab, lambda: len(card(tab, "Kernel weights").figures) == 3, "the weights so far")
    assert "so far" in tab.label.object
    until(tab, lambda: "when the race rests" in " ".join(notes(card(tab, "Gram matrices"))), "the reason")
    assert card(tab, "Gram matrices").figures == ()
    race.cancel()
    race.wait()
    until(tab, lambda: settled(tab), "every section")
    assert len(card(tab, "Gram matrices").figures) > 1


@pytest.mark.full
def test_a_solution_without_kernels_still_has_something_to_show() -> None:
    asked = subject(MOONS)
    it = asked.iterate
    empty = replace(asked, iterate=replace(it, weights=0.0 * it.weights, dual=0.0 * it.dual))
    sections = (model_sections.weights, model_sections.decisions, model_sections.judged, model_sections.grams)
    assert [len(draw(empty, nobody).figures) for draw in sections] == [3, 2, 2, 1]
    assert "No kernel has weight" in model_sections.similarities(empty, nobody).words


@pytest.mark.full
def test_the_page_loads_no_pictures_before_somebody_looks() -> None:
    code = "import sys, mklviz.views.explorer.explorer as e; e.Shell; print('holoviews' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@pytest.mark.full
def test_what_is_said_of_held_out_samples_is_their_score() -> None:
    asked = subject(MOONS)
    shown = model_sections.judged(asked, nobody)
    right = asked.prepared.score(asked.iterate)
    assert shown.words.startswith(f"{100 * right:.1f} % of 100 held-out samples")
    numbers = subject("data=friedman; kernels=gauss:2@all poly:1; loss=squared; C=1; solvers=spg")
    told = model_sections.judged(numbers, nobody)
    assert told.words.startswith(f"R² is {numbers.prepared.score(numbers.iterate):.3f}")
    assert len(told.figures) == 1
    many = subject("data=iris; kernels=gauss:2@all poly:1; loss=multiclass-hinge; C=1; solvers=spg")
    assert len(model_sections.judged(many, nobody).figures) == 1  # no ROC of three classes


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        "data=sonar; combination=product; C=10; regularizer=l1-penalty:sigma=1; solvers=spg",
        "data=sonar; combination=polynomial; C=10; regularizer=l1-penalty:sigma=1; solvers=spg",
        "data=heart; kernels=gauss:1,2@all; nystrom=20; C=1; solvers=spg",
    ],
)
def test_products_polynomials_and_landmarks_have_weights_and_a_gram_matrix(words: str) -> None:
    asked = subject(words)
    assert model_sections.weights(asked, nobody).figures
    assert model_sections.grams(asked, nobody).figures
    assert model_sections.judged(asked, nobody).figures
    session = shown(raced(words, ("spg",)), Recipe.from_words(words), asked.prepared)
    reasons = {section.title: section.refuses(session) for section in (card.section for card in Model().cards)}
    assert reasons["Decision surface"] is None  # more than two features
    assert (reasons["Kernel similarity"] is None) == (asked.prepared.problem.bank.kind != "sum")


def test_twins_are_told_by_what_became_of_them_and_figures_of_other_shapes_are_not_adopted() -> None:
    values = np.array([[1.0, 0.99, 0.2], [0.99, 1.0, 0.1], [0.2, 0.1, 1.0]])
    found = Alignments(np.array([2, 0, 1]), ("two", "zero", "one"), values)

    def told(*weights: float, sparse: bool = True) -> str:
        return model_sections.twins_text(found, np.array(weights), sparse)

    assert "two and zero are near twins (alignment 0.990)" in told(0.0, 0.4, 0.6)
    assert "gives all to two" in told(0.0, 0.4, 0.6)
    assert "l₁" not in told(0.0, 0.4, 0.6, sparse=False)
    assert "share the weight" in told(0.3, 0.1, 0.6)
    assert "No kernel in use has a near twin" in told(0.0, 1.0, 0.0)
    first, again = (model_sections.weights(subject(MOONS, step), nobody).figures for step in (0, 0))
    assert all(adopt(one, other) for one, other in zip(first, again, strict=True))
    assert not adopt(first[0], first[1])


def test_a_table_comes_back_with_what_the_solution_shown_predicts_for_its_rows() -> None:
    session, tab = opened()
    handed: list[tuple[str, bytes]] = []
    tab.table.form.hand_over = lambda *file: handed.append(file)
    train = session.prepared.train
    assert ".arff" in tab.table.file.accept.split(",")  # as for data of one's own
    lines = [",".join(train.feature_names), *(f"{a},{b}" for a, b in Recipe.from_words(MOONS).load().X[:5])]

    def choose(content: str) -> str:
        tab.table.file.param.update(filename="mine.csv", size=len(content))
        tab.table.file.value = content.encode()
        tab.table.file.value = None
        wait_for(lambda: tab.table.task.ended, "an answer", lambda: None)
        tab.table.look()
        return str(tab.table.status.object)

    assert "5 rows." in choose("\n".join(lines))
    [(name, content)] = handed
    assert name == "mine predicted.csv"
    back = content.decode().splitlines()
    assert [line.rsplit(",", 1)[0] for line in back] == lines
    assert back[0].endswith(",predicted target")
    assert {line.rsplit(",", 1)[1] for line in back[1:]} <= set(train.classes)
    assert "needs the column" in choose("a,b\n1,2\n")
    assert len(handed) == 1
