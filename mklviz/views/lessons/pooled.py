"""The answers of a class to the questions of lessons, in the process and in the store: one a visitor, without names.

They belong to the room of the page that leads, which alone shows and exports them, and are gone with it. A small file
in the store, written whole, brings them back when the server was started again, to their owner alone.
"""

from __future__ import annotations

import io
from collections import Counter
from contextlib import suppress
from time import monotonic
from typing import Any

from mklviz.record.store import Store
from mklviz.record.store.folder import read_json, write_json
from mklviz.record.summary import write_csv
from mklviz.scenarios import Scenario

MOST_VISITORS = 500  # whose answers to a question are counted
MOST_ROOMS = 100  # files in the store; those of rooms whose page never came back go, the oldest first
SAVE_EVERY = 1.0  # seconds: a class answers at once
FOLDER = "answers"  # of the store


class PooledQuestion:
    """A lesson's question: its choices, the right one, "" until it is known, and each visitor's choice."""

    def __init__(self, title: str, choices: tuple[str, ...]) -> None:
        self.title, self.choices, self.right = title, choices, ""
        self.given: dict[str, str] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many chose each."""
        counted = Counter(self.given.values())
        return {choice: counted[choice] for choice in self.choices}

    @property
    def share_right(self) -> float | None:
        """The share of the right answers; None as long as that is unknown."""
        return self.counts[self.right] / len(self.given) if self.right and self.given else None


class PooledAnswers:
    """The answers of a room, by lesson; `revision` counts the changes. Used from the event loop alone."""

    def __init__(self, store: Store, room: str) -> None:
        self.questions: dict[str, PooledQuestion] = {}
        self.revision = self._saved = 0
        self._store, self._path, self._saved_at = store, store.folder / FOLDER / f"{room}.json", 0.0
        kept = read_json(self._path) if store.enabled else {}
        if kept and store.owner.owns(str(kept.get("owner"))):
            with suppress(KeyError, TypeError, ValueError, AttributeError):  # a file that another version wrote
                self.questions = {name: _read(stated) for name, stated in kept["questions"].items()}

    def give(self, lesson: Scenario, visitor: str, choice: str | None) -> bool:
        """Count an answer instead of the visitor's former one; return whether it counts."""
        asked = lesson.question
        if asked is None or choice not in asked.choices:
            return False
        question = self.questions.get(lesson.name) or PooledQuestion(lesson.title, asked.choices)
        if question.right or (visitor not in question.given and len(question.given) >= MOST_VISITORS):
            return False
        self.questions[lesson.name] = question
        question.given[visitor] = choice
        self.revision += 1
        self.save()
        return True

    def has(self, lesson: str, visitor: str, choice: str | None) -> bool:
        """Return whether this answer of a visitor is counted."""
        question = self.questions.get(lesson)
        return question is not None and choice is not None and question.given.get(visitor) == choice

    def settle(self, lesson: str, right: str) -> None:
        """Take note of the right answer: from now on none is counted."""
        question = self.questions.get(lesson)
        if question is not None and right in question.choices and right != question.right:
            question.right = right
            self.revision += 1

    def to_csv(self) -> bytes:
        """Return a row for each choice of each lesson, with the share of the class that was right."""
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
            for choice, count in question.counts.items()
        ]
        file = io.BytesIO()
        write_csv(pd.DataFrame(rows), file)
        return file.getvalue()

    def save(self) -> None:
        """Write what is new into the store, where that keeps anything, and not too often."""
        if self.revision == self._saved or not self._store.enabled or monotonic() - self._saved_at < SAVE_EVERY:
            return
        self._saved, self._saved_at = self.revision, monotonic()
        questions = {name: vars(question) for name, question in self.questions.items()}
        with suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            write_json(self._path, {"owner": self._store.owner.name, "questions": questions})
            files = sorted(self._path.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in files[:-MOST_ROOMS]:
                path.unlink()

    def forget(self) -> None:
        """Remove the file: the room is gone."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _read(stated: dict[str, Any]) -> PooledQuestion:
    """Return a question as a file states it, or raise."""
    question = PooledQuestion(str(stated["title"]), tuple(map(str, stated["choices"])))
    given = {str(visitor): choice for visitor, choice in stated["given"].items() if choice in question.choices}
    question.given = dict(list(given.items())[:MOST_VISITORS])
    question.right = stated["right"] if stated["right"] in question.choices else ""
    return question
