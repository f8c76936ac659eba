"""One grammar for the words people write recipes in, on the command line, in links and in text fields.

    data=sonar; train=70 %; kernels=gauss:2^-3...2^6@all+each poly:1...3@each; loss=hinge:C=10; solvers=silp,level

KEY=VALUE parts stand in any order, with semicolons between them; a key left out keeps its default. Kernels are
FAMILY[:VALUES][,OPTION=VALUE...][@WHERE], losses and regularizers NAME[:OPTION=VALUE,...], and so are solvers. Numbers
and lists of numbers are those of `mklviz.recipe.parsing`. A name with other signs than letters, digits and ``._-+`` is
written in double quotes, as in JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from mklviz.datasets import DataError, describe_dataset
from mklviz.errors import MklvizError, ProblemError, UnknownName
from mklviz.kernels import KernelFamily, Nystrom, kernel_families, paper_families
from mklviz.limits import LIMITS
from mklviz.problem import L1Penalty, Loss, Regularizer, Simplex, loss_families, regularizer_families
from mklviz.quoting import hint, one_line
from mklviz.recipe.choices import OWN, TABLE_OPTIONS, RecipeParts, SolverChoice
from mklviz.recipe.parsing import (
    fraction,
    literal,
    number,
    numbers,
    pieces,
    quoted,
    registered,
    show_number,
    switch,
    tight,
    unquoted,
    whole,
    write_values,
    written,
)

WHERE = ("all", "each", "all+each", "views")
MOST_DIGITS = 10  # of a column's number
DEFAULT_SOLVERS = {"sum": "silp level spg", "product": "spg pgd", "polynomial": "spg pgd"}
_OTHERS = {
    "product": "a product has one Gaussian kernel per feature and learns its width",
    "polynomial": "a polynomial learns a weight for each feature",
}


R = TypeVar("R", bound=RecipeParts)


class Word(NamedTuple):
    """One key: how its value is read into a recipe, and what is written for a recipe."""

    read: Callable[[Any, str], Any]
    write: Callable[[RecipeParts], str]


# -- kernels


def read_kernels(text: str) -> tuple[KernelFamily, ...]:
    """Return the kernel families that a text such as ``gauss:0.5,1,2@all+each poly:1...3@each`` describes."""
    if text.strip() == "paper":
        return tuple(paper_families())
    words = list(filter(None, pieces(tight(text), " \t\n")))
    if not words:
        raise ProblemError(
            "No kernels are given, the text is empty: write “paper”, or families, as in gauss:0.5,1,2 poly:1...3."
        )
    return tuple(_read_family(word) for word in words)


def _read_family(word: str) -> KernelFamily:
    head, *where = pieces(word, "@")
    name, *arguments = pieces(head, ":")
    families = kernel_families()
    matches = [family for key, family in families.items() if name and key.startswith(name)]
    if len(matches) != 1:
        raise UnknownName(f"There is no kernel family {name!r:.80}; {hint(name, families)}")
    family, listed = matches[0], []
    options: dict[str, Any] = {}
    for part in filter(None, pieces(":".join(arguments), ",")):
        if len(pieces(part, "=")) > 1:
            options.update(_option(part, f"kernel family {family.name_}", family, ("on", family.parameter)))
        else:
            listed.append(part)
    if listed:
        if not family.parameter:
            raise ProblemError(f"{family.label} kernels take no values, but {word!r:.80} gives {','.join(listed):.80}.")
        options[family.parameter] = numbers(",".join(listed), f"{family.label} {family.parameter}")
    if where:
        options["on"] = _read_where("@".join(where))
    return family(**options)


def _read_where(text: str) -> str | tuple[int | str, ...]:
    if text in WHERE or text.startswith("random:"):
        return text
    columns: list[int | str] = []
    for part in pieces(text, ","):
        ends = part.split("...")
        if all(end.isdecimal() and len(end) < MOST_DIGITS for end in ends) and len(ends) <= 2:
            first, last = int(ends[0]), int(ends[-1])
            if not first <= last < first + LIMITS.columns:
                raise ProblemError(f"“{part:.80}” is no range of columns: write the first and the last, as 0...7.")
            columns += range(first, last + 1)
        else:
            columns.append(unquoted(part))
    return tuple(columns)


def _write_where(on: Sequence[int | str]) -> Iterator[str]:
    """Write columns, three or more in a row as a range."""
    k = 0
    while k < len(on):
        first, length = on[k], 1
        while not isinstance(first, str) and k + length < len(on) and on[k + length] == first + length:
            length += 1
        if isinstance(first, str) or length < 3:
            yield quoted(first, WHERE) if isinstance(first, str) else str(int(first))
            length = 1
        else:
            yield f"{int(first)}...{int(first) + length - 1}"
        k += length


def _write_kernels(recipe: RecipeParts) -> str:
    families = recipe.kernels.families
    return "paper" if families == tuple(paper_families()) else " ".join(map(_write_family, families))


def _write_family(family: KernelFamily) -> str:
    registered(family, kernel_families(), "kernel family")
    values = [write_values(family.values())] if family.parameter else []
    values += _write_options(family, ("on", family.parameter))
    arguments = f":{','.join(values)}" if values else ""
    on = family.on
    if not isinstance(on, str):
        on = ",".join(_write_where(on))
    return f"{family.name_}{arguments}@{on}"


# -- losses and regularizers


def read_loss(text: str, **usual: float) -> Loss:
    """Return the loss that ``hinge`` or ``epsilon-insensitive:epsilon=0.2,C=10`` describes; `usual`: unless it says."""
    family, options = _read_named(text, "loss", loss_families())
    loss: Loss = family(**{**usual, **options})
    return loss


def read_regularizer(text: str) -> Regularizer:
    """Return the regularizer that a text such as ``simplex`` or ``lp-penalty:p=1.5,sigma=2`` describes."""
    family, options = _read_named(text, "regularizer", regularizer_families())
    regularizer: Regularizer = family(**options)
    return regularizer


def _read_named(text: str, what: str, families: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    name, *options = pieces(tight(text.strip()), ":")
    if name not in families:
        raise UnknownName(f"There is no {what} {name!r:.80}; {hint(name, families)}")
    values: dict[str, Any] = {}
    for part in filter(None, pieces(":".join(options), ",")):
        values.update(_option(part, f"{what} {name}", families[name]))
    return families[name], values


def _option(part: str, what: str, family: type, besides: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read OPTION=VALUE for a dataclass, by the kind of the default."""
    key, *values = (piece.strip() for piece in pieces(part, "="))
    defaults = {name: default for name, default in _parameters(family) if name not in besides}
    if key not in defaults:
        known = list(defaults)
        takes = f"it takes {', '.join(known)}, as in {known[0]}=1" if known else "it takes none"
        raise ProblemError(f"The {what} has no option {key!r:.80}; {takes}.")
    text, default = "=".join(values), defaults[key]
    if isinstance(default, bool):
        return {key: switch(text, f"{key} of the {what}")}
    if default is None and text.lower() == "none":
        return {key: None}
    return {key: number(text, f"{key} of the {what}")}


