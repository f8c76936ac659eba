"""A recipe with lists, as one value: data sets x splits x solvers x whatever else varies.

    Sweep.from_words("data=sonar,heart; split=0...19; solvers=silp,level,newton; C=1,10,100; gap=1e-3")

It is frozen and hashable, as a recipe is. With ``path=C`` each run begins at the solution at the value of C before, in
the order of the list. Lists in the words of a recipe say what is to be tried one after the other:

    data=sonar,heart; split=0...19; C=1,10,100; regularizer=simplex|lp-ball:p={1.5,2}; solvers=silp,level:lam={0.3,0.5}

A vertical bar separates whole values. Where a value of the key never has a comma, as with data, splits and numbers, a
comma does so as well, and a range such as 0...19 or 2^-3...2^6 stands for its numbers. Braces hold alternatives within
a value, as in a shell. Data are named, or files of one's own where the sweep is opened with them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from mklviz.datasets import DataError, Dataset
from mklviz.errors import MklvizError, ProblemError
from mklviz.quoting import one_line
from mklviz.recipe import Recipe
from mklviz.recipe.choices import TABLE_OPTIONS, digest
from mklviz.recipe.parsing import literal, numbers, pieces, quoted, show_number, tight, unquoted, written
from mklviz.recipe.recipe import own_data
from mklviz.recipe.saved import versioned
from mklviz.recipe.words import WORDS, read_solvers, read_table_option, split_words
from mklviz.sweeps.member import Member

MOST_MEMBERS = 100_000
VERSION = 1
SPLIT = "split"  # what a sweep calls the seed
PATH, ALONG = "path", "C"
KEYS = [*WORDS, SPLIT, PATH]

Lists = tuple[tuple[str, tuple[str, ...]], ...]
Own = tuple[tuple[str, Dataset], ...]


@dataclass(frozen=True)
class Sweep:
    """A recipe with lists.

    Parameters
    ----------
    recipe : Recipe
        What all members share; its solvers are tried one by one.
    lists : mapping
        What varies, by the keys of a recipe's words (the seed is also called split): a text such as ``"1,10,100"``,
        or a sequence of numbers and texts. A single value becomes part of the recipe. ``path="C"`` makes a path of the
        list of C: each run begins at the solution of the one before.
    own : mapping
        Data of one's own by what the words call them; see `own_files`. Sweeps compare by their digests.

    Raises
    ------
    MklvizError
        With a sentence for each list that cannot be used.

    Examples
    --------
    >>> sweep = Sweep.from_words("data=sonar,heart; split=0...19; solvers=silp,level; C=1,10,100")
    >>> len(sweep.members), sweep.to_words()
    (240, 'data=sonar,heart; split=0...19; C=1,10,100; solvers=silp level')
    """

    recipe: Recipe = field(default_factory=Recipe)
    lists: Mapping[str, Any] | Lists = ()
    own: Mapping[str, Dataset] | Own = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        own = dict(self.own)
        recipe, lists, wrong = _recipe_and_lists(self.recipe, dict(self.lists), own)
        if wrong:
            raise MklvizError(" ".join(wrong))
        mine, used = recipe.data.dataset, (recipe.data.source, *dict(lists).get("data", ()))
        if mine is not None and not own:
            own = {mine.source or digest(mine): mine}
        object.__setattr__(self, "own", tuple((name, data) for name, data in own.items() if digest(data) in used))
        object.__setattr__(self, "recipe", recipe)
        object.__setattr__(self, "lists", lists)
        count = len(self)
        if count > MOST_MEMBERS:
            raise MklvizError(f"A sweep has at most {MOST_MEMBERS:,} runs, but these lists make {count:,}.")

    def __len__(self) -> int:
        return prod(len(values) for _, values in self._lists) * len(self.recipe.solvers)

    @property
    def _lists(self) -> Lists:
        return self.lists  # type: ignore[return-value]  # pairs since it was made

    @property
    def _own(self) -> Own:
        return self.own  # type: ignore[return-value]  # as above

    @property
    def members(self) -> tuple[Member, ...]:
        """All runs: those on the same data, split and kernels stand together, and those of a path in its order.

        Raises `MklvizError` if values that were listed do not go together.
        """
        return _members(self, self._own)

    @property
    def key(self) -> str:
        """Digest of the keys of all members."""
        return hashlib.sha256("\n".join(sorted(member.key for member in self.members)).encode()).hexdigest()

    def to_words(self) -> str:
        """Return the sweep as words, see `from_words`."""
        first = self.recipe.on(next((data for _, data in self._own), None))  # how its table was read
        texts, _ = split_words(first.to_words())
        texts |= {key: join(key, values) for key, values in self._lists}
        for name, data in self._own:
            texts["data"] = texts["data"].replace(digest(data), quoted(name))
        if "seed" in dict(self._lists):
            texts[SPLIT] = texts.pop("seed")
        return "; ".join(f"{key}={texts[key]}" for key in sorted(texts, key=_place))

    @classmethod
    def from_words(
        cls, text: str, own: Mapping[str, Dataset] | Own = (), lists: Mapping[str, Any] | Lists = ()
    ) -> Sweep:
        """Return the sweep that words describe: those of a recipe, with lists as above, and others in their place.

        Raises
        ------
        MklvizError
            With a sentence for each part that cannot be read.
        """
        texts, wrong = split_words(text, KEYS, "A sweep")
        recipe, varied, faults = _recipe_and_lists(Recipe(), {**texts, **dict(lists)}, dict(own))
        if wrong or faults:
            raise MklvizError(" ".join(wrong + faults))
        return cls(recipe, varied, own)

    def to_json(self) -> str:
        """Return the sweep as JSON, with a version."""
        lists = {key: list(values) for key, values in self._lists}
        return json.dumps(
            {"version": VERSION, "recipe": json.loads(self.recipe.to_json()), "lists": lists}, ensure_ascii=False
        )

    @classmethod
    def from_json(cls, text: str) -> Sweep:
        """Return the sweep that `to_json` wrote.

        Raises
        ------
        MklvizError
            With a sentence, if the text is of another version or has a part that cannot be used.
        """
        parts = versioned(text, "sweep", VERSION, "recipe", "lists")
        if not isinstance(parts["lists"], dict):
            raise MklvizError(f"The lists of a sweep go by keys, but {parts['lists']!r:.80} was given.")
        return cls(Recipe.from_json(json.dumps(parts["recipe"])), parts["lists"])


def _place(key: str) -> int:
    return [*WORDS, PATH].index("seed" if key == SPLIT else key)


_OF_A_TABLE = {name.replace("_", "-"): name for name in TABLE_OPTIONS}


def own_files(lists: Mapping[str, Any]) -> dict[str, Dataset]:
    """Return the data of one's own that a list of data names by their files, or holds, read as other parts say."""
    options = {name: lists[key] for key, name in _OF_A_TABLE.items() if key in lists}
    read = {
        name: read_table_option(name, value) if isinstance(value, str) else value for name, value in options.items()
    }
    own: dict[str, Dataset] = {}
    for value in _listed("data", lists.get("data", ())):
        name = "" if isinstance(value, Dataset) else unquoted(str(value))
        data = value if isinstance(value, Dataset) else own_data(name, **read)
        if data is not None:
            name = name or data.source
            same = next((each for each in own if own[each] is not data and digest(own[each]) == digest(data)), None)
            if same is not None:
                raise MklvizError(f"{data.title} and {own[same].title} hold the same samples: list one of them.")
            own[name if name and name not in own else digest(data)] = data
    return own


