"""What a person chooses for a race, part by part: data, split, kernels, problem, solvers and stop rules.

A user's own data are known by a digest: "sha256:" and the hash of everything but what they are called. Column and class
names count, as kernels and classes may be chosen by them; the title and where the data came from do
not: those belong to the visitor who brought the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Self
from weakref import WeakKeyDictionary

from mklviz.contract import Solver
from mklviz.datasets import DataError, Dataset, GramFiles, TableOptions
from mklviz.engine import FLAT, make_solver, standard_rules
from mklviz.engine.stop import IterateGap, StopRule, WeightChange
from mklviz.errors import ProblemError, UnknownName
from mklviz.kernels import CACHE_MB, KernelFamily, LearnedPolynomial, Nystrom, paper_families
from mklviz.kernels.evaluation.checks import check_normalization
from mklviz.kernels.evaluation.specs import check_repair
from mklviz.kernels.storage.rows import check_cache
from mklviz.numbers import is_number, is_switch, is_whole
from mklviz.problem import Hinge, Loss, Regularizer, Simplex
from mklviz.quoting import MOST_NAME, one_line

OWN = "sha256:"
_NAMES = ("name", "title", "source", "licence", "doi", "citation")

_digests: WeakKeyDictionary[Dataset, str] = WeakKeyDictionary()  # a recipe asks for it again at every change


def digest(data: Dataset) -> str:
    """Return the digest that a recipe knows these data by; it is computed once for each object."""
    if data not in _digests:
        words: tuple[object, ...] = (data.task, data.classes, data.feature_names, data.kernel_names, data.X.shape)
        words += ("distances",) if data.distances else ()
        content = hashlib.sha256(repr(words).encode())
        for values in (data.X, data.y, data.grams, data.held_out, data.absent):
            for part in values if isinstance(values, GramFiles) else () if values is None else (values,):
                content.update(part.tobytes())
        _digests[data] = OWN + content.hexdigest()
    return _digests[data]


def anonymous(data: Dataset) -> Dataset:
    """Return the data without what belongs to the visitor who brought them, fit to be kept for all."""
    nothing: dict[str, Any] = dict.fromkeys(_NAMES, "")
    return replace(data, **{**nothing, "name": "the file", "title": "The file", "notes": (), "table": None})


def signed(part: Dataset, data: Dataset, positive: str | None) -> Dataset:
    """Return a part of anonymous data under the names of `data`, the whole."""
    whole = data if positive is None else data.against_rest(positive)
    names = {name: getattr(whole, name) for name in _NAMES}
    return replace(part, **names, notes=data.notes + part.notes, table=data.table)


# -- the parts

COMBINATIONS = {
    "sum": "A sum of kernels",
    "product": "A product of kernels",
    "polynomial": "A polynomial of weighted features",
}

TABLE_OPTIONS = tuple(option.name for option in fields(TableOptions))


@dataclass(frozen=True)
class DataChoice(TableOptions):
    """Which data.

    `source`: name known to `load_dataset`, or the digest of a file's content, "sha256:..."; `positive`: the class to
    set against all others, for data with more than two; without it, all classes at once; `dataset`: the data that the
    digest stands for. They go with the recipe, but neither into its words nor its JSON, and recipes compare by the
    digest. Data of another digest than `source` are left out, and so is how a table is read where data have a name.
    """

    source: str = "ionosphere"
    positive: str | None = None
    dataset: Dataset | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, data: Dataset, positive: str | None = None) -> DataChoice:
        """Return the choice of a user's own data, which go with it, and of how their table was read."""
        read = TableOptions() if data.table is None else data.table.options
        table: dict[str, Any] = {name: getattr(read, name) for name in TABLE_OPTIONS}
        return cls(digest(data), positive, data, **table)

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source:
            raise ProblemError(f"Data are given by name or by a file's digest, but {self.source!r:.80} was given.")
        if not isinstance(self.positive, str | None):
            raise ProblemError(f"The class against the rest is given by its name, but {self.positive!r:.80} was given.")
        if not isinstance(self.dataset, Dataset | None):
            raise ProblemError(f"Your own data must be a Dataset, but {self.dataset!r:.80} was given.")
        try:
            options = TableOptions.checked(**self.table)
        except DataError as error:
            raise ProblemError(str(error)) from None
        for name in TABLE_OPTIONS:
            object.__setattr__(self, name, getattr(options if self.own else TableOptions, name))
        if self.dataset is not None and self.source != digest(self.dataset):
            object.__setattr__(self, "dataset", None)

    @property
    def table(self) -> dict[str, Any]:
        """How the table in the file is read, by the names of `read_dataset`."""
        return {name: getattr(self, name) for name in TABLE_OPTIONS}

    @property
    def anonymous(self) -> DataChoice:
        """The choice without the data and without what tells how they were read, which the digest stands for."""
        return DataChoice(self.source, self.positive)

    @property
    def own(self) -> bool:
        """Whether the data came from a user's own file."""
        return self.source.startswith(OWN)

    @property
    def title(self) -> str:
        """What the data are called; a user's own have the name of their file, where they are at hand."""
        if self.own:
            return "Own data" if self.dataset is None else one_line(self.dataset.title, MOST_NAME) or "Own data"
        return self.source.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Split:
    """What is trained on.

    `train`: fraction of the samples trained on; `seed`: seed of the split and of the solvers; `standardize`: whether
    features, and targets that are numbers, are standardized (fitted on the training part).
    """

    train: float = 0.5
    seed: int = 0
    standardize: bool = True

    def __post_init__(self) -> None:
        if not (is_number(self.train) and 0 < self.train < 1):
            raise ProblemError(f"The share to train on must lie between 0 and 1, such as 0.5, not {self.train!r:.80}.")
        if not (is_whole(self.seed) and self.seed >= 0):
            raise ProblemError(f"The seed must be a whole number not below zero, but {self.seed!r:.80} was given.")
        if not is_switch(self.standardize):
            raise ProblemError(f"standardize must be True or False, but {self.standardize!r:.80} was given.")


