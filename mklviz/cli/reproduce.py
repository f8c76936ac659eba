"""The papers' claims in the terminal: ``mklviz reproduce [CLAIM ...] [--quick]``."""

from __future__ import annotations

import argparse
import sys

from mklviz.cli.arguments import FAILED, INTERRUPTED, store_of
from mklviz.cli.documents import print_document
from mklviz.cli.live import aligned, asked_to_stop
from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.record.store import Store
from mklviz.reproduce import ClaimAnswer, PaperClaim, answer_stored, reproduce
from mklviz.reproduce.answering import COLUMNS, NONE, contrary_text, measured_text, row_texts, splits_text
from mklviz.reproduce.claims import all_claims, load_claim
from mklviz.reproduce.recorded import answers_document

_INDENT = "  "


def answer_claims(arguments: argparse.Namespace) -> int:
    """Answer the claims that the command line names, or all; return the exit code."""
    claims = [load_claim(name) for name in arguments.claims] or [*all_claims().values()]
    store = store_of(arguments)
    if store.trouble and (store.enabled or arguments.stored):
        raise MklvizError(f"Claims are answered from runs in a store. {store.trouble}")
    answers: list[ClaimAnswer] = []
    complete = _answered(claims, store, arguments, answers)
    if arguments.json:
        print_document(answers_document(answers, complete))
    elif answers:
        _print(answers)
    if not complete:
        kept = "finished runs are kept, and are not solved again" if store.enabled else "no run is kept"
        print(f"mklviz: stopped; {kept}.", file=sys.stderr)
        return INTERRUPTED
    return FAILED if not arguments.stored and any(answer.missing for answer in answers) else 0


def _answered(
    claims: list[PaperClaim], store: Store, arguments: argparse.Namespace, answers: list[ClaimAnswer]
) -> bool:
    """Add the answers to a list one by one, and return whether all were added."""
    if arguments.stored:
        answers += [answer_stored(claim, store, arguments.quick) for claim in claims]
        return True
    try:
        with asked_to_stop() as asked:
            for answer in reproduce(claims, store, arguments.quick, arguments.workers, asked.is_set):
                answers.append(answer)
    except KeyboardInterrupt:
        return False
    return True


def _print(answers: list[ClaimAnswer]) -> None:
    """Print a table of all rows, and below it what each claim says and how to see it."""
    rows: list[tuple[str, ...]] = [("claim", *COLUMNS)]
    for answer in answers:
        if not answer.rows:
            rows.append((answer.claim.name, *[NONE] * (len(COLUMNS) - 1), answer.verdict))
        for name, part in {answer.claim.name: answer.rows, **answer.variations}.items():
            named = name if name == answer.claim.name else f"{_INDENT}{name}"
            rows += [(named if k == 0 else "", *row_texts(answer.claim, row)) for k, row in enumerate(part)]
    print("\n".join(aligned(rows)))
    for answer in answers:
        print(f"\n{_answer_text(answer)}")


def _answer_text(answer: ClaimAnswer) -> str:
    claim = answer.claim
    lines = [f"{claim.name}: {answer.verdict}", f"{claim.sentence} ({claim.place}, {claim.paper})"]
    if claim.untestable:
        lines.append(claim.untestable)
    else:
        lines.append(f"{measured_text(claim)}; {splits_text(answer)}.")
        missing = f"{counted(answer.missing, 'run')} of it have no result yet, or failed." if answer.missing else ""
        lines += [contrary_text(answer), missing, claim.note, f'mklviz sweep "{claim.race.to_words()}"']
        lines.append(f"mklviz serve, and ?claim={claim.name} after the address that it says")
    return f"\n{_INDENT}".join(filter(None, lines))
