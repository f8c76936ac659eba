"""What the runs of a claim say, and in words: the paper's value for each data set, ours by both rules, a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mklviz.numbers import counted
from mklviz.record.store import Store
from mklviz.reproduce.claim import DOES_NOT, PARTLY, REPRODUCES, UNKNOWN, UNTESTABLE, PaperClaim, together
from mklviz.reproduce.estimates import ALL_DATA, Estimate, Quantity, Ratio
from mklviz.sweeps import Processes, Sweep, SweepRun, SweepTable
from mklviz.sweeps.running import follow, tell_not_kept

Tables = Callable[[Sweep], SweepTable]


@dataclass(frozen=True)
class ClaimRow:
    """A claim on one data set.

    `published`: the paper's value, nan where there is none; `by_paper_rule`, `certified`: ours, by the paper's stop
    rule and by the certified one, nan where that was not measured; both are the same where the rules are.
    """

    title: str
    published: float
    by_paper_rule: Estimate
    certified: Estimate
    verdict: str


@dataclass(frozen=True)
class ClaimAnswer:
    """What came of a claim.

    `splits`: how many splits have results; `missing`: runs that have not ended, or failed; `variations`: the rows with
    settings that the paper leaves open, by what was varied; `machine`: where it was found, of one that was recorded.
    """

    claim: PaperClaim
    verdict: str
    rows: tuple[ClaimRow, ...] = ()
    quick: bool = False
    splits: int = 0
    missing: int = 0
    variations: Mapping[str, tuple[ClaimRow, ...]] = field(default_factory=dict)
    machine: str = ""


def answer_stored(claim: PaperClaim, store: Store, quick: bool = False) -> ClaimAnswer:
    """Return what a store knows of a claim; nothing is solved."""
    return answer_from(claim, lambda sweep: SweepTable.of(store, sweep), quick)


def answer_from(claim: PaperClaim, tables: Tables, quick: bool = False) -> ClaimAnswer:
    """Return the answer that the tables of a claim's sweeps give."""
    if claim.untestable:
        return ClaimAnswer(claim, UNTESTABLE, quick=quick)
    results = [[tables(sweep) for sweep in claim.sweeps(rule, quick)] for rule in claim.rules]
    rows = _rows(claim, results)
    every = [table for by_rule in results for table in by_rule]
    done = [[member for member, outcome in table if outcome.done] for table in every]
    missing = sum(len(table.sweep) for table in every) - sum(map(len, done))
    splits = len({member.split for members in done for member in members})
    verdict = verdict_of(claim, rows)
    varied = _variations(claim, tables) if verdict in (PARTLY, DOES_NOT) and not quick else {}
    return ClaimAnswer(claim, verdict, rows, quick, splits, missing, varied)


def _variations(claim: PaperClaim, tables: Tables) -> Mapping[str, tuple[ClaimRow, ...]]:
    """Return the rows with settings that the paper leaves open, as far as there are results."""
    results = {
        what: _rows(claim, [[*map(tables, claim.sweeps(rule, varied=words))] for rule in claim.rules])
        for what, words in claim.variations.items()
    }
    return {what: rows for what, rows in results.items() if rows}


def verdict_of(claim: PaperClaim, rows: Sequence[ClaimRow]) -> str:
    """Return the verdict over all data sets: that of the whole, unless one of them says the contrary."""
    return PARTLY if contrary_rows(claim, rows) else _whole(rows)


