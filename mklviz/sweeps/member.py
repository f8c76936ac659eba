"""One run of a sweep, the key by which a store knows whether it is done, and what is known of it when it has ended."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS
from mklviz.record import Trace
from mklviz.record.store import StoredRun
from mklviz.record.summary import result_at

RESULT_VERSION = 3  # raised when the numbers of a run change, so that what was stored before is computed again


@dataclass(frozen=True)
class Member:
    """One solver on one data set and split, with one choice of everything that a sweep varies.

    Attributes
    ----------
    recipe : Recipe
        With this solver alone.
    settings : mapping
        What varies beside data, split and solver, by the keys of a recipe's words: a number, or a text.
    earlier : tuple of str
        On a path the values of C before its own: it begins at the solution at the last of them.
    key : str
        SHA-256 digest of the recipe, its solver with options, its seed, what is earlier, and `RESULT_VERSION`.

    Examples
    --------
    >>> member = mv.Sweep.from_words("data=heart; C=1,10").members[1]
    >>> dict(member.settings)
    {'C': 1.0}
    """

    recipe: Recipe
    settings: Mapping[str, float | str] = field(default_factory=dict, compare=False)
    earlier: tuple[str, ...] = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", key_of(self.recipe, self.earlier))

    @property
    def before(self) -> Member | None:
        """The member whose solution it begins at; None where it begins by itself."""
        if not self.earlier:
            return None
        *earlier, last = self.earlier
        return Member(WORDS["C"].read(self.recipe, last), earlier=tuple(earlier))

    @property
    def first(self) -> Recipe:
        """Its recipe at the first value of its path: the time of the whole path is given in fits of that problem."""
        return WORDS["C"].read(self.recipe, self.earlier[0]) if self.earlier else self.recipe

    @property
    def path(self) -> str:
        """A key that the members of one path share: that of the first, which is its own where it is on none."""
        return key_of(self.first) if self.earlier else self.key

    @property
    def data(self) -> str:
        """Name of the data set, or the title of a user's own."""
        own = self.recipe.data.dataset
        return self.recipe.data.source if own is None else own.title

    @property
    def split(self) -> int:
        """Seed of the split, and of the solver."""
        return self.recipe.split.seed

    @property
    def solver(self) -> str:
        """The solver with its options, as words."""
        return WORDS["solvers"].write(self.recipe)

    @property
    def race(self) -> str:
        """A key that the members on the same problem share, which makes a race of them."""
        return f"sweep-{key_of(replace(self.recipe, solvers=()), self.earlier)[:16]}"


def key_of(recipe: Recipe, earlier: tuple[str, ...] = ()) -> str:
    """Return the digest of a recipe, of what is earlier on its path, and `RESULT_VERSION`."""
    parts = {"result": RESULT_VERSION, "recipe": json.loads(recipe.to_json())}
    parts |= {"earlier": earlier} if earlier else {}  # without a path the key is that of older versions
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


# What is known of one member that has ended: a row of the table of results.

DONE = ("converged", "precision", "rule", "limit")  # ends that are not repeated


@dataclass(frozen=True)
class MemberOutcome:
    """How a member ended, and what it took.

    Numbers are nan where a run had none. `results` has what the trace does not know: "score" on the test part and
    "score_label", "moved" (full moves of the weights), "fit_seconds" of one SVM fit of the mean kernel, "samples"
    trained on, "bank" (its kernels) and the "machine".
    """

    key: str
    status: str
    reason: str = ""
    run: str = ""  # in the store
    steps: int = 0
    svm_solves: int = 0
    seconds: float = 0.0
    objective: float = math.nan
    gap: float = math.nan
    kernels: int = 0  # in use
    results: Mapping[str, Any] = field(default_factory=dict)
    unkept: str = ""  # why the store has not kept it

    @classmethod
    def of(cls, key: str, trace: Trace, results: Mapping[str, Any], run: str = "") -> MemberOutcome:
        """Return the outcome that a trace which has ended tells."""
        if not len(trace):
            return cls(key, trace.status, trace.reason, run, results=results)
        end = result_at(trace)
        numbers = (end.iterations, end.svm_solves, end.seconds, end.objective, end.gap, end.active)
        return cls(key, trace.status, trace.reason, run, *numbers, results)

    @classmethod
    def stored(cls, run: StoredRun) -> MemberOutcome:
        """Return the outcome that a store knows."""
        numbers = (run.steps, run.svm_solves, run.seconds, run.objective, run.gap, run.active)
        kinds = {name: str if name in ("machine", "score_label") else (int, float) for name in run.results}
        results = {name: value for name, value in run.results.items() if isinstance(value, kinds[name])}
        return cls(run.member, run.status, run.reason, run.id, *numbers, {"machine": run.machine.id, **results})

    @property
    def failed(self) -> bool:
        """Whether it has no result, and is not repeated unless asked."""
        return self.status == "failed"

    @property
    def done(self) -> bool:
        """Whether it needs no repetition."""
        return self.status in DONE

    @property
    def fits(self) -> float:
        """CPU time in fits of one SVM with the mean kernel."""
        one = self.results.get("fit_seconds", math.nan)
        return self.seconds / one if one else math.nan
