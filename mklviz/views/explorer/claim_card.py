"""The claim of a paper that the address names, ``?claim=level-table-2-silp``: what it says, what came out, its race."""

from __future__ import annotations

from html import escape
from typing import Any

from mklviz.errors import UnknownName
from mklviz.quoting import one_line
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.claims import load_claim
from mklviz.reproduce.estimates import ALL_DATA
from mklviz.reproduce.recorded import recorded_answers
from mklviz.reproduce.texts import COLUMNS, measured_text, row_texts, splits_text
from mklviz.reproduce.verdicts import UNKNOWN
from mklviz.views.links.link import CLAIM, RECIPE, query_value
from mklviz.views.look import cards
from mklviz.views.look.verdicts import verdict_look
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["ClaimCard", "claim_html"]


class ClaimCard:
    """A card above the tabs, which is there only where the address names a claim."""

    def __init__(self) -> None:
        self._text = cards.html()
        self.root: Any = cards.card(self._text, visible=False)

    def open(self, sidebar: Sidebar) -> str:
        """Show the claim that the address names, and set the controls to its race unless the address says another.

        Returns a sentence where there is none of that name, else "".
        """
        name = query_value(CLAIM)
        if not name:
            return ""
        try:
            claim = load_claim(name)
        except UnknownName as error:
            return one_line(str(error))
        answer = recorded_answers().answers.get(name, ClaimAnswer(claim, UNKNOWN))
        self._text.object = claim_html(answer, recorded_answers().machine)
        self.root.visible = True
        if not claim.untestable and not query_value(RECIPE):
            sidebar.load(claim.race)
        return ""


def claim_html(answer: ClaimAnswer, machine: str) -> str:
    """Return what a claim says, the paper's values and ours side by side, and how they were measured."""
    claim = answer.claim
    heading = cards.title(f"Is it true? {claim.place} of {claim.authors}", beside=_word(answer.verdict))
    return f"{heading}<p>{escape(claim.sentence)}</p>{_table(answer)}{_why(answer, machine)}"


def _word(verdict: str) -> str:
    look, sign = verdict_look(verdict)
    return f'<span class="word {look}"><i data-sign="{sign}"></i>{escape(verdict)}</span>'


def _table(answer: ClaimAnswer) -> str:
    if not answer.rows:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in COLUMNS)
    whole_first = sorted(answer.rows, key=lambda row: row.title != ALL_DATA)
    body = "".join(_row(row_texts(answer.claim, row)) for row in whole_first)
    return (
        '<div class="scroll low"><table class="results milestones">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(texts: tuple[str, ...]) -> str:
    first, *middle, verdict = texts
    cells = "".join(f"<td>{escape(text)}</td>" for text in middle)
    return f"<tr><th>{escape(first)}</th>{cells}<td>{_word(verdict)}</td></tr>"


def _why(answer: ClaimAnswer, machine: str) -> str:
    claim = answer.claim
    if claim.untestable:
        sentences = [claim.untestable]
    else:
        measured = f"{measured_text(claim)}; {splits_text(answer)}, on {machine}." if answer.rows else ""
        race = f"The controls are set to its race on {claim.race.data.title}, first split, with the paper's stop rule."
        sentences = [measured, claim.note, race, f"To measure it here: mklviz reproduce {claim.name} --quick"]
    return f'<p class="why">{escape(" ".join(filter(None, sentences)))}</p><p class="why">{escape(claim.paper)}</p>'
