"""One run of a sweep, and the key by which a store knows whether it has been done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS

__all__ = ["RESULT_VERSION", "Member", "key_of"]

RESULT_VERSION = 2  # raised when the numbers of a run change, so that what was stored before is computed again


@dataclass(frozen=True)
class Member:
    """One solver on one data set and split, with one choice of everything that a sweep varies.

    Attributes
    ----------
    recipe : Recipe
        With this solver alone.
    settings : mapping
        What varies beside data, split and solver, by the keys of a recipe's words: a number, or a text.
    earlier : tuple of str
        On a path the values of C before its own: it begins at the solution at the last of them.
    key : str
        SHA-256 digest of the recipe, its solver with options, its seed, what is earlier, and `RESULT_VERSION`.
    """

    recipe: Recipe
    settings: Mapping[str, float | str] = field(default_factory=dict, compare=False)
    earlier: tuple[str, ...] = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", key_of(self.recipe, self.earlier))

    @property
    def before(self) -> Member | None:
        """The member whose solution it begins at; None where it begins by itself."""
        if not self.earlier:
            return None
        *earlier, last = self.earlier
        return Member(WORDS["C"].read(self.recipe, last), earlier=tuple(earlier))

    @property
    def first(self) -> Recipe:
        """Its recipe at the first value of its path: in fits of that problem the time of the whole path is told."""
        return WORDS["C"].read(self.recipe, self.earlier[0]) if self.earlier else self.recipe

    @property
    def path(self) -> str:
        """A key that the members of one path share: that of the first, which is its own where it is on none."""
        return key_of(self.first) if self.earlier else self.key

    @property
    def data(self) -> str:
        """Name of the data set, or the title of a user's own."""
        own = self.recipe.data.dataset
        return self.recipe.data.source if own is None else own.title

    @property
    def split(self) -> int:
        """Seed of the split, and of the solver."""
        return self.recipe.split.seed

    @property
    def solver(self) -> str:
        """The solver with its options, as words."""
        return WORDS["solvers"].write(self.recipe)

    @property
    def race(self) -> str:
        """A key that the members on the same problem share, which makes a race of them."""
        return f"sweep-{key_of(replace(self.recipe, solvers=()), self.earlier)[:16]}"


def key_of(recipe: Recipe, earlier: tuple[str, ...] = ()) -> str:
    """Return the digest of a recipe, of what is earlier on its path, and `RESULT_VERSION`."""
    parts = {"result": RESULT_VERSION, "recipe": json.loads(recipe.to_json())}
    parts |= {"earlier": earlier} if earlier else {}  # without a path the key is that of older versions
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