@dataclass(frozen=True)
class KernelChoice:
    """Which kernels, and how they are kept.

    `combination`: whether the kernels are added, one Gaussian kernel per feature is multiplied, or the weights are
    those of the features in polynomials; few solvers follow the last two; `families`: for a sum; the others have no use
    for them, nor for `normalize`, and take the defaults; `degrees`: degrees of the polynomials, which are added; each
    weighs the features anew; `approximation`: how a sum of kernels is approximated, where n is very large; exact
    kernels where not given; `cache_mb`: memory for kernel rows used lately, of each solver, where matrices are not
    formed; `by_rows`: whether no kernel matrix is formed on fewer samples either; for sums of exact kernels of
    features; `repair`: what is done to negative eigenvalues of Gram matrices, see `KernelBank.from_grams`.
    """

    combination: str = "sum"
    families: Sequence[KernelFamily] = field(default_factory=paper_families)
    normalize: str = "trace"
    degrees: Sequence[int] = (2,)
    approximation: Nystrom | None = None
    cache_mb: int = CACHE_MB
    by_rows: bool = False
    repair: str | None = None

    def __post_init__(self) -> None:
        check_repair(self.repair)
        if not isinstance(self.combination, str) or self.combination not in COMBINATIONS:
            *most, last = COMBINATIONS
            raise UnknownName(f"Kernels make a {', a '.join(most)} or a {last}, not {self.combination!r:.80}.")
        self._check_sum()
        check_normalization(self.normalize)
        check_cache(self.cache_mb)
        added, learned = self.combination == "sum", self.combination == "polynomial"
        self._set("families", tuple(map(_hashable, self.families if added else paper_families())))
        self._set("normalize", self.normalize if added else "trace")
        degrees = tuple(LearnedPolynomial(degree).degree for degree in self.degrees)
        self._set("degrees", degrees if learned else (2,))
        if not degrees:
            raise ProblemError("No degrees of polynomials were given: give at least one, such as 2.")
        if not self.families:
            raise ProblemError("No kernels are chosen: give at least one kernel family.")

    def _check_sum(self) -> None:
        """Refuse what only a sum of exact kernels can do."""
        if not isinstance(self.approximation, Nystrom | None):
            raise ProblemError(f"Kernels are approximated by Nystrom(...), not by {self.approximation!r:.80}.")
        if not is_switch(self.by_rows):
            raise ProblemError(f"by_rows must be True or False, but {self.by_rows!r:.80} was given.")
        if self.approximation is not None and self.combination != "sum":
            what = COMBINATIONS[self.combination]
            raise ProblemError(f"{what} cannot be approximated by landmarks: choose the sum of kernels.")
        if self.by_rows and (self.approximation is not None or self.combination != "sum"):
            raise ProblemError("Only a sum of exact kernels can be computed row by row on request.")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _hashable(family: KernelFamily) -> KernelFamily:
    """Return a family whose list of columns is a tuple."""
    if not isinstance(family, KernelFamily):
        raise ProblemError(f"Kernels are given as families, such as Gaussian(), but {family!r:.80} was given.")
    return family if isinstance(family.on, str | tuple) else replace(family, on=tuple(family.on))