def _recipe_and_lists(
    recipe: Recipe, lists: Mapping[str, Any], own: Mapping[str, Dataset]
) -> tuple[Recipe, Lists, list[str]]:
    """Return the recipe with all that does not vary, the lists of what does, and a sentence for each fault."""
    if own:  # whose tables have been read
        lists = {key: value for key, value in lists.items() if key not in _OF_A_TABLE}
    digests = {name: digest(data) for name, data in own.items()}
    by_digest = {digests[name]: data for name, data in own.items()}
    wrong = [f"A sweep has no list “{key!s:.80}”." for key in lists if key not in KEYS]
    if "seed" in lists and SPLIT in lists:
        wrong.append("split is another word for seed: give one of them.")
    known = {"seed" if key == SPLIT else key: value for key, value in lists.items() if key in KEYS}
    differing: dict[str, tuple[str, ...]] = {}
    for key in sorted(known, key=_place):
        try:
            values = _texts(key, known[key])
            if key == "data":
                values = tuple(digests.get(unquoted(value), value) for value in values)
            if key == "solvers":
                recipe = replace(recipe, solvers=tuple(choice for value in values for choice in read_solvers(value)))
            elif key == PATH:
                if values != (ALONG,) or ALONG not in differing:
                    raise MklvizError("a path goes along several values of C, as in C=100,10,1; path=C.")
                differing[key] = values
            elif len(values) == 1:
                recipe = WORDS[key].read(recipe, values[0]).on(by_digest.get(values[0]) if key == "data" else None)
            else:
                differing[key] = tuple(dict.fromkeys(_canonical(recipe, key, value) for value in values))
        except (MklvizError, DataError) as error:
            wrong.append(one_line(f"{SPLIT if key == 'seed' else key}: {error}"))
    return recipe, tuple(differing.items()), wrong


def _texts(key: str, value: Any) -> tuple[str, ...]:
    """Return the values of a list as the words of a recipe."""
    return tuple(
        each if isinstance(each, str) else digest(each) if isinstance(each, Dataset) else written(each)
        for each in _listed(key, value)
    )


def _listed(key: str, value: Any) -> Sequence[Any]:
    """Return the values that a text or a sequence lists."""
    if isinstance(value, str):
        return alternatives(key, value)
    return [*value] if isinstance(value, Sequence | range) and value else [value]


