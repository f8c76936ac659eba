"""Lessons of one's own: a folder of files, whose mistakes are said in a sentence and stop nothing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from mklviz import plugins
from mklviz.cli.commands import main
from mklviz.errors import ProblemError
from mklviz.limits import LESSONS
from mklviz.record.bundle import OWN, recording
from mklviz.scenarios import read_lesson, scenarios
from mklviz.scenarios._expression import Expression, Sentences
from mklviz.scenarios._quantities import FUNCTIONS
from mklviz.scenarios._scenario import PACES as PACES_OF_LESSONS
from mklviz.scenarios._scenario import PICTURES as NAMES
from mklviz.views.host.panel_setup import page_template
from mklviz.views.lessons.pictures import PICTURES, picture_of, recorded_runs, thumbnail
from mklviz.views.look.palette import LIGHT
from mklviz.views.sidebar.controls import PACES
from mklviz.views.start.front import front_html

LESSON = """+++
title = "How <b>few</b>?"
in_short = "A & B."
setup = "data=heart; kernels=gauss:1@2 gauss:1@11; solvers=silp level; max-iter=5"
question = "Which one solves fewer SVMs?"
choices = ["SILP", "Level", "Both <i>the same</i>"]
answer = "3 if ratio == 1 else solver_with_least(svm_solves)"

[numbers]
ratio = "svm_solves(silp) / svm_solves(level)"
+++

# Watch

The numbers,
and more.

# Answer

SILP solved {svm_solves(silp)} SVMs{if ratio > 5}, many{end}.

# Why

{if ratio > 0}That is {100 * ratio:.0f} %.{end}

# Teaches

Nothing.
"""

Save = Callable[[str, str], Path]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, none_left_out: None) -> Save:
    """Save a file in the folder of lessons of one's own."""
    monkeypatch.setenv(LESSONS, str(tmp_path))
    for name in [*OWN]:
        monkeypatch.delitem(OWN, name)

    def add(name: str, text: str) -> Path:
        file = tmp_path / f"{name}.md"
        file.write_text(text, encoding="utf-8")
        return file

    return add


def test_a_file_in_the_folder_is_a_lesson_with_its_card(save: Save) -> None:
    shipped = list(scenarios())
    save("how-few", LESSON)
    assert set(scenarios()) == {*shipped, "how-few"}
    lesson = scenarios()["how-few"]
    assert (lesson.look_for, lesson.group) == ("The numbers, and more.", "Beyond")
    page = front_html.__wrapped__("start")
    assert 'data-scenario="how-few"' in page
    assert "How &lt;b&gt;few&lt;/b&gt;?" in page
    assert "<b>few" not in page
    assert ">?</text>" in thumbnail("how-few")