def _parameters(family: Any) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(family):
        if field.init:
            yield field.name, field.default


def _write_options(thing: Any, besides: tuple[str, ...] = ()) -> list[str]:
    """Write the parameters of a dataclass that differ from its defaults."""
    return [
        f"{name}={written(getattr(thing, name))}"
        for name, default in _parameters(thing)
        if name not in besides and getattr(thing, name) != default
    ]


def _write_named(thing: Any, what: str, families: Mapping[str, Any], first: tuple[str, ...] = ()) -> str:
    registered(thing, families, what)
    options = [f"{name}={written(getattr(thing, name))}" for name in first] + _write_options(thing, first)
    return thing.name_ + (f":{','.join(options)}" if options else "")


# -- solvers


def read_solvers(text: str) -> tuple[SolverChoice, ...]:
    """Return the solvers of a list ``silp,level`` or ``silp pgd:spectral=true,nonmonotone=true``."""
    entries: list[tuple[str, dict[str, Any]]] = []
    for token in filter(None, pieces(tight(text), " ,\t\n")):
        name, *option = pieces(token, ":")
        key, *value = pieces(":".join(option) if option else token, "=")
        if option or not value:
            entries.append((name, {}))
        if value and not entries:
            raise ProblemError(
                f"“{token:.80}” is an option before any solver: write NAME:OPTION=VALUE, as level:lam=0.5."
            )
        if value:
            entries[-1][1][key] = literal("=".join(value))
        elif option:
            raise ProblemError(f"“{token:.80}” is not of the form NAME:OPTION=VALUE, as level:lam=0.5.")
    if not entries:
        raise ProblemError("No solver is chosen: give one or more names, such as silp,level (see: mklviz solvers).")
    chosen = tuple(SolverChoice(name, options) for name, options in entries)
    for choice in chosen:
        choice.make()  # raises a sentence for an unknown name or option
    return chosen


def _write_solver(choice: SolverChoice) -> str:
    options = ",".join(f"{name}={written(value)}" for name, value in dict(choice.options).items())
    return f"{choice.name}:{options}" if options else choice.name