@dataclass(frozen=True)
class ProblemChoice:
    """What is minimized: the loss, with its weight C, and the regularizer of the kernel weights.

    `class_weight`: whether C is multiplied by a weight of each class, so that all classes have the same in sum.
    """

    loss: Loss = field(default_factory=lambda: Hinge(100.0))
    regularizer: Regularizer = field(default_factory=Simplex)
    class_weight: str | None = None

    def __post_init__(self) -> None:
        for what, part, kind in (("loss", self.loss, Loss), ("regularizer", self.regularizer, Regularizer)):
            if not isinstance(part, kind):
                raise ProblemError(f"A {what} is an object, such as Hinge(10.0) or Simplex(), not {part!r:.80}.")
        if self.class_weight not in (None, "balanced"):
            raise ProblemError(f'class_weight is None or "balanced", but {self.class_weight!r:.80} was given.')
        if self.class_weight and (self.loss.regression or self.loss.one_class):
            what = "fits numbers, which have no classes" if self.loss.regression else "knows one class, with none"
            raise ProblemError(f"The {self.loss.label} loss {what} to balance: choose a loss that tells classes apart.")


@dataclass(frozen=True)
class SolverChoice:
    """A solver by name with the options that differ from its defaults, given as a mapping or as pairs."""

    name: str
    options: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(sorted(dict(self.options).items())))

    def make(self, seed: int = 0) -> Solver:
        """Return the solver."""
        return make_solver(self.name, **{"seed": seed, **dict(self.options)})


@dataclass(frozen=True)
class StopChoice:
    """When a run ends; None leaves a rule out.

    `projected_gradient`: the rule that takes the place of the gap where the problem has none, as with a product of
    kernels; `iterate_gap`, `weight_change`: rules of the papers, see `IterateGap` and `WeightChange`.
    """

    gap: float | None = 1e-2
    max_iter: int | None = 500
    max_seconds: float | None = None
    projected_gradient: float | None = FLAT
    iterate_gap: float | None = None
    weight_change: float | None = None

    def __post_init__(self) -> None:
        for convex in (True, False):
            self.rules(convex)

    def rules(self, convex: bool) -> tuple[StopRule, ...]:
        """Return the rules for problems that are convex, or not."""
        also: list[StopRule] = [] if self.iterate_gap is None else [IterateGap(self.iterate_gap)]
        also += [] if self.weight_change is None else [WeightChange(self.weight_change)]
        return standard_rules(self.gap, self.max_iter, self.max_seconds, also, convex, self.projected_gradient)


@dataclass(frozen=True)
class RecipeParts:
    """What a recipe consists of, each part with its usual value."""

    data: DataChoice = field(default_factory=DataChoice)
    split: Split = field(default_factory=Split)
    kernels: KernelChoice = field(default_factory=KernelChoice)
    problem: ProblemChoice = field(default_factory=ProblemChoice)
    solvers: Sequence[SolverChoice] = (SolverChoice("silp"), SolverChoice("level"), SolverChoice("spg"))
    stop: StopChoice = field(default_factory=StopChoice)

    def __post_init__(self) -> None:
        object.__setattr__(self, "solvers", tuple(self.solvers))

    def changed(self, **values: Any) -> Self:
        """Return a copy with some parts, or fields of its parts, changed: ``recipe.changed(train=0.3, gap=1e-3)``."""
        parts: dict[str, Any] = {}
        for part in fields(self):
            mine = values.pop(part.name, getattr(self, part.name))
            if is_dataclass(mine) and not isinstance(mine, type):
                inner = {f.name: values.pop(f.name) for f in fields(mine) if f.name in values}
                mine = replace(mine, **inner) if inner else mine
            parts[part.name] = mine
        return type(self)(**parts, **values)

    @property
    def convex(self) -> bool:
        """Whether the problem is convex and has a gap. Products of kernels, for example, make it non-convex."""
        return self.kernels.combination == "sum" and self.problem.regularizer.conjugated

    @property
    def goal(self) -> float | None:
        """The gap to stop at, or the projected gradient of a problem that has no gap; None where neither ends a run."""
        return self.stop.gap if self.convex else self.stop.projected_gradient

    @property
    def bank_key(self) -> tuple[DataChoice, Split, KernelChoice]:
        """All that `build` depends on; it holds no data, for it is kept."""
        return self.data.anonymous, self.split, self.kernels