def test_check_solves_and_records_it(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    file = save("recorded-one", LESSON)
    assert main(["lessons", "check"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{file}: “SILP”: SILP solved ") or said.startswith(f"{file}: “Both")
    assert " %." in said
    assert "recorded-one" in scenarios()
    assert list(recording("recorded-one")) == ["silp", "level"]
    runs = recorded_runs("recorded-one", LIGHT)
    assert picture_of(scenarios()["recorded-one"], runs).rows
    assert thumbnail("recorded-one").count("<path") > 1
    save("recorded-one", LESSON.replace("max-iter=5", "max-iter=6"))  # the recording is of another race now
    assert not (scenarios()["recorded-one"] and OWN["recorded-one"].exists())


WRONG = {  # what is changed in the file, and the sentence
    "no head": ("+++\n", "", "line 1: A lesson begins with a line +++, its head, and a second line +++."),
    "no TOML": ('title = "How', "title = How", "line 2: The head is no TOML: Invalid value; write name = 'text'."),
    "no title": ('title = "How <b>few</b>?"\n', "", "line 1: The head has no entry “title”: write title = … between"),
    "an unknown entry": ("in_short", "in_shrt", "line 3: There is no entry “in_shrt”; did you mean in_short?"),
    "another kind": ('"A & B."', "3", "line 3: “in_short” is to be a text in quotes, but 3 is given."),
    "no data set": ("data=heart", "data=hart", "line 4: data: There is no data set 'hart'; did you mean heart?"),
    "no solver": ("=silp level", "=sillp", "line 4: solvers: There is no solver called 'sillp'; did"),
    "one choice": (', "Level", "Both <i>the same</i>"', "", "line 6: A question has 2 to 4 different answers"),
    "an unknown picture": ("question =", 'picture = "pie"\nquestion =', "line 5: “picture” is one of accuracy, "),
    "an unknown name": ("ratio == 1", "ration", "line 7: “3 if ration else solver_with_least(svm_solves)” has"),
    "a missing argument": ("svm_solves(level)", "steps()", "line 10: “svm_solves(silp) / steps()” has “steps()”,"),
    "no expression": ("{svm_solves(silp)}", "{svm_solves(silp}", "line 20: “svm_solves(silp” is no expression"),
    "an unknown heading": ("# Why", "# Wy", "line 22: There is no heading “Wy”; did you mean Why?"),
    "an if without end": (", many{end}", ", many", "line 20: Each {if …} has an {end} behind it."),
    "a long number": ("question =", f"place = {'9' * 5000}\nquestion =", "line 11: The head is no TOML"),
    "nothing said": ("Nothing.\n", "", "line 28: Nothing stands under a heading “# Teaches”: say it there."),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_file_with_a_mistake_is_left_out_with_a_sentence_and_its_line(save: Save, case: str) -> None:
    old, new, sentence = WRONG[case]
    before = list(scenarios())
    assert old in LESSON
    file = save("broken", LESSON.replace(old, new))
    assert list(scenarios()) == before
    (said,) = plugins.left_out()
    assert said.startswith(f"{file} is left out: {sentence}")
    file.write_text(LESSON, encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert "broken" in scenarios()
    assert plugins.left_out() == ()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("silp-is-fine", LESSON.encode(), "the name 'silp-is-fine' is already that of a lesson of the package."),
        ("My Lesson", LESSON.encode(), "The name of its file is to have small letters, digits and hyphens alone"),
        ("latin", LESSON.replace("few", "für").encode("latin-1"), "It is no text in UTF-8: save it as such."),
        ("large", b"+" * 60_000, "It is larger than 50,000 bytes, so it is no lesson."),
        ("deep", b"+++\na = " + b"[" * 20_000 + b"\n+++\n", "line "),
    ],
)
def test_other_files_are_left_out(save: Save, tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    before = list(scenarios())
    save(name, "").write_bytes(content)
    assert list(scenarios()) == before
    (said,) = plugins.left_out()
    assert f"{name}.md is left out: {sentence}" in said


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("3 if ratio == 1 else solver_with_least(svm_solves)", "7", "line 7: “7” came out as 7: it is to be the num"),
        ("svm_solves(silp) / svm_solves(level)", "1 / 0", "line 10: “1 / 0” could not be computed: division by zero."),
        ("{svm_solves(silp)}", "{steps('SMO')}", "line 20: “steps('SMO')” could not be computed: There is no run"),
        ("SILP solved {svm_solves(silp)} SVMs", "{if ratio > 1e9}Many{end}", "Nothing under “# Answer” holds"),
        ("question =", 'picture = "machines"\nquestion =', "The picture “machines” cannot be computed of this race: "),
    ],
)  # fmt: skip
def test_check_says_what_cannot_be_computed(
    save: Save, capsys: pytest.CaptureFixture[str], old: str, new: str, sentence: str
) -> None:
    file = save("uncomputed", LESSON.replace(old, new))
    assert main(["lessons", "check", str(file)]) == 2
    assert capsys.readouterr().out.startswith(f"{file}: {sentence}")


def test_a_folder_that_is_not_there_is_said(save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "check"]) == 2
    assert "There are no lessons: name files or a folder" in capsys.readouterr().err
    assert main(["serve", "--lessons", str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os')", "steps.__class__", "(lambda: 1)()", "[x for x in 'ab']", "open('/etc/passwd')", "2 ** 9"),
        *("f'{steps}'", "'{0.__class__}'.format(1)", "steps(silp, *[1])", "steps(name=silp)", "b'a'", "1j", "x := 1"),
        *("", "-" * 990 + "1(", "[" * 900, "1 if", "steps(silp)[0:2]", "steps(silp) % 2", "'a' << 3", "a" * 2000),
    ],
)  # fmt: skip
def test_an_expression_can_do_nothing_else(text: str) -> None:
    with pytest.raises(ProblemError, match=r".*“.*\.|.*\?"):
        Expression(text, FUNCTIONS, ("silp",))


@pytest.mark.parametrize(
    "text",
    [
        *("'a' * 9", "not 'a'", "'a' < 1", "-" * 900 + "1" + " + 'b'", "1 / 0", "abs('a')", "'ab'[7]"),
        *("where_largest(1)", "joined(1, ',', 2)", "joined('ab', '9999')", f"joined('ab', '', '{'a' * 99}')"),
    ],
)
def test_what_cannot_be_computed_is_a_sentence_and_whole_numbers_do_not_grow_without_end(text: str) -> None:
    with pytest.raises(ProblemError, match="could not be computed"):
        Expression(text, FUNCTIONS, ()).value(None, {})
    known: dict[str, Any] = {"a": 10**99}
    for _ in range(2):
        known["a"] = Expression("a * a", {}, known).value(None, known)
    with pytest.raises(ProblemError, match="a whole number came to more than 300 digits"):
        Expression("a * a", {}, known).value(None, known)


def test_a_lesson_in_which_a_mistake_is_made_stays_as_it_was(save: Save) -> None:
    save("edited", LESSON)
    before = scenarios()["edited"]
    os.utime(save("edited", "no lesson"), ns=(1, 1))
    assert scenarios()["edited"] is before
    assert "edited.md is left out" in plugins.left_out()[0]


def test_the_title_of_a_lesson_is_no_part_of_a_template(save: Save) -> None:
    title = "{% endraw %}{{ 6 * 7 }}{% raw %}"
    save("templated", LESSON.replace("How <b>few</b>?", title))
    template = page_template(front_html.__wrapped__("start"), "en").removeprefix('{% extends "base.html" %}')
    shown = Environment().from_string(template.replace("{{ super() }}", "")).render()
    assert title in shown
    assert "42{" not in shown


def test_numbers_are_written_as_asked() -> None:
    known: dict[str, Any] = {"x": 1234.567, "y": 0.0123}

    def told(text: str) -> str:
        return Sentences(text, {}, known).told(None, known)

    assert told("{x:,.1f}, {y:share}  and\n{y:share1}") == "1,234.6, 1.2 % and 1 %"
    assert told("{x:.0f}{if x > 1 and not y > 1}; {x:.0f}{end}{if y > 1}, {1 / 0}{end}") == "1235; 1235"
    with pytest.raises(ProblemError, match=r"“'a'” came out as 'a', which “,” cannot write\."):
        told("{'a':,}")


def test_the_lesson_of_the_how_to_can_be_read_and_names_all_pictures_and_functions(tmp_path: Path) -> None:
    page = Path(__file__).parents[1].joinpath("apps/docs/howto/lessons.md").read_text(encoding="utf-8")
    file = tmp_path / "far-jumps.md"
    file.write_text(page.split("```markdown\n")[1].split("```")[0], encoding="utf-8")
    assert read_lesson(file).question is not None
    assert all(f"{name}(" in page for name in FUNCTIONS)
    assert all(f"`{name}`" in page for name in NAMES)
    assert set(NAMES) == set(PICTURES)
    assert set(PACES_OF_LESSONS) == set(PACES.values())
