"""Answer claims: their sweeps are solved one after another, and what a store knows is not solved again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

from mklviz.record.store import Store
from mklviz.reproduce.answering import ClaimAnswer, answer_from
from mklviz.reproduce.claim import PaperClaim
from mklviz.sweeps import Processes, Sweep, SweepRun, SweepTable
from mklviz.sweeps.following import follow, tell_not_kept

__all__ = ["reproduce"]


def reproduce(
    claims: Iterable[PaperClaim],
    store: Store,
    quick: bool = False,
    workers: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[ClaimAnswer]:
    """Yield the answer to each claim, as its runs have ended; progress goes to the error stream.

    What a store knows is not solved again, so that it goes on where it was ended. The settings that a paper leaves open
    are tried where a claim does not reproduce, in the full set.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, or where `stopped` says so; what had finished is in the store.
    """
    known: dict[str, SweepTable] = {}
    engine = Processes(workers)

    def solved(sweep: Sweep) -> SweepTable:
        if sweep.key not in known:
            run = SweepRun(sweep, store, engine)
            follow(run, stopped)
            tell_not_kept(run)
            known[sweep.key] = run.table()
        return known[sweep.key]

    chosen = [*claims]
    with engine:
        for number, claim in enumerate(chosen, 1):
            if not claim.untestable:
                print(f"{number} of {len(chosen)}, {claim.name}: {claim.sentence}", file=sys.stderr, flush=True)
            yield answer_from(claim, solved, quick)
