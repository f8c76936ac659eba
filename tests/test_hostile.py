"""Hostile words, arguments and JSON are understood or refused in a sentence; so are 200 cases drawn from them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from _corpus import ARGUMENTS, DIGITS, FAR, JSON, WORDS
from hostile import MOST_LETTERS, TARGETS, try_arguments, try_json, try_words

from mklviz.cli import main
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.recipe import Recipe
from mklviz.recipe.parsing import literal
from mklviz.recipe.words import read_words
from mklviz.views.session.launcher import bounded

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("text", WORDS, ids=range(len(WORDS)))
def test_hostile_words_are_understood_or_refused(text: str) -> None:
    try_words(text)


@pytest.mark.parametrize("text", JSON, ids=range(len(JSON)))
def test_hostile_json_is_understood_or_refused(text: str) -> None:
    try_json(text)


@pytest.mark.parametrize("words", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_hostile_arguments_are_understood_or_refused(words: tuple[str, ...]) -> None:
    try_arguments(words)


@pytest.mark.parametrize(
    "text", [f"max-iter={FAR}", f"C=2^{DIGITS}", f"kernels=poly@{DIGITS}", f"solvers=level:lam={DIGITS}"]
)
def test_what_is_quoted_of_a_long_number_fits_into_a_line(text: str) -> None:
    _, wrong = read_words(text, Recipe())
    if not wrong:  # a name of a column, which only the data can refuse
        with pytest.raises(MklvizError) as caught:
            read_words(text, Recipe())[0].changed(source="iris").prepare()
        wrong = (str(caught.value),)
    assert all(len(sentence) < 400 for sentence in wrong)


def test_a_whole_number_that_no_double_holds_stays_a_word() -> None:
    assert literal("12") == 12
    assert literal(FAR) == FAR
    assert literal(DIGITS) == DIGITS


@pytest.mark.parametrize("values", ["C=1:2:99999999999999999999", f"C={DIGITS}", f"C=1:2:{DIGITS}", "C=1:inf:3"])
def test_values_of_a_path_that_nobody_could_wait_for_are_refused(
    values: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["path", "--data", "two_moons", "--kernels", "linear", "--vary", values]) == 2
    said = capsys.readouterr().err
    assert "is not understood: write NAME=FROM:TO:COUNT" in said
    assert len(said) < MOST_LETTERS


def test_errors_of_the_command_line_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--data", "\x1b[31mred\x07.csv"]) == 2
    said = capsys.readouterr().err
    assert said.rstrip("\n").isprintable()
    assert main(["run", "--data", "n" * 5000]) == 2
    assert len(capsys.readouterr().err) < MOST_LETTERS


@pytest.mark.full
def test_what_is_drawn_is_refused_or_understood_in_bounded_memory() -> None:
    command = [sys.executable, str(ROOT / "tests" / "hostile.py"), "--cases", "200"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout.count("none at fault") == len(TARGETS)


@pytest.mark.parametrize(("asked", "found"), [(None, LIMITS.race_seconds), (5.0, 5.0), (1e9, LIMITS.race_seconds)])
def test_a_race_in_the_dashboard_ends_though_nobody_stops_it(asked: float | None, found: float) -> None:
    recipe = Recipe().changed(max_seconds=asked)
    assert bounded(recipe).stop.max_seconds == found
    assert bounded(recipe).changed(max_seconds=asked) == recipe


PATIENCE = 300.0
SERVED = Path(__file__).with_name("_routes.py")


@pytest.mark.full
@pytest.mark.parametrize("code", ["right-1", ""])
def test_no_route_ends_the_process_imports_a_module_or_breaks_down(code: str) -> None:
    done = subprocess.run([sys.executable, SERVED, code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["imported"] == []
    assert told["broken"] == []
    assert len(told["routes"]) >= 10
    assert {"/components/%s", "/explorer", "/static/%s", "/static/extensions/%s"} <= set(told["routes"])
    assert told["asked"] >= 500
    assert told["component"] == "200"  # what is there is found
