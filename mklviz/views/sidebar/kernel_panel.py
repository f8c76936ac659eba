"""KERNELS: a sum with a row per family, a product with a kernel per feature, or polynomials; and how exact they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import param

from mklviz.datasets import DataError
from mklviz.engine import ProblemSize, mean_diagonal
from mklviz.errors import MklvizError, ProblemError
from mklviz.kernels import (
    Bank,
    KernelBank,
    KernelFamily,
    Nystrom,
    NystromBank,
    ParametricBank,
    ProductBank,
    kernel_families,
)
from mklviz.kernels.evaluation.nystrom import CHOICES
from mklviz.kernels.interface import Access
from mklviz.kernels.storage.rows import by_rows
from mklviz.numbers import counted
from mklviz.recipe import KernelChoice, Recipe
from mklviz.recipe.choices import COMBINATIONS as MADE
from mklviz.recipe.parsing import show_number, show_values, values, whole
from mklviz.recipe.prepared import families_of_distances
from mklviz.views.form import Button, FormRow, Group, Heading, Menu, Segments, Select
from mklviz.views.sidebar.controls import Section, Touched, ValueField, note, say
from mklviz.views.sidebar.data_panel import Shape

EXACT, APPROXIMATE = "exact", "approximate"
KINDS = {"exact kernels": EXACT, "approximate kernels, by Nyström": APPROXIMATE}
ABOUT_APPROXIMATE = (
    "Some points, the landmarks, stand for all, so that half a million samples fit. Objective and gap are then exact"
    " for the approximate kernels; how far those are from the exact ones is measured and shown beside the gap."
)


class Precision(Touched):
    """Chooses whether kernels are exact, or approximated by landmarks."""

    applicable = param.Boolean(default=True, doc="Whether the kernels are of a kind that can be approximated")

    def __init__(self) -> None:
        super().__init__()
        default = Nystrom()
        self.kind = Select(label="Exact or approximate kernels", options=KINDS, bare=True, value=EXACT)
        self.about = note()
        self.landmarks = ValueField(
            "landmarks",
            "The number of landmarks",
            lambda text, what: whole(text, what, low=1),
            show_number,
            doc="At most so many for each family and choice of features: more of them are more exact and take longer",
        )
        self.choice = Select(label="chosen by", options={v: k for k, v in CHOICES.items()}, value=default.choice)
        self.details = Group(self.landmarks, self.choice)
        self.body = Group(self.kind, self.details, self.about)
        self.landmarks.set(default.landmarks)
        self._show()
        for control in (self.kind, self.choice):
            control.param.watch(self._changed, "value")
        self.count(self.landmarks)
        self.param.watch(self._show, "applicable")

    @property
    def value(self) -> Nystrom | None:
        """The approximation chosen, None for exact kernels."""
        if self.kind.value == EXACT or not self.applicable:
            return None
        return Nystrom(self.landmarks.parsed, self.choice.value)

    def set(self, approximation: Nystrom | None) -> None:
        """Show an approximation; None stands for exact kernels."""
        self.kind.value = EXACT if approximation is None else APPROXIMATE
        if approximation is not None:
            self.landmarks.set(approximation.landmarks)
            self.choice.value = approximation.choice

    def _changed(self, *_: Any) -> None:
        self._show()
        self.touched()

    def _show(self, *_: Any) -> None:
        approximate = self.applicable and self.kind.value == APPROXIMATE
        self.kind.visible, self.details.visible = self.applicable, approximate
        say(self.about, ABOUT_APPROXIMATE if approximate else "")


ON = {"all": "all", "each": "each", "all + each": "all+each"}
COMBINATIONS = {
    "sum of kernels": "sum",
    "product of Gaussian kernels": "product",
    "polynomial of weighted features": "polynomial",
}
ABOUT_PRODUCT = (
    "K = exp(−Σ dₖ Dₖ), with Dₖ the squared distances along feature k. The weights are learned in the place of the"
    " widths and every k(x, x) is 1, so there are no families, widths or scales to choose. The problem is not convex:"
    " there is no gap, and different starts may end in different minima."
)
ABOUT_POLYNOMIAL = (
    "K = (d₀ + Σ dₖ xₖ zₖ)ᵖ: the weights are parameters of the kernel, one for the constant and one for each feature;"
    " polynomials of several degrees are added, each with parameters of its own. The problem is not convex: there is no"
    " gap, and different starts may end in different minima."
)
ABOUT = {"sum": "", "product": ABOUT_PRODUCT, "polynomial": ABOUT_POLYNOMIAL}
MOST_NAMED = 4  # columns in a menu
NORMALIZE = {
    "unit trace": "trace",
    "mean diagonal of one": "mean-diagonal",
    "unit diagonal": "diagonal",
    "as they are": "none",
}
REPAIR = {"refuse": None, "clip": "clip", "flip": "flip", "shift": "shift"}


class FamilyRow(Touched):
    """One kernel family: its parameters as text, and on which features."""

    def __init__(self, family: KernelFamily, remove: Any) -> None:
        super().__init__()
        self._family = family
        self.values = ValueField(
            family.parameter,
            f"{family.label} {family.parameter}",
            values,
            show_values,
            placeholder="2^-3 … 2^6 or a list",
            doc="A range over powers of two, 2^-3 … 2^6, or over whole numbers, 1 … 3, or a list: 0.5, 1, 2",
        )
        if family.parameter:
            self.values.set(family.values())
        self._options = dict(ON) if family.on in ON.values() else {**ON, _columns(family.on): family.on}
        what = f"{family.label} kernels on which features"
        self.on = Select(label=what, options=dict(self._options), bare=True, value=family.on, width=118)
        about = f"Remove the {family.label} kernels"
        self.remove = Button(lambda *_: remove(self), label="×", variant="text", width=28, description=about)
        head = FormRow(note(family.label, strong=True), self.on, self.remove)
        self.body = Group(head, *([self.values] if family.parameter else []))
        self.count(self.values, self.on)

    def offer_views(self, offered: bool) -> None:
        """Offer a set of kernels on each view of the data, or not."""
        options = {**self._options, **({"each view": "views"} if offered else {})}
        if options != self.on.options and self.on.value in options.values():
            self.on.options = options

    @property
    def family(self) -> KernelFamily:
        parameters = {self._family.parameter: self.values.parsed} if self._family.parameter else {}
        return replace(self._family, on=self.on.value, **parameters)


class KernelPanel(Section):
    """Chooses the kernel bank and says how large it would be."""

    title = "Kernels"

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[FamilyRow] = []
        self._loaded = KernelChoice()
        self.families = Group()
        self._classes = {family.label: family for family in kernel_families().values()}
        self.add = Menu(self.add_family, label="Add kernels", items=list(self._classes))
        self.combination = Select(label="combination", options=COMBINATIONS, bare=True, value="sum")
        self.about = note()
        self.degrees = ValueField(
            "degrees",
            "The degrees",
            lambda text, what: tuple(whole(part, what, low=1) for part in text.split(",")),
            lambda degrees: ", ".join(map(str, degrees)),
            placeholder="2 or 1, 2, 3",
            doc="A degree, or several whose polynomials are added: 1, 2, 3",
        )
        self.degrees.visible = False
        self.normalize = Select(label="scale", options=NORMALIZE, value="trace")
        self.repair_head = note()
        self.repair = Segments(label="negative eigenvalues", options=REPAIR, value=None, visible=False)
        self.precision = Precision()
        self.size, self.storage = note(), note()
        chosen = (self.combination, self.about, self.degrees, self.families, self.add)
        stored = (self.normalize, self.repair_head, self.repair, self.precision.body, self.size, self.storage)
        self.body = Group(Heading(object=self.title), *chosen, *stored)
        self.count(self.precision, name="revision")
        self.count(self.degrees, self.normalize, self.repair)
        self.combination.param.watch(self._combined, "value")

    def load(self, recipe: Recipe) -> None:
        kernels = self._loaded = recipe.kernels
        self.combination.value = kernels.combination
        self.degrees.set(tuple(kernels.degrees))
        self.normalize.value, self.repair.value = kernels.normalize, kernels.repair
        self.precision.set(kernels.approximation)
        self._show([self._row(family) for family in kernels.families])

    @property
    def added(self) -> bool:
        """Whether a sum of kernels is chosen."""
        return bool(self.combination.value == "sum")

    def _combined(self, *_: Any) -> None:
        say(self.about, ABOUT[self.combination.value])
        self.degrees.visible = self.combination.value == "polynomial"
        self.touched()

    def parts(self) -> Mapping[str, Any]:
        return {"kernels": self.chosen}

    @property
    def chosen(self) -> KernelChoice:
        """The kernels as the controls stand; settings without a control stay as they were loaded."""
        combination, cache_mb = self.combination.value, self._loaded.cache_mb
        if combination == "product":
            return KernelChoice("product", cache_mb=cache_mb)
        if not self.added:
            return KernelChoice(combination, degrees=self.degrees.parsed, cache_mb=cache_mb)
        if not self.rows:
            raise ProblemError("No kernels are chosen: add at least one kernel family.")
        families, approximation = tuple(row.family for row in self.rows), self.precision.value
        rows = self._loaded.by_rows and approximation is None
        return KernelChoice(
            "sum",
            families,
            self.normalize.value,
            approximation=approximation,
            cache_mb=cache_mb,
            by_rows=rows,
            repair=self.repair.value,
        )

    def access(self, shape: Shape | None) -> Access:
        """Return how a solver would reach the kernels chosen, for data of this shape."""
        if self.added and self.precision.value is not None:
            return "factors"
        if self.added and self._loaded.by_rows:
            return "rows"
        large = shape is not None and not shape.n_grams and self.combination.value != "polynomial"
        return "rows" if large and shape is not None and by_rows(shape.n_train) else "matrix"

    def suit(self, shape: Shape | None) -> None:
        """Offer what can be chosen for data of this shape: ready Gram matrices leave no families to choose."""
        of_features = self.added and (shape is None or not shape.n_grams)
        self.precision.applicable = of_features
        self.families.visible = self.add.visible = of_features or (self.added and shape is not None and shape.distances)
        self.repair.visible = self.added and not of_features
        say(self.repair_head, "Negative eigenvalues of the matrices:" if self.repair.visible else "")
        for row in self.rows:
            row.offer_views(shape is not None and shape.views)
        self.normalize.visible = self.added

    def show_size(self, shape: Shape | None, built: tuple[str, str] | None = None) -> str:
        """Show how large the bank would be, or what is said of the one `built`; return why it cannot be, or ""."""
        say(self.storage, "" if built is None else built[1])
        try:
            chosen = self.chosen
        except MklvizError:
            say(self.size, "")  # the field at fault says why
            return ""
        try:
            text = "" if shape is None else _estimate(shape, chosen)
        except (MklvizError, DataError) as error:
            say(self.size, str(error))
            return str(error)
        say(self.size, text if built is None else built[0])
        return ""

    def _row(self, family: KernelFamily) -> FamilyRow:
        row = FamilyRow(family, lambda row: self._show([other for other in self.rows if other is not row]))
        self.count(row, name="revision")
        return row

    def _show(self, rows: Sequence[FamilyRow]) -> None:
        self.rows = list(rows)
        self.families.objects = [row.body for row in rows]
        self.touched()

    def add_family(self, label: str) -> None:
        """Add a row of kernels of the family called `label`."""
        self._show([*self.rows, self._row(self._classes[label](on="all"))])


def describe_size(kernels: int, samples: int, nbytes: int, about: str = "", noun: str = "kernel") -> str:
    """Return the size of a bank in words: "442 kernels · 175 points · 11 MB"."""
    return f"{counted(kernels, noun)} · {counted(samples, 'point')} · {about}{_memory(nbytes)}"


def describe_bank(bank: Bank) -> tuple[str, str]:
    """Return how large a bank is and how it is stored: "Kept as: 429 factored, 13 packed; 11 MB."."""
    noun = "parameter" if bank.kind == "parametric" else "kernel"
    size = f"{counted(len(bank), noun)} · {counted(bank.n_samples, 'point')}"
    if bank.backend == f"{len(bank):,} on the fly":
        return size, "Computed on the fly, nothing stored."
    backend = bank.backend if "computed" in bank.backend else bank.backend.replace("on the fly", "computed on the fly")
    return size, " ".join([f"Kept as: {backend}; {_memory(bank.nbytes)}.", *getattr(bank, "notes", ())])


def _memory(nbytes: int) -> str:
    megabytes = nbytes / 2**20
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.{1 if megabytes < 10 else 0}f} MB"


def _estimate(shape: Shape, chosen: KernelChoice) -> str:
    """Return the size of the bank that the kernels chosen would make, in words."""
    combination = chosen.combination
    if combination != "sum" and shape.n_grams:
        raise ProblemError(f"{MADE[combination]} is made of features; this file brings none.")
    if combination == "polynomial":
        nbytes = ParametricBank.check_size(shape.n_train, shape.n_features)
        parameters = len(chosen.degrees) * (shape.n_features + 1)
        return describe_size(parameters, shape.n_train, nbytes, about="about ", noun="parameter")
    if combination == "product":
        kernels, nbytes = ProductBank.check_size(shape.n_train, shape.n_features)
        return describe_size(kernels, shape.n_train, nbytes, about="about ")
    families, approximation = chosen.families, chosen.approximation
    if shape.distances:
        each = sum(len(family.values()) for family in families_of_distances(families))
        matrices = "distance matrix" if shape.n_grams == 1 else "distance matrices"
        return f"{counted(each * shape.n_grams, 'kernel')} of {shape.n_grams:,} {matrices}"
    if shape.n_grams:
        grams = "Gram matrix" if shape.n_grams == 1 else "Gram matrices"
        return f"{shape.n_grams:,} {grams} · {shape.n_train:,} points, as the file brings them"
    names = shape.feature_names() if any(_names_columns(family) for family in families) else None
    size = shape.n_train, shape.n_features, families
    if approximation is not None:
        kernels, nbytes = NystromBank.check_size(*size, approximation, feature_names=names)
        return describe_size(kernels, shape.n_train, nbytes, about="approximate · at most ")
    kernels, nbytes = KernelBank.check_size(*size, feature_names=names)
    text = describe_size(kernels, shape.n_train, nbytes, about="about ")
    _, stored = KernelBank.estimate(*size, names)
    return text if stored == nbytes else f"{text}, as Gaussian kernels are computed whenever they are needed"


def expected_size(shape: Shape, chosen: KernelChoice) -> ProblemSize:
    """Return the size of the problem with these kernels, whose matrices may turn out smaller."""
    n, m = shape.n_train, shape.n_grams or shape.n_features
    nbytes, single = 4 * n * n * m, False
    if not shape.n_grams and chosen.combination == "sum":
        single = all(family.on == "each" for family in chosen.families)
        names = shape.feature_names() if any(map(_names_columns, chosen.families)) else None
        m, nbytes = KernelBank.estimate(n, shape.n_features, chosen.families, names)
    return ProblemSize(n, m, nbytes, mean_diagonal(chosen.normalize, n), single)


def _names_columns(family: KernelFamily) -> bool:
    on = family.on
    return on == "views" if isinstance(on, str) else any(isinstance(column, str) for column in on)


def _columns(on: Any) -> str:
    if on == "views":
        return "each view"
    if isinstance(on, str):
        return f"{int(on.partition(':')[2]):,} random subsets"
    if len(on) > MOST_NAMED:
        return f"{len(on):,} columns"
    shown = ", ".join(str(column) for column in on)
    return f"columns {shown}" if len(on) > 1 else f"column {shown}"
