"""Lessons as Markdown files: between two lines ``+++`` a head in TOML, and below it what is said, under four headings.

    # Watch    what to look at while the race runs        # Why      sentences that explain it, where they hold
    # Answer   a sentence with the numbers that decide    # Teaches  what is true whatever comes out

What is wrong is said with the line in which it stands. See apps/docs/howto/lessons.md.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklviz.datasets import DataError, list_datasets
from mklviz.engine.race import entered
from mklviz.errors import MklvizError, ProblemError, SolverError
from mklviz.quoting import hint
from mklviz.recipe import Recipe
from mklviz.scenarios._expression import Expression, Sentences
from mklviz.scenarios._quantities import COMPUTED, FUNCTIONS
from mklviz.scenarios._scenario import GROUPS, PACES, PICTURES, Answer, Outcome, Question, Scenario

__all__ = ["read_lesson", "recording_beside", "solved"]

LARGEST = 50_000  # bytes of a file
_FILE = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*$(.*)\Z", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.*?)[ \t]*$", re.MULTILINE)
_SECTIONS = ("Watch", "Answer", "Why", "Teaches")
_TEXTS = ("title", "setup", "question", "answer", "group", "picture", "tab", "in_short", "source")
_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {  # of the entries of a head: what they are, in words
    **dict.fromkeys(_TEXTS, (str, "a text in quotes")),
    "choices": (list, "texts in square brackets, as in ['Yes', 'No']"),
    "place": (int, "a whole number"),
    "pace": ((int, float), f"one of {', '.join(map(str, PACES))} steps a second"),
    "numbers": (dict, "a part of its own, at the end of the head: [numbers]"),
}
_ALLOWED = {"group": GROUPS, "picture": PICTURES, "pace": PACES}


@dataclass(frozen=True, eq=False)
class _AnswerOfFile:
    """Computes the answer of a question from its race, as a file says."""

    choices: tuple[str, ...]
    picture: str
    numbers: Mapping[str, Expression]
    answer: Expression
    because: Sentences
    why: Sentences

    def __call__(self, outcome: Outcome) -> Answer:
        compute, given = COMPUTED.get(self.picture, (lambda _: ({}, ()), ()))
        try:
            evidence, values = compute(outcome)
        except Exception as error:  # of a set-up that the picture is not for
            raise ProblemError(f"The picture “{self.picture}” cannot be computed of this race: {error}") from error
        names = dict(zip(given, values, strict=True))
        for name, expression in self.numbers.items():
            names[name] = expression.value(outcome, names)
        choice = self._chosen(self.answer.value(outcome, names))
        because = self.because.told(outcome, names).rstrip(".")
        if not because:
            raise ProblemError("Nothing under “# Answer” holds for this result: say something there in any case.")
        return Answer(choice, because, self.why.told(outcome, names), evidence)

    def _chosen(self, value: Any) -> str:
        if isinstance(value, bool):
            value = 1 if value else 2
        for number, choice in enumerate(self.choices, 1):
            if value in (number, choice):
                return choice
        last = len(self.choices)
        raise self.answer.wrong(
            f"came out as {value!r:.40}: it is to be the number of a choice, 1 to {last}, or its words."
        )


class _LessonFile:
    """The text of a file with its parts; `at` says where each stands."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise ProblemError(f"It is larger than {LARGEST:,} bytes, so it is no lesson.")
            self.text = content.decode("utf-8-sig").replace("\r\n", "\n")
        except OSError as error:
            raise ProblemError(f"It cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise ProblemError("It is no text in UTF-8: save it as such.") from None
        parts = _FILE.match(self.text)
        if parts is None:
            raise self.wrong(0, "A lesson begins with a line +++, its head, and a second line +++.")
        try:
            self.head: dict[str, Any] = tomllib.loads("\n" + parts[1])  # so that lines have their numbers
        except (ValueError, RecursionError) as error:  # also of a number too long
            line = re.search(r"at line (\d+)", str(error))
            what = re.sub(r" \(at .*", "", str(error))
            at = len(parts[1]) if line is None else sum(map(len, self.text.splitlines(True)[: int(line[1]) - 1]))
            raise self.wrong(at, f"The head is no TOML: {what}; write name = 'text'.") from None
        headings = list(_HEADING.finditer(self.text, parts.end(1)))
        ends = [*(heading.start() for heading in headings[1:]), len(self.text)]
        self.sections: dict[str, tuple[int, str]] = {}
        for heading, end in zip(headings, ends, strict=False):
            if heading[1] not in _SECTIONS:
                why = f"There is no heading “{heading[1]:.40}”; {hint(heading[1], _SECTIONS)}"
                raise self.wrong(heading.start(), why)
            self.sections[heading[1]] = heading.end(), self.text[heading.end() : end]
        self._check_head()

    def where(self, at: int | str) -> str:
        """Return the line of a place in the text, or of an entry of the head, as sentences on it begin."""
        if isinstance(at, str):
            entry = re.search(rf"^ *(\[{re.escape(at)}\]|{re.escape(at)} *=)", self.text, re.MULTILINE)
            at = 0 if entry is None else entry.start()
        return f"line {self.text.count(chr(10), 0, at) + 1}: "

    def wrong(self, at: int | str, why: str) -> ProblemError:
        """Return an error with where it is."""
        return ProblemError(f"{self.where(at)}{why}")

    def _check_head(self) -> None:
        for name, value in self.head.items():
            if name not in _KINDS:
                raise self.wrong(name, f"There is no entry “{name:.40}”; {hint(name, list(_KINDS))}")
            kind, words = _KINDS[name]
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if not isinstance(value, kind) or isinstance(value, bool) or not all(isinstance(v, str) for v in inner):
                raise self.wrong(name, f"“{name}” is to be {words}, but {value!r:.40} is given.")
            allowed = _ALLOWED.get(name, (value,))
            if value not in allowed:
                known = ", ".join(map(str, allowed))
                raise self.wrong(name, f"“{name}” is one of {known}, but {value!r:.40} is given.")
        asked = ("choices", "answer", "in_short") if "question" in self.head else ()
        for name in ("title", "setup", *asked):
            if not self.head.get(name):
                raise self.wrong(0, f"The head has no entry “{name}”: write {name} = … between the lines +++.")
        for name in ("Watch", *(("Answer", "Teaches") if asked else ())):
            if not self.sections.get(name, (0, ""))[1].strip():
                raise self.wrong(len(self.text), f"Nothing stands under a heading “# {name}”: say it there.")

    def recipe(self) -> Recipe:
        """Return the race that the entry `setup` describes."""
        try:
            recipe = Recipe.from_words(self.head["setup"])
            source = recipe.data.source
            if source not in list_datasets():
                raise ProblemError(f"There is no data set {source!r:.40}.")
        except (MklvizError, DataError) as error:
            raise self.wrong("setup", str(error)) from None
        return recipe

    def sentences(self, section: str, names: tuple[str, ...]) -> Sentences:
        """Return the sentences of a section."""
        begin, text = self.sections.get(section, (0, ""))
        return Sentences(text, FUNCTIONS, names, lambda at: self.where(begin + at))

    def plain(self, section: str) -> str:
        """Return a section in which nothing is computed, on one line."""
        return " ".join(filter(None, re.split(r"[ \t\n]+", self.sections.get(section, (0, ""))[1])))


def read_lesson(path: Path) -> Scenario:
    """Return the lesson of a file; raises `ProblemError` with a sentence on what is wrong, and in which line."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", path.stem):
        raise ProblemError("The name of its file is to have small letters, digits and hyphens alone, as my-lesson.md.")
    file = _LessonFile(path)
    head = {name: value for name, value in file.head.items() if name in Scenario.__dataclass_fields__}
    recipe = file.recipe()
    return Scenario(
        name=path.stem,
        look_for=file.plain("Watch"),
        teaches=file.plain("Teaches"),
        recipe=recipe,
        **{**head, "question": _question(file, recipe) if "question" in head else None},
    )


def _question(file: _LessonFile, recipe: Recipe) -> Question:
    head, picture = file.head, file.head.get("picture", "gap")
    runs = entered([choice.make() for choice in recipe.solvers])
    names = (*runs, *(solver.label for solver in runs.values()), *COMPUTED.get(picture, ((), ()))[1])
    numbers: dict[str, Expression] = {}
    for name, text in head.get("numbers", {}).items():
        numbers[name] = Expression(text, FUNCTIONS, (*names, *numbers), file.where(name))
    names = (*names, *numbers)
    choices = tuple(head["choices"])
    answer = Expression(head["answer"], FUNCTIONS, names, file.where("answer"))
    told = _AnswerOfFile(
        choices, picture, numbers, answer, file.sentences("Answer", names), file.sentences("Why", names)
    )
    try:
        return Question(head["question"], choices, told)
    except ProblemError as error:
        raise file.wrong("choices", str(error)) from None


def solved(lesson: Scenario) -> Outcome:
    """Return the result of a lesson's race, which is run now; raises `SolverError` for a run that failed."""
    prepared = lesson.recipe.prepare()
    race = lesson.recipe.race(prepared)
    race.start()
    race.wait()
    for trace in race.traces.values():
        if trace.status == "failed":
            raise SolverError(f"{trace.label} failed: {trace.reason}")
    return Outcome(prepared, race.traces)


def recording_beside(path: Path, lesson: Scenario) -> Path:
    """Return where the recording of a file's lesson lies; one of another set-up or picture has another name."""
    drawn = zlib.crc32(f"{lesson.recipe.to_words()} {lesson.picture}".encode())
    return path.with_name(f"{path.stem}.{drawn:08x}.zip")
