"""What the class answers, on the page that leads it: a bar at each choice of a lesson, and which lessons were hard."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from mklviz.language import Language
from mklviz.views.form import Button, FormRow
from mklviz.views.lessons.pooled import PooledAnswers
from mklviz.views.look import cards
from mklviz.views.look.styles import MILESTONES, row_html, table_html
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.scenario_panel import LessonPanel


class ClassCard(cards.Rooted):
    """Shows the answers of the class to the lesson that is open, from the first one on; `row` is for its question.

    Before a room, in the projector's view, the bars come when Reveal is pressed or the right one is known, so that
    nobody follows the others. `hand_over` lets the browser save a file, by its name and content.
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