def contrary_rows(claim: PaperClaim, rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """Return the data sets that say the contrary of the whole: by one of the stop rules, where that reproduces."""
    contrary = {REPRODUCES: DOES_NOT, DOES_NOT: REPRODUCES}.get(_whole(rows))
    verdicts = {row: {row.verdict, *(_verdicts(claim, row) if contrary == DOES_NOT else ())} for row in rows}
    return [row for row in rows if row.title != ALL_DATA and contrary in verdicts[row]]


def _whole(rows: Sequence[ClaimRow]) -> str:
    verdicts = {row.title: row.verdict for row in rows}
    return verdicts.get(ALL_DATA) or together([*verdicts.values()])


def _verdicts(claim: PaperClaim, row: ClaimRow) -> list[str]:
    """Return the verdicts by either stop rule."""
    assert claim.decided_by is not None
    return [claim.decided_by.verdict(estimate, row.published) for estimate in (row.by_paper_rule, row.certified)]


def _rows(claim: PaperClaim, tables: list[list[SweepTable]]) -> tuple[ClaimRow, ...]:
    """Return the rows that the tables by each of the claim's rules give."""
    assert claim.quantity is not None
    first, *rest = [_estimates(claim.quantity, [table for table in by_rule if len(table)]) for by_rule in tables]
    second = rest[0] if rest else first if claim.paper_rule in ("", claim.certified_rule) else {}
    published = _published(claim, [*first])
    return tuple(
        _row(claim, title, published.get(title, math.nan), first.get(title, Estimate()), second.get(title, Estimate()))
        for title in sorted(dict.fromkeys([*first, *second]), key=ALL_DATA.__eq__)  # the whole last
    )


def _estimates(quantity: Quantity, tables: list[SweepTable]) -> dict[str, Estimate]:
    """Return what all runs by one rule give; scores are in per cent."""
    import pandas as pd

    if not tables:
        return {}
    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    return quantity.estimates(frame.assign(score=100.0 * frame["score"]))


def _published(claim: PaperClaim, titles: list[str]) -> Mapping[str, float]:
    """Return the paper's values, and for all of several data sets their geometric mean where ratios are averaged.

    It is made of the values that there are, if most data sets have one: papers leave out those where a solver failed.
    """
    known = [claim.published[title] for title in titles if title in claim.published]
    whole = ALL_DATA in titles and 2 * len(known) > len(titles) - 1 and all(value > 0.0 for value in known)
    mean = {ALL_DATA: math.exp(math.fsum(map(math.log, known)) / len(known))} if whole else {}
    return {**mean, **claim.published}


def _row(claim: PaperClaim, title: str, published: float, by_paper_rule: Estimate, certified: Estimate) -> ClaimRow:
    row = ClaimRow(title, published, by_paper_rule, certified, UNKNOWN)
    return replace(row, verdict=together(_verdicts(claim, row)))


# Answer claims: all their sweeps are solved in one queue, so that no core waits for the end of a claim's last run.
# Variations follow when a claim is answered, one sweep after another.


def reproduce(
    claims: Iterable[PaperClaim],
    store: Store,
    quick: bool = False,
    workers: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[ClaimAnswer]:
    """Yield the answer to each claim, when all their runs have ended; progress goes to the error stream.

    What a store knows is not solved again, so that it goes on where it was ended. The settings that a paper leaves open
    are tried where a claim does not reproduce, in the full set.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, or where `stopped` says so, after the answers to claims whose runs had ended; they are in the store.
    """
    known: dict[Sweep, SweepTable] = {}
    engine = Processes(workers)

    def solve(*sweeps: Sweep) -> None:
        run = SweepRun(sweeps[0], store, engine, beside=sweeps[1:])
        try:
            follow(run, stopped)
            tell_not_kept(run)
        finally:
            known.update({sweep: run.table(sweep) for sweep in sweeps})

    def solved(sweep: Sweep) -> SweepTable:
        if sweep not in known:
            solve(sweep)
        return known[sweep]

    left = [*claims]
    testable = [(claim, rule) for claim in left if not claim.untestable for rule in claim.rules]
    sweeps = [sweep for claim, rule in testable for sweep in claim.sweeps(rule, quick)]
    with engine:
        try:
            if sweeps:
                solve(*sweeps)
            while left:
                answer = answer_from(left[0], solved, quick)
                del left[0]
                yield answer
        except KeyboardInterrupt:
            answers = (
                answer_from(claim, lambda sweep: known.get(sweep, SweepTable(sweep, {})), quick) for claim in left
            )
            yield from (answer for answer in answers if not answer.missing)
            raise


# Answers as people read them, on the terminal, in the documentation and on screen.

COLUMNS = ("on", "paper", "ours, by its rule", "ours, certified", "verdict")
NONE = "–"
VERDICT_SIGNS = {REPRODUCES: "✓", PARTLY: "≈", DOES_NOT: "✕", UNTESTABLE: "◇", UNKNOWN: "◇"}


def row_texts(claim: PaperClaim, row: ClaimRow) -> tuple[str, ...]:
    """Return the entries of `COLUMNS`."""
    estimates = [estimate_text(claim, estimate) for estimate in (row.by_paper_rule, row.certified)]
    return row.title, _number(claim, row.published), *estimates, row.verdict


def estimate_text(claim: PaperClaim, estimate: Estimate) -> str:
    """Return "3.1× (2.5× to 4.0×)"."""
    text = f"{estimate.bound} {_number(claim, estimate.value)}".strip()
    if math.isnan(estimate.low):
        return text
    return f"{text} ({_number(claim, estimate.low)} to {_number(claim, estimate.high)})"


def measured_text(claim: PaperClaim) -> str:
    """Return what is measured, and what decides it."""
    if claim.quantity is None or claim.decided_by is None:
        return ""
    label = claim.quantity.label
    return f"{label[0].upper()}{label[1:]}; reproduces if {claim.decided_by.words}"


def race_text(claim: PaperClaim) -> str:
    """Return what the race of a claim is: a ratio of its solvers shows there, but no growth and no mean over splits."""
    rule = "the paper's stop rule" if claim.paper_rule else "the stop rule of the claim"
    example = "" if isinstance(claim.quantity, Ratio) else " It is an example: the measure takes all runs."
    return f"The race shown is the first split of {claim.race.data.title}, with {rule}.{example}"


def contrary_text(answer: ClaimAnswer) -> str:
    """Return which data sets say the contrary of the whole, with the numbers of either; "" where none does."""
    rows = contrary_rows(answer.claim, answer.rows)
    if not rows:
        return ""
    both = [row for row in answer.rows if row.title == ALL_DATA] + rows
    titled_rows = (f"{row.title}: {' and '.join(dict.fromkeys(row_texts(answer.claim, row)[2:4]))}" for row in both)
    return f"Not all data sets say the same. {'; '.join(titled_rows)}."


def splits_text(answer: ClaimAnswer) -> str:
    """Return of how many splits the numbers are: "20 splits", or "up to 10 splits" where runs are missing."""
    quick = " of the quick set" if answer.quick else ""
    return f"{'up to ' if answer.missing else ''}{counted(answer.splits, 'split')}{quick}"


def _number(claim: PaperClaim, value: float) -> str:
    return NONE if math.isnan(value) or claim.quantity is None else claim.quantity.text(value)
