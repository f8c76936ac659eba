"""What the class answers, on the page that leads it: bars below a lesson's question, and which lessons were hard."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import panel as pn

from mklviz.views.form import Button, Form, FormRow
from mklviz.views.lessons.pooled import PooledAnswers, PooledQuestion
from mklviz.views.look import cards
from mklviz.views.session.session import Session
from mklviz.views.sidebar.scenario_panel import LessonPanel


class ClassCard(cards.Rooted):
    """Shows the answers of the class to the lesson that is open, from the first one on.

    Before a room, in the projector's view, the bars come when Reveal is pressed, so that nobody follows the others.
    """

    def __init__(self, session: Session, panel: LessonPanel, answers: Callable[[], PooledAnswers]) -> None:
        super().__init__()
        self._session, self._panel, self._answers = session, panel, answers
        self._revealed: set[str] = set()  # lessons
        self._drawn: tuple[object, ...] = ()
        self.text = cards.html()
        self.reveal = Button(self._reveal, label="Reveal")
        self.save = Button(self._hand_over, label="Answers as CSV", variant="text")
        self._form = Form(FormRow(self.reveal, self.save))
        self.root = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)

    def tick(self) -> bool:
        """Draw what is new; return whether anything was."""
        answers, lesson = self._answers(), self._panel.scenario.name
        if not answers.questions:
            return False
        answers.settle(lesson, self._panel.guess.right)
        answers.save()
        projected = self._session.theme.projected
        state = answers, answers.revision, lesson, projected, self._panel.open, lesson in self._revealed
        if state == self._drawn:
            return False
        self._drawn = state
        question = answers.questions.get(lesson)
        hidden = projected and lesson not in self._revealed
        given = 0 if question is None else len(question.given)
        shown = "" if question is None or hidden else _bars(question)
        hard = "" if hidden else _hard(answers)
        self.text.object = cards.title(f"{given} {'answer' if given == 1 else 'answers'}") + shown + hard
        self.reveal.visible = hidden and question is not None
        if not self.root.objects:
            self.root.objects = [cards.card(self.text, self._form)]
        self.root.visible = self._panel.open
        return True

    def _reveal(self, *_: object) -> None:
        self._revealed.add(self._panel.scenario.name)
        self.tick()

    def _hand_over(self, *_: object) -> None:
        self._form.hand_over("answers.csv", self._answers().to_csv())


def _bars(question: PooledQuestion) -> str:
    """Return a bar for each choice as HTML, with a mark at the right one once that is known."""
    most = max(question.counts.values())
    rows = []
    for choice, count in question.counts.items():
        right = choice == question.right
        colour = "var(--mk-good)" if right else "var(--mk-accent)"
        bar = f'<div style="width: {100 * count / most:.0f}%; height: 1em; background: {colour}"></div>'
        mark = " ✓ right" if right else ""
        drawn = f'<td style="width: 60%" aria-hidden="true">{bar}</td>'
        rows.append(f"<tr><th>{escape(choice)}</th><td>{count}{mark}</td>{drawn}</tr>")
    return f'<table class="results"><tbody>{"".join(rows)}</tbody></table>'


def _hard(answers: PooledAnswers) -> str:
    """Return as HTML which lessons were hard, the hardest first; "" until the class knows the answers of two."""
    known = [(share, each) for each in answers.questions.values() if (share := each.share_right) is not None]
    if len(known) < 2:
        return ""
    known.sort(key=lambda pair: pair[0])
    rows = "".join(
        f"<tr><th>{escape(each.title)}</th><td>{len(each.given)}</td><td>{share:.0%}</td></tr>" for share, each in known
    )
    head = "<tr><th>Lesson, the hardest first</th><th>Answers</th><th>Right</th></tr>"
    table = f'<table class="results milestones"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'<div class="scroll">{table}</div>'
