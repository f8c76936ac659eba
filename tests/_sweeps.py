"""Tables of results as sweeps give them, made of numbers that are known."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["table", "two_machines"]


def table(
    data: Sequence[str] = ("sonar", "heart"),
    splits: int = 4,
    solvers: Sequence[str] = ("silp", "level", "spg"),
    cost: Callable[[str, int, str], float] | None = None,
    missed: Callable[[str, int, str], bool] = lambda data, split, solver: False,
    seed: int = 0,
    **settings: Sequence[Any],
) -> pd.DataFrame:
    """Return a table in which a run costs `cost`, by default at random, and `missed` says who does not converge."""
    rng, rows = np.random.default_rng(seed), []
    for name, split, solver, *chosen in product(data, range(splits), solvers, *settings.values()):
        solves = float(rng.integers(5, 60)) if cost is None else cost(name, split, solver)
        failed = missed(name, split, solver)
        row = {"data": name, "split": split, "solver": solver, **dict(zip(settings, chosen, strict=True))}
        row |= {"status": "limit" if failed else "converged", "gap": 0.5 if failed else 1e-3}
        row |= {"objective": 10.0 * solves, "svm_solves": solves, "seconds": 0.01 * solves, "fits": 0.9 * solves}
        row |= {"score": 0.8 + 0.001 * split, "kernels": 5, "steps": int(solves), "machine": "one"}
        rows.append(row | {"run": f"run-{len(rows)}", "samples": 100 + len(name), "m": 793})
    return pd.DataFrame(rows)


def two_machines(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table as if every other split had been solved elsewhere."""
    return frame.assign(machine=np.where(frame["split"] % 2, "one", "other"))
