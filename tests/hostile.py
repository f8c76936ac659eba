"""Tries hostile input by the thousand: ``python tests/hostile.py --cases 10000``.

Files, words of recipes, arguments and JSON, drawn anew or changed from the corpus, are either understood or refused
in one short sentence, within a bound on memory. A fault is shrunk to the smallest input that has it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from _corpus import ARGUMENTS, HOSTILE, JSON, WORDS
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from mklviz.cli.arguments import read_recipe
from mklviz.cli.parser import make_parser
from mklviz.datasets import DataError, read_dataset_bytes
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS as KEYS
from mklviz.recipe.words import read_words

Drawn = st.SearchStrategy[Any]
MOST_MEMORY = 3 * 2**30  # of address space; the libraries themselves map more than a gigabyte
MOST_LETTERS = 2000
ODD = ("", "0", "-1", "1e999", "nan", "9" * 500, "9" * 5000, "2^9999", "\x00", "\x1b[31m", "\u0663", '"', "=", ";", "…")


@cache
def files() -> tuple[bytes, ...]:
    return tuple(make() for make, _ in HOSTILE.values())


def changed_bytes(data: bytes) -> st.SearchStrategy[bytes]:
    """Return the bytes with some others in their midst."""
    place = st.integers(0, len(data))
    return st.builds(lambda i, j, new: data[: min(i, j)] + new + data[max(i, j) :], place, place, st.binary(max_size=8))


def changed_text(text: str) -> st.SearchStrategy[str]:
    place = st.integers(0, len(text))
    new = st.sampled_from(ODD) | st.text(max_size=6)
    return st.builds(lambda i, j, odd: text[: min(i, j)] + odd + text[max(i, j) :], place, place, new)


CELL = st.sampled_from(("1", "2.5", "1,5", "x", "1e160", "1e-170", "7" * 400, *ODD)) | st.text(max_size=4)
TABLE = st.builds(
    lambda rows, mark: "\n".join(mark.join(row) for row in rows).encode("utf-8", "replace"),
    st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6),
    st.sampled_from([",", ";", "\t", " 1:", " "]),
)
NAME = st.sampled_from(["a.csv", "a.tsv", "a.svm", "a.npz", "a.xlsx", "a.parquet", "a", "\x1b.csv"])
FILE = TABLE | st.binary(max_size=200) | st.deferred(lambda: st.sampled_from(files()).flatmap(changed_bytes))
PAIR = st.builds("{}={}".format, st.sampled_from(sorted(KEYS)), st.sampled_from(ODD) | st.text(max_size=12))
WORD = st.lists(PAIR, max_size=4).map("; ".join) | st.sampled_from(WORDS).flatmap(changed_text)
FLAG = st.sampled_from(["run", "race", "path", "--gap", "--C", "--data", "--kernels", "--solvers", "--vary", "C=1,2"])
ARGUMENT = st.lists(FLAG | st.sampled_from(ODD) | st.text(max_size=8), max_size=6) | st.sampled_from(ARGUMENTS).map(
    list
)
SAVED = st.deferred(lambda: st.sampled_from((*JSON, Recipe().to_json()))).flatmap(changed_text)


def check_sentence(said: str) -> None:
    assert said.strip(), "An error without a word."
    assert len(said) < MOST_LETTERS, f"A sentence of {len(said):,} letters."


def try_file(data: bytes, name: str) -> None:
    try:
        train, test = read_dataset_bytes(data, name).split()
    except DataError as error:
        check_sentence(str(error))
    else:
        assert len(train.y) > 0 < len(test.y)


def try_words(text: str) -> None:
    recipe, wrong = read_words(text, Recipe())
    for sentence in wrong:
        check_sentence(sentence)
    assert Recipe.from_words(recipe.to_words()) == recipe


def try_json(text: str) -> None:
    try:
        recipe = Recipe.from_json(text)
    except MklvizError as error:
        check_sentence(str(error))
    else:
        assert Recipe.from_json(recipe.to_json()) == recipe


def try_arguments(words: Sequence[str]) -> None:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            given_words = make_parser().parse_args(words)
            if hasattr(given_words, "solver_option"):
                read_recipe(given_words)
    except SystemExit as end:
        if end.code != 0:  # --help ends with 0
            check_sentence(said.getvalue())
            assert said.getvalue().rstrip("\n").isprintable()
    except (MklvizError, DataError) as error:
        check_sentence(str(error))


TARGETS: dict[str, tuple[Callable[..., None], tuple[Drawn, ...]]] = {
    "files": (try_file, (FILE, NAME)),
    "words": (try_words, (WORD,)),
    "arguments": (try_arguments, (ARGUMENT,)),
    "JSON": (try_json, (SAVED,)),
}


def limit_memory() -> None:
    """Let the process map no more than so much, where the system can say so."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500, help="in all (default: 500)")
    parser.add_argument("--seed", type=int, help="draw as this seed does (default: always the same cases)")
    asked = parser.parse_args(words)
    limit_memory()
    each = settings(
        max_examples=max(1, asked.cases // len(TARGETS)),
        derandomize=asked.seed is None,
        database=None,
        deadline=None,  # no test hangs on seconds
        suppress_health_check=list(HealthCheck),
    )
    for name, (target, drawn) in TARGETS.items():
        tried = try_all(target, drawn, each, asked.seed)
        print(f"{name}: {tried:,} cases, none at fault", flush=True)


def try_all(target: Callable[..., None], drawn: Sequence[Drawn], each: settings, chosen: int | None) -> int:
    """Try what is drawn on a target, raise where one is at fault, and return how many there were."""
    tried = 0

    @each
    @given(st.tuples(*drawn))
    def case(inputs: tuple[object, ...]) -> None:
        nonlocal tried
        tried += 1
        target(*inputs)

    (case if chosen is None else seed(chosen)(case))()
    return tried


if __name__ == "__main__":
    sys.exit(main())
