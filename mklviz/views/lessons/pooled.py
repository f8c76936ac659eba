"""The answers of a class to the questions of lessons, in the process and in the store: one a visitor, without names.

They belong to the room of the page that leads, which alone shows and exports them. A small file in the store brings
them back where the page is opened again by its address, also from a server started again, to their owner alone.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from mklviz.record.store import Store
from mklviz.record.store.folder import read_json
from mklviz.record.summary import write_csv
from mklviz.scenarios import Scenario

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
