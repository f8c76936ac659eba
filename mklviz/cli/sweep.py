"""Sweeps and claims in the terminal: ``mklviz sweep "data=sonar,heart; split=0...19"`` and ``mklviz reproduce``."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from mklviz.cli.arguments import FAILED, INTERRUPTED, check_output, code_of, store_of, tell_notes
from mklviz.cli.documents import print_document
from mklviz.cli.live import aligned, asked_to_stop
from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.record.store import Store
from mklviz.record.summary import require_parquet
from mklviz.reproduce import ClaimAnswer, answer_stored, reproduce
from mklviz.reproduce.answering import COLUMNS, NONE, contrary_text, measured_text, row_texts, splits_text
from mklviz.reproduce.claims import all_claims, load_claim
from mklviz.reproduce.recorded import answers_document
from mklviz.sweeps import DaskCluster, Engine, Processes, Shard, Sweep, SweepRun, SweepTable
from mklviz.sweeps.running import follow, sweep_of, tell_not_kept
from mklviz.sweeps.table import machines_text, summary_rows


def solve_sweep(arguments: argparse.Namespace) -> int:
    """Solve the sweep that the command line asks for, print and write the results; return the exit code."""
    engine, store = _engine(arguments), store_of(arguments)
    if arguments.parquet is not None:
        require_parquet()
    for file, ending in ((arguments.csv, ".csv"), (arguments.parquet, ".parquet")):
        if file is not None:
            check_output(file, f"--{ending[1:]}", ending)
    sweep = sweep_of(arguments.words)
    tell_notes(dict(sweep.own).values())
    run = SweepRun(sweep, store, engine, retry=arguments.retry)
    if store.enabled and store.trouble:
        print(f"mklviz: {one_line(store.trouble)}", file=sys.stderr)
    if arguments.dry_run:
        _say_what_is_left(run, store, arguments.json)
        return 0
    complete = True
    try:
        with asked_to_stop() as asked:
            follow(run, asked.is_set)
    except KeyboardInterrupt:
        complete = False
    table = run.table()
    if arguments.json:
        document = {"runs": table.frame.to_dict("records"), "not_kept": run.not_kept}
        print_document({**_described(sweep), "complete": complete, **document})
    else:
        _print(table)
    written = _written(table, arguments) and not run.not_kept  # also of a sweep that was ended, or in which runs failed
    sys.stdout.flush()
    tell_not_kept(run)
    return code_of(table.outcomes.values(), sweep.recipe, complete, written)


def _engine(arguments: argparse.Namespace) -> Engine:
    if arguments.dask and (arguments.shard or arguments.workers is not None):
        raise MklvizError("--dask says where to solve the runs: leave --workers and --shard out.")
    if arguments.dask:
        cluster = DaskCluster(arguments.dask)
        cluster.reach()
        return cluster
    processes = Processes(arguments.workers)
    return Shard(arguments.shard, processes) if arguments.shard else processes


def _described(sweep: Sweep) -> dict[str, Any]:
    return {"words": sweep.to_words(), "sweep": json.loads(sweep.to_json()), "key": sweep.key}


def _say_what_is_left(run: SweepRun, store: Store, as_json: bool) -> None:
    """Print which runs there are, and how many of this share a store knows."""
    share = run.members
    known = SweepTable.of(store, run.sweep).outcomes
    there = [known[member.key] for member in share if member.key in known]
    failed = sum(outcome.failed for outcome in there)
    left = len(share) - (sum(outcome.done for outcome in there) if run.retry else len(there))
    if as_json:
        counts = {"runs": len(run.sweep), "share": len(share), "failed": failed, "left": left}
        print_document({**_described(run.sweep), **counts, "finished": len(there) - failed})
        return
    of_share = f", {len(share):,} of them in this share" if len(share) < len(run.sweep) else ""
    print(f"{run.sweep.to_words()}\n{counted(len(run.sweep), 'run')}{of_share}:")
    print(f"{len(there) - failed:,} finished before, {failed:,} failed before, {left:,} left to solve.")
    for data, count in Counter(member.data for member in share if member.key not in known).items():
        print(f"  {data}: {counted(count, 'run')}")


def _print(table: SweepTable) -> None:
    """Print means and spreads, and how the runs ended that did not converge."""
    if not len(table):
        print("No run has ended yet.")
        return
    print("\n".join(aligned(summary_rows(table))))
    machines = machines_text(table)
    if machines:
        print(f"\n{machines}")
    ends = Counter(outcome.status for _, outcome in table)
    for status, sentence in _ENDS.items():
        if ends[status]:
            print(f"{counted(ends[status], 'run')} {sentence}")
    reasons = Counter(outcome.reason for _, outcome in table if outcome.failed)
    for reason, count in reasons.most_common(5):
        print(f"  {one_line(reason)} ({counted(count, 'run')})")


_ENDS = {
    "limit": "did not reach the gap within the limits: means with ≥ would be larger.",
    "rule": "ended by another rule, which proves no gap.",
    "failed": "failed (--retry tries them again):",
}


def _written(table: SweepTable, arguments: argparse.Namespace) -> bool:
    """Write the files that were asked for; return whether that succeeded."""
    file: Path
    written = True
    for file in filter(None, (arguments.csv, arguments.parquet)):
        try:
            table.save(file)
        except OSError as error:
            written = False
            print(f"mklviz: {file} cannot be written: {error.strerror or error}.", file=sys.stderr)
    return written


# -- the papers' claims, of which each is a sweep or several

_INDENT = "  "


def answer_claims(arguments: argparse.Namespace) -> int:
    """Answer the claims that the command line names, or all; return the exit code."""
    claims = [load_claim(name) for name in arguments.claims] or [*all_claims().values()]
    store = store_of(arguments)
    if store.trouble and (store.enabled or arguments.stored):
        raise MklvizError(f"Claims are answered from runs in a store. {store.trouble}")
    answers, complete = list[ClaimAnswer](), True
    try:
        with asked_to_stop() as asked:
            stored = (answer_stored(claim, store, arguments.quick) for claim in claims)
            solved = reproduce(claims, store, arguments.quick, arguments.workers, asked.is_set)
            for answer in stored if arguments.stored else solved:
                answers.append(answer)
    except KeyboardInterrupt:
        complete = False
    if arguments.json:
        print_document(answers_document(answers, complete))
    elif answers:
        _print_answers(answers)
    if not complete:
        kept = "finished runs are kept, and are not solved again" if store.enabled else "no run is kept"
        print(f"mklviz: stopped; {kept}.", file=sys.stderr)
        return INTERRUPTED
    return FAILED if not arguments.stored and any(answer.missing for answer in answers) else 0


def _print_answers(answers: list[ClaimAnswer]) -> None:
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
