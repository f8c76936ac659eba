"""The papers' claims in the terminal: ``mklviz reproduce [CLAIM ...] [--quick]``."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from typing import Any

from mklviz.cli.documents import print_document
from mklviz.cli.exits import INTERRUPTED
from mklviz.cli.live import aligned, asked_to_stop
from mklviz.cli.stored import store_of
from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.reproduce import ClaimAnswer, ClaimRow, Estimate, reproduce
from mklviz.reproduce.claims import all_claims, load_claim

__all__ = ["answer_claims"]

_HEADER = ("claim", "on", "paper", "ours, by its rule", "ours, certified", "verdict")
_INDENT = "  "


def answer_claims(arguments: argparse.Namespace) -> int:
    """Answer the claims that the command line names, or all; return the exit code."""
    claims = [load_claim(name) for name in arguments.claims] or [*all_claims().values()]
    store = store_of(arguments)
    if store.trouble:
        raise MklvizError(f"Claims are answered from runs in a store. {store.trouble}")
    answers: list[ClaimAnswer] = []
    complete = True
    try:
        with asked_to_stop() as asked:
            for answer in reproduce(claims, store, arguments.quick, arguments.workers, asked.is_set):
                answers.append(answer)
    except KeyboardInterrupt:
        complete = False
    if arguments.json:
        print_document({"complete": complete, "claims": [_document(answer) for answer in answers]})
    elif answers:
        _print(answers)
    if not complete:
        print("mklviz: stopped; what has finished is kept, and is not solved again.", file=sys.stderr)
    return 0 if complete else INTERRUPTED


def _print(answers: list[ClaimAnswer]) -> None:
    """Print a table of all rows, and below it how to see each claim."""
    rows: list[tuple[str, ...]] = [_HEADER]
    for answer in answers:
        if not answer.rows:
            rows.append((answer.claim.name, "–", "–", "–", "–", answer.verdict))
        rows += [_texts(answer, row, answer.claim.name if k == 0 else "") for k, row in enumerate(answer.rows)]
        for what, varied in answer.variations.items():
            rows += [_texts(answer, row, f"{_INDENT}{what}" if k == 0 else "") for k, row in enumerate(varied)]
    print("\n".join(aligned(rows)))
    for answer in answers:
        print(f"\n{_told(answer)}")


def _texts(answer: ClaimAnswer, row: ClaimRow, name: str) -> tuple[str, ...]:
    quantity = answer.claim.quantity
    assert quantity is not None
    published = "–" if math.isnan(row.published) else quantity.text(row.published)
    ours = [_estimate(answer, estimate) for estimate in (row.by_paper_rule, row.certified)]
    return name, row.title, published, *ours, row.verdict


def _estimate(answer: ClaimAnswer, estimate: Estimate) -> str:
    """Return "3.1× (2.5× to 4.0×)"."""
    quantity = answer.claim.quantity
    assert quantity is not None
    if math.isnan(estimate.value):
        return "–"
    text = f"{estimate.bound}{' ' if estimate.bound else ''}{quantity.text(estimate.value)}"
    if math.isnan(estimate.low):
        return text
    return f"{text} ({quantity.text(estimate.low)} to {quantity.text(estimate.high)})"


def _told(answer: ClaimAnswer) -> str:
    """Return what a claim says, of what the verdict was made, and how to see it."""
    claim = answer.claim
    lines = [f"{claim.name}: {answer.verdict}", f"{_INDENT}{claim.sentence} ({claim.place}, {claim.paper})"]
    if claim.untestable:
        return "\n".join([*lines, f"{_INDENT}{claim.untestable}"])
    assert claim.quantity is not None
    assert claim.decided_by is not None
    lines.append(f"{_INDENT}{claim.quantity.label}; reproduces if {claim.decided_by.words}; {answer.splits} splits.")
    if answer.missing:
        lines.append(f"{_INDENT}{counted(answer.missing, 'run')} failed or did not end, and are left out.")
    if claim.note:
        lines.append(f"{_INDENT}{one_line(claim.note, 400)}")
    lines.append(f'{_INDENT}mklviz sweep "{claim.race().to_words()}"')
    lines.append(f"{_INDENT}mklviz serve, then the address with ?claim={claim.name}")
    return "\n".join(lines)


def _document(answer: ClaimAnswer) -> dict[str, Any]:
    """Return an answer as values."""
    claim = answer.claim
    about = {key: getattr(claim, key) for key in ("name", "paper", "place", "sentence", "untestable", "note")}
    quantity = "" if claim.quantity is None else claim.quantity.label
    return {
        **about,
        "quantity": quantity,
        "rules": [*claim.rules],
        "verdict": answer.verdict,
        "quick": answer.quick,
        "splits": answer.splits,
        "missing": answer.missing,
        "rows": [dataclasses.asdict(row) for row in answer.rows],
        "variations": {what: [dataclasses.asdict(row) for row in rows] for what, rows in answer.variations.items()},
    }
