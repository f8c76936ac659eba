"""The page Claims as HTML: what each paper claims, a line for each claim, with the verdict as a sign and a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import chain

from mklviz.numbers import counted
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.recorded import answers_by_paper
from mklviz.reproduce.verdicts import VERDICTS
from mklviz.views.explorer.claim_card import verdict_html

__all__ = ["claims_html"]


def claims_html() -> str:
    """Return how many claims there are of each verdict, and below them the claims, paper by paper."""
    papers = answers_by_paper()
    return _counts(chain(*papers.values())) + "".join(_of_paper(paper, answers) for paper, answers in papers.items())


def _counts(answers: Iterable[ClaimAnswer]) -> str:
    many = Counter(answer.verdict for answer in answers)
    said = " ".join(f"{many[verdict]} {verdict_html(verdict)}" for verdict in VERDICTS if many[verdict])
    return f'<p class="counts">{counted(many.total(), "claim")}: {said}</p>'


def _of_paper(paper: str, answers: list[ClaimAnswer]) -> str:
    lines = "".join(map(_line, answers))
    return f'<h3>{escape(paper)}</h3><ul class="claims">{lines}</ul>'


def _line(answer: ClaimAnswer) -> str:
    claim = answer.claim
    place = f'href="?claim={escape(claim.name)}" data-page="explore" data-claim="{escape(claim.name)}"'
    told = f"<span>{escape(claim.sentence)}</span><small>{escape(claim.place)}</small>"
    return f"<li><a {place}>{verdict_html(answer.verdict)}{told}</a></li>"