# -- the rest


def _read_data(recipe: R, text: str) -> R:
    source = unquoted(text.strip())
    if not source.startswith(OWN):
        describe_dataset(source)  # raises for an unknown name
    return recipe.changed(source=source)


def _of_a_table(name: str) -> tuple[str, Word]:
    key = name.replace("_", "-")

    def read(recipe: R, text: str) -> R:
        if not recipe.data.own:
            raise ProblemError(f"{key} says how the table in a file is read, and the data are {recipe.data.source}.")
        return recipe.changed(**{name: read_table_option(name, text)})

    def write(recipe: RecipeParts) -> str:
        value = getattr(recipe.data, name)
        return ",".join(map(written, value)) or "none" if isinstance(value, tuple) else written(value)

    return key, Word(read, write)


def read_table_option(name: str, text: str) -> Any:
    """Return how a table is read, from the words of a recipe or the command line; "none" leaves it to the table."""
    parts = [part.strip() for part in pieces(text, ",")]
    nothing = text.strip().lower() == "none"
    if name in ("leave_out", "na"):
        return () if nothing else tuple(map(unquoted, filter(None, parts)))
    if name != "header":
        return text if name in ("sep", "thousands") and len(text) == 1 else _read_name(text)
    if nothing or not all(part.isdecimal() for part in parts):
        return None if nothing else switch(text, "header")
    return int(parts[0]) if len(parts) == 1 else tuple(map(int, parts))


def _read_combination(recipe: R, text: str) -> R:
    """Change the combination of the kernels, and take solvers and a regularizer that suit it."""
    combination = text.strip()
    if combination == recipe.kernels.combination:
        return recipe
    plain = recipe.changed(combination=combination)
    regularizer = Simplex() if combination == "sum" else L1Penalty()
    return plain.changed(solvers=read_solvers(DEFAULT_SOLVERS[combination]), regularizer=regularizer)


def _read_kernels(recipe: R, text: str) -> R:
    if recipe.kernels.combination != "sum":
        raise ProblemError(f"Kernel families are for a sum of kernels: {_OTHERS[recipe.kernels.combination]}.")
    return recipe.changed(families=read_kernels(text))


def _read_degrees(recipe: R, text: str) -> R:
    return recipe.changed(degrees=tuple(whole(show_number(d), "The degrees") for d in numbers(text, "The degrees")))


def _read_nystrom(recipe: R, text: str) -> R:
    landmarks, _, choice = text.strip().partition(":")
    if landmarks.lower() == "none":
        return recipe.changed(approximation=None)
    count = whole(landmarks, "The number of landmarks", low=1)
    return recipe.changed(approximation=Nystrom(count, choice or Nystrom.choice))


def _write_nystrom(recipe: RecipeParts) -> str:
    approximation = recipe.kernels.approximation
    return "none" if approximation is None else f"{approximation.landmarks}:{approximation.choice}"


def _read_name(text: str) -> str | None:
    """Return a name, or None for the word "none"; a name that is this word stands in quotes."""
    return None if text.strip().lower() == "none" else unquoted(text.strip())


def _limit(key: str, name: str, parse: Callable[[str, str], Any], what: str) -> tuple[str, Word]:
    def read(recipe: R, text: str) -> R:
        return recipe.changed(**{name: None if text.strip().lower() == "none" else parse(text, what)})

    return key, Word(read, lambda recipe: written(getattr(recipe.stop, name)))


def _plain(key: str, part: str, name: str, parse: Callable[[str, str], Any], what: str) -> tuple[str, Word]:
    def read(recipe: R, text: str) -> R:
        return recipe.changed(**{name: parse(text, what)})

    return key, Word(read, lambda recipe: written(getattr(getattr(recipe, part), name)))


