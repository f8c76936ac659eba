"""A recipe in the page's address, ``?recipe=data%3Dsonar%3B+C%3D10``: opening it sets every control.

What cannot be read, or has no control, is said in a sentence; the rest is used.
"""

from __future__ import annotations

from urllib.parse import quote_plus

import panel as pn

from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS, read_words
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["link", "open_address", "open_words"]

KEY = "recipe"
MOST = 20_000  # letters that are read


def link(recipe: Recipe) -> str:
    """Return the end of an address that opens this recipe."""
    return f"?{KEY}={quote_plus(recipe.to_words())}"


def open_address(sidebar: Sidebar) -> str:
    """Set the controls to the recipe in the address of the page, where there is one; return what is wrong with it."""
    given = (pn.state.session_args or {}).get(KEY, [])
    return open_words(sidebar, given[-1].decode("utf-8", "replace")) if given else ""


def open_words(sidebar: Sidebar, text: str) -> str:
    """Set the controls to a recipe in words; return a sentence for each part that cannot be used, or ""."""
    recipe, wrong = read_words(text[:MOST])
    sentences = list(wrong)
    if recipe.data.own and sidebar.own_digest != recipe.data.source:
        sentences.append("The link is for a file of somebody's own: open it under Data, and its recipe once more.")
        recipe = recipe.changed(data=sidebar.recipe().data)
    sidebar.load(recipe)
    return " ".join([*sentences, *_not_shown(sidebar, recipe)])


def _not_shown(sidebar: Sidebar, wanted: Recipe) -> list[str]:
    """Return a sentence for each part that the controls did not take."""
    try:
        shown = sidebar.recipe()
    except MklvizError:
        return []  # the controls say so themselves
    return [
        f"“{key}={word.write(wanted)}” cannot be used here."
        for key, word in WORDS.items()
        if word.write(shown) != word.write(wanted)
    ]
