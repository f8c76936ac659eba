"""The answers of a class to the questions of lessons: one a visitor, without names, and bars on the page that leads.

They belong to the room of the page that leads, which alone shows and exports them. A small file in the store brings
them back where the page is opened again by its address, also from a server started again, to their owner alone.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from html import escape

from mklviz.language import Language
from mklviz.record.store import Store
from mklviz.record.store.folder import read_json
from mklviz.record.summary import write_csv
from mklviz.scenarios import Scenario
from mklviz.views.form import Button, FormRow
from mklviz.views.look import cards
from mklviz.views.look.styles import MILESTONES, row_html, table_html
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.scenario_panel import LessonPanel

MOST_VISITORS = 500  # whose answers to a question are counted
FOLDER = "answers"  # of the store


@dataclass
class PooledQuestion:
    """A lesson's question: its choices, what each visitor chose, and the right one, "" until it is known."""

    title: str
    choices: Sequence[str]
    given: dict[str, str] = field(default_factory=dict)
    right: str = ""

    @property
    def counts(self) -> list[int]:
        """How many chose each."""
        counted = Counter(self.given.values())
        return [counted[choice] for choice in self.choices]

    @property
    def share_right(self) -> float | None:
        """The share of the right answers; None as long as that is unknown."""
        return Counter(self.given.values())[self.right] / len(self.given) if self.right else None


class PooledAnswers:
    """The answers of a room, by lesson. Used from the event loop alone."""

    most_rooms = 100  # files in the store; the oldest go first

    def __init__(self, store: Store, room: str) -> None:
        self.questions: dict[str, PooledQuestion] = {}
        self._store, self._path = store, store.folder / FOLDER / f"{room}.json"
        kept = read_json(self._path) if store.enabled else {}
        if kept and store.owner.owns(str(kept.get("owner"))):
            with suppress(KeyError, TypeError, AttributeError):  # a file that another version wrote
                self.questions = {name: PooledQuestion(**stated) for name, stated in kept["questions"].items()}

    def give(self, lesson: Scenario, visitor: str, choice: str | None) -> None:
        """Count an answer instead of the visitor's former one, as long as the right one is not known."""
        asked = lesson.question
        if asked is None or choice not in asked.choices:
            return
        question = self.questions.get(lesson.name) or PooledQuestion(lesson.title, asked.choices)
        if question.right or (visitor not in question.given and len(question.given) >= MOST_VISITORS):
            return
        self.questions[lesson.name] = question
        question.given[visitor] = choice
        self._save()

    def has(self, lesson: str, visitor: str, choice: str | None) -> bool:
        """Return whether this answer of a visitor is counted."""
        question = self.questions.get(lesson)
        return question is not None and choice is not None and question.given.get(visitor) == choice

    def settle(self, lesson: str, right: str) -> None:
        """Take note of the right answer: from now on none is counted."""
        question = self.questions.get(lesson)
        if question is not None and right in question.choices and right != question.right:
            question.right = right
            self._save()

    def table(self) -> bytes:
        """Return as CSV a row for each choice of each lesson, with the share of the class that was right."""
        import pandas as pd

        rows = [
            {
                "lesson": question.title,
                "choice": choice,
                "answers": count,
                "right": "" if not question.right else "yes" if choice == question.right else "no",
                "answers to the lesson": len(question.given),
                "share right": question.share_right,
            }
            for question in self.questions.values()
            for choice, count in zip(question.choices, question.counts, strict=True)
        ]
        file = io.BytesIO()
        write_csv(pd.DataFrame(rows), file)
        return file.getvalue()

    def _save(self) -> None:
        """Write everything into the store, where that keeps anything; a power cut may lose it."""
        if not self._store.enabled:
            return
        questions = {name: asdict(question) for name, question in self.questions.items()}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_suffix(".part")
            beside.write_text(json.dumps({"owner": self._store.owner.name, "questions": questions}), encoding="utf-8")
            beside.replace(self._path)
            files = sorted(self._path.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in files[: -self.most_rooms]:
                path.unlink()


class ClassCard(cards.Rooted):
    """Shows the answers of the class to the lesson that is open, from the first one on; `row` is for its question.

    Before a room, in the projector's view, the bars come when Reveal is pressed or the right one is known, so that
    no answer follows the others. `hand_over` lets the browser save a file, by its name and content.
    """

    def __init__(
        self,
        session: Session,
        panel: LessonPanel,
        answers: Callable[[], PooledAnswers],
        hand_over: Callable[[str, bytes], None],
    ) -> None:
        super().__init__()
        self._session, self._panel, self._answers = session, panel, answers
        language = self._language = panel.page_language
        self._revealed: set[str] = set()  # lessons
        self.given = note(visible=True)
        self.reveal = Button(self._reveal, label=language("Reveal"))
        saved, told = lambda *_: hand_over("answers.csv", answers().table()), language("Answers as CSV")
        save = Button(saved, label=told, variant="text")
        self.row = FormRow(self.given, self.reveal, save, wrap=True, visible=False)
        self.hard = cards.html()
        self.root = cards.card(self.hard, visible=False)

    def tick(self) -> bool:
        """Show what is new; return whether these are the first answers."""
        answers, panel, first = self._answers(), self._panel, not self.given.object
        if not answers.questions:
            return False
        lesson = panel.scenario.name
        answers.settle(lesson, panel.guess.right)
        question = answers.questions.get(lesson)
        given, right = (0, "") if question is None else (len(question.given), question.right)
        projected = self._session.theme.projected
        hidden = projected and not right and lesson not in self._revealed
        panel.guess.counts = [] if question is None or hidden else question.counts
        self.given.object = self._language.several("{n} answer", "{n} answers", given)
        self.reveal.visible = hidden and given > 0
        self.row.visible = self.reveal.visible or not projected  # whose room the picture has on a projector
        self.hard.object = _hard(answers, self._language)
        self.root.visible = panel.open and bool(self.hard.object)
        return first

    def _reveal(self, *_: object) -> None:
        self._revealed.add(self._panel.scenario.name)
        self.tick()


def _hard(answers: PooledAnswers, language: Language) -> str:
    """Return as HTML which lessons were hard, the hardest first; "" until the class knows the answers of two."""
    known = [(share, each) for each in answers.questions.values() if (share := each.share_right) is not None]
    if len(known) < 2:
        return ""
    known.sort(key=lambda pair: pair[0])
    rows = (
        row_html(escape(language(each.title)), (str(len(each.given)), language.number(f"{share:.0%}")))
        for share, each in known
    )
    heads = (
        (language("Lesson"), language("the hardest first")),
        (language("Answers"), language("of the class")),
        (language("Right"), language("share of the answers")),
    )
    caption = language("Which lessons were hard")
    return cards.title(caption) + table_html(caption, heads, rows, MILESTONES)