WORDS: dict[str, Word] = dict(  # in the order they are read and written: some depend on those before
    [
        ("data", Word(_read_data, lambda recipe: quoted(recipe.data.source))),
        _plain("positive", "data", "positive", lambda text, _: _read_name(text), "The class"),
        *map(_of_a_table, TABLE_OPTIONS),
        _plain("train", "split", "train", fraction, "The share to train on"),
        _plain("seed", "split", "seed", lambda text, what: whole(text, what, low=0), "The seed"),
        _plain("standardize", "split", "standardize", switch, "standardize"),
        ("combination", Word(_read_combination, lambda recipe: recipe.kernels.combination)),
        ("kernels", Word(_read_kernels, _write_kernels)),
        (
            "normalize",
            Word(lambda recipe, text: recipe.changed(normalize=text), lambda recipe: recipe.kernels.normalize),
        ),
        ("degrees", Word(_read_degrees, lambda recipe: write_values(recipe.kernels.degrees))),
        ("nystrom", Word(_read_nystrom, _write_nystrom)),
        _plain("cache-mb", "kernels", "cache_mb", lambda text, what: whole(text, what, low=1), "The memory in MB"),
        _plain("by-rows", "kernels", "by_rows", switch, "by-rows"),
        _plain("repair", "kernels", "repair", lambda text, _: _read_name(text), "The repair"),
        (
            "loss",
            Word(
                lambda recipe, text: recipe.changed(loss=read_loss(text, C=recipe.problem.loss.C)),
                lambda recipe: _write_named(recipe.problem.loss, "loss", loss_families(), ("C",)),
            ),
        ),
        (
            "C",
            Word(
                lambda recipe, text: recipe.changed(loss=dataclasses.replace(recipe.problem.loss, C=number(text, "C"))),
                lambda recipe: "",  # stands with the loss
            ),
        ),
        _plain("class-weight", "problem", "class_weight", lambda text, _: _read_name(text), "The weights of classes"),
        (
            "regularizer",
            Word(
                lambda recipe, text: recipe.changed(regularizer=read_regularizer(text)),
                lambda recipe: _write_named(recipe.problem.regularizer, "regularizer", regularizer_families()),
            ),
        ),
        (
            "solvers",
            Word(
                lambda recipe, text: recipe.changed(solvers=read_solvers(text)),
                lambda recipe: " ".join(map(_write_solver, recipe.solvers)),
            ),
        ),
        _limit("gap", "gap", fraction, "The gap to stop at"),
        _limit("projected-gradient", "projected_gradient", number, "The projected gradient to stop at"),
        _limit("iterate-gap", "iterate_gap", fraction, "The gap of an iterate to stop at"),
        _limit("weight-change", "weight_change", number, "The weight change to stop at"),
        _limit("max-iter", "max_iter", lambda text, what: whole(text, what, low=1), "The number of iterations"),
        _limit("max-seconds", "max_seconds", number, "The number of seconds"),
    ]
)


def write_words(recipe: RecipeParts) -> str:
    """Return the data and all that differs from the defaults, as ``KEY=VALUE; KEY=VALUE``."""
    plain = _read_combination(RecipeParts(), recipe.kernels.combination)
    written = {key: word.write(recipe) for key, word in WORDS.items()}
    return "; ".join(
        f"{key}={value}"
        for key, value in written.items()
        if key == "data" or (value != WORDS[key].write(plain if key != "combination" else RecipeParts()))
    )


def read_words(text: str, recipe: R) -> tuple[R, tuple[str, ...]]:
    """Return the recipe changed as words say, as far as they can be read, and a sentence for each part that cannot."""
    texts, wrong = split_words(text)
    for key in filter(texts.__contains__, WORDS):
        try:
            recipe = WORDS[key].read(recipe, texts[key])
        except (MklvizError, DataError) as error:
            wrong.append(one_line(f"{key}: {error}"))
    return recipe, tuple(wrong)


def split_words(
    text: str, known: Collection[str] = WORDS.keys(), what: str = "A recipe"
) -> tuple[dict[str, str], list[str]]:
    """Return the texts by their keys, and a sentence for each part that is none of the known ones."""
    wrong: list[str] = []
    texts: dict[str, str] = {}
    for part in filter(str.strip, _parts(text)):
        key, *value = (piece.strip() for piece in part.split("="))
        if not value or key not in known:
            wrong.append(_unknown(key, part.strip(), bool(value), known, what))
        elif key in texts:
            wrong.append(f"{key} is given twice; the first counts.")
        else:
            texts[key] = "=".join(value)
    return texts, wrong


def _parts(text: str) -> list[str]:
    try:
        return pieces(text, ";\n")
    except MklvizError:  # a quotation mark is missing: its part will say so
        return text.replace("\n", ";").split(";")


def from_words(text: str, recipe: R) -> R:
    """Return the recipe changed as words say, or raise `MklvizError` with all that is wrong."""
    recipe, wrong = read_words(text, recipe)
    if wrong:
        raise MklvizError(" ".join(wrong))
    return recipe


def _unknown(key: str, part: str, has_value: bool, known: Collection[str], what: str) -> str:
    if not has_value:
        return f"“{part:.80}” is not of the form KEY=VALUE, such as data=sonar."
    return f"{what} has no part “{key:.80}”; {hint(key, known)}"