def _canonical(recipe: Recipe, key: str, value: str) -> str:
    """Return a value as the recipe writes it, which refuses what cannot be read."""
    if key == "C":  # stands with the loss
        return written(WORDS[key].read(recipe, value).problem.loss.C)
    return WORDS[key].write(WORDS[key].read(recipe, value))


@lru_cache(maxsize=16)
def _members(sweep: Sweep, own: Own) -> tuple[Member, ...]:
    data = {digest(each): each for _, each in own}
    lists = dict(sweep._lists)
    path = lists[ALONG] if lists.pop(PATH, ()) else ()
    keys = [*lists]
    varied = [key for key in keys if not (path and key == ALONG)]
    first = [key for key in varied if key in _BUILT]  # the same kernels next to one another
    ordered = first + [key for key in varied if key not in first]
    members = []
    for values in product(*(lists[key] for key in ordered)):
        chosen = dict(zip(ordered, values, strict=True))
        steps = []
        for texts in [{**chosen, ALONG: value} for value in path] or [chosen]:
            settings = {key: _setting(texts[key]) for key in keys if key not in ("data", "seed")}
            steps.append((_varied(sweep.recipe, texts, data), settings))
        members += [  # a path from its one end to the other, and then the next solver
            Member(replace(recipe, solvers=(solver,)), settings, path[:k])
            for solver in sweep.recipe.solvers
            for k, (recipe, settings) in enumerate(steps)
        ]
    return tuple({member.key: member for member in members}.values())


def _varied(recipe: Recipe, texts: Mapping[str, str], own: Mapping[str, Dataset]) -> Recipe:
    for key in sorted(texts, key=_place):
        recipe = WORDS[key].read(recipe, texts[key]).on(own.get(texts[key]) if key == "data" else None)
    return recipe


_BUILT = [*WORDS][: [*WORDS].index("loss")]  # what kernels depend on


def _setting(text: str) -> float | str:
    """Return a number as such, and all else as text."""
    value = literal(text) if len(pieces(text, " ")) == 1 else text
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else text


SEPARATED = ("kernels", "degrees", "loss", "regularizer")  # whose values may have commas: only a bar separates them
_RANGE = re.compile(r"[^\"]*(?:…|\.\.)[^\"]*")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"")
_BRACES = re.compile(r"\"(?:\\.|[^\"\\])*\"|\{([^{}]*)\}")


def alternatives(key: str, text: str) -> tuple[str, ...]:
    """Return the values that a text lists for a key of a recipe, each as the recipe's own words have it."""
    if key == "solvers":
        listed = _entries(text)
    elif key == "data":  # names and files, which may have blanks and points
        listed = pieces(text, "|,", braces=True)
    elif key in SEPARATED:
        listed = pieces(text, "|", braces=True)
    else:
        listed = [value for part in pieces(tight(text), "|,", braces=True) for value in _spanned(part, key)]
    values = [value.strip() for part in listed for value in _opened(part, key)]
    if not all(values) or not values:
        raise ProblemError(f"A value of {key} is missing in “{text.strip():.80}”.")
    return tuple(dict.fromkeys(values))


def join(key: str, values: tuple[str, ...]) -> str:
    """Return the text in which `alternatives` finds these values."""
    mark = " | " if key in SEPARATED or any(len(pieces(value, ",")) > 1 for value in values) else ","
    whole = [int(value) for value in values if value.isdecimal() and len(value) < 10]
    if len(whole) == len(values) > 2 and whole == [*range(whole[0], whole[-1] + 1)]:
        return f"{whole[0]}...{whole[-1]}"
    return mark.join(values)


def _entries(text: str) -> list[str]:
    """Return the solvers of a list, each with its options."""
    entries: list[str] = []
    for token in filter(None, pieces(tight(text), " ,|\t\n", braces=True)):
        option = len(pieces(token, "=", braces=True)) > 1 and len(pieces(token, ":", braces=True)) == 1
        if option and entries:
            entries[-1] += f",{token}"
        else:
            entries.append(token)
    return entries


def _spanned(text: str, key: str) -> list[str]:
    """Return the numbers of a range, or else the text itself."""
    return [show_number(value) for value in numbers(text, key)] if _RANGE.fullmatch(text) else [text]


def _opened(text: str, key: str) -> list[str]:
    """Return the texts that come of one with alternatives in braces."""
    parts: list[list[str]] = []
    end = 0
    for brace in _BRACES.finditer(text):
        if brace[1] is None:  # in quotes
            continue
        parts += [[text[end : brace.start()]], [one for part in pieces(brace[1], ",") for one in _spanned(part, key)]]
        end = brace.end()
    rest = text[end:]
    if any(sign in _QUOTED.sub("", rest) for sign in "{}"):
        raise ProblemError(f"The braces of {key} do not match in “{text:.80}”.")
    return ["".join(chosen) for chosen in product(*parts, [rest])]
