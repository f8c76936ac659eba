"""The glossary: one sentence for each term, plain data, and in its place on the headings that use the term."""

import ast
from pathlib import Path

import pytest
from _shown import words

import mklviz.glossary
from mklviz.glossary import GLOSSARY
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.geometry.map_card import MapCard
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import help_mark
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.race_view import RaceView


def test_the_glossary_is_data_in_alphabetical_order_that_needs_nothing_and_explains_each_term_in_a_sentence() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.casefold)
    for term, said in GLOSSARY.items():
        assert said.endswith("."), term
        assert ". " not in said, term
        assert said[0].isupper(), term
        assert len(said) < 180, term
    tree = ast.parse(Path(mklviz.glossary.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


def test_a_heading_explains_its_term_and_one_without_does_not() -> None:
    said = cards.title("Duality gap", term="duality gap")
    assert f'aria-label="Duality gap: {GLOSSARY["duality gap"]}"' in said
    assert said.startswith('<div class="title"><h3>Duality gap<span class="help"')
    assert "help" not in cards.title("Anything")
    with pytest.raises(KeyError):
        cards.title("Nothing", term="nothing")


def explained(page: RacePage) -> set[str]:
    """Return the terms that the headings of a page explain."""
    return {term for term in GLOSSARY for pane in page.root.select() if _explains(getattr(pane, "object", ""), term)}


def _explains(text: object, term: str) -> bool:
    return isinstance(text, str) and help_mark(term) in text


def test_every_heading_of_a_chart_is_explained_in_its_place() -> None:
    page = RaceView().page
    terms = {"objective", "duality gap", "step size", "kernel weight", "kernel in use", "SVM tolerance"}
    assert terms <= explained(page)
    page.write_titles(ChartOptions(LIGHT, no_bound="There is no gap."))
    assert "projected gradient" in explained(page)
    card = MapCard()
    card._build(card.theme)
    assert _explains(words(card), "kernel weight")
