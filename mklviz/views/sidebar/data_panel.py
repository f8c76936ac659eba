"""DATA: which samples, how they are split, and a file of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from param.parameterized import batch_call_watchers

from mklviz.context.memory import LEDGER
from mklviz.datasets import DataError, Dataset, DatasetInfo, TableOptions, Task, describe_datasets, load_dataset
from mklviz.engine.task import STOPPED
from mklviz.errors import ProblemError
from mklviz.numbers import counted
from mklviz.recipe import DataChoice, Recipe, Split
from mklviz.recipe.banks import data_bytes
from mklviz.recipe.choices import digest
from mklviz.recipe.parsing import percent, show_number, show_percent, whole
from mklviz.views.form import Alert, Button, File, FormRow, Group, Heading, Select, Switch
from mklviz.views.sidebar.controls import Section, ValueField, note, say
from mklviz.views.sidebar.own_table import ACCEPTED, UPLOAD_LIMIT, FileReading, TableChoices, check_size, read_file

OWN_FILE, DRAWN = "Your file", "Drawn points"
_FILE_HELP = (
    "A table (CSV, Excel, Parquet, JSON or ARFF), LIBSVM text, arrays of NumPy (.npz) or MATLAB (.mat), kernel or"
    " distance matrices; several files at once, such as kernels and their labels, X and y, or training and test rows;"
    f" at most {UPLOAD_LIMIT // 2**20} MB"
)
_SEVERAL = "More than two classes"
_ALL_AT_ONCE = "All classes at once"
_GROUPS = {"table": "Measured", "generated": "Drawn from a formula", "fetched": "Fetched from the network"}


@dataclass(frozen=True)
class Shape:
    """What the kernel section needs to know of the data; names of features are read when they are asked for."""

    n_train: int
    n_features: int
    feature_names: Callable[[], Sequence[str]] = field(compare=False)
    n_grams: int = 0
    distances: bool = False
    views: bool = False


@cache
def _feature_names(source: str) -> Sequence[str]:
    return load_dataset(source).feature_names


class DataPanel(Section):
    """Chooses the data set and the split."""

    title = "Data"

    def __init__(self) -> None:
        super().__init__()
        self._infos = {info.name: info for info in describe_datasets()}
        self._own: dict[str, Dataset] = {}  # by the choice in the menu
        self.choice = Select(label="Data set", bare=True)
        self.about = note()
        self.positive = Select(label="Classes", options={_ALL_AT_ONCE: ""}, bare=True, value="", visible=False)
        self.tested = note()
        self.train = ValueField("train on", "The share to train on", _share, show_percent)
        self.seed = ValueField("seed", "The seed", lambda text, what: whole(text, what, low=0), show_number)
        self.new_seed = Button(self._draw_seed, label="New", width=52, description="Another split of the same data")
        self.standardize = Switch(label="Standardize features")
        self.file = File(
            label="Use a file of your own", accept=ACCEPTED, limit=UPLOAD_LIMIT, description=_FILE_HELP, several=True
        )
        self.reading, self.table = FileReading(), TableChoices()
        self._content, self._name = b"", ""  # of the file, to be read anew
        self._opened = self._content, self._name  # of the data chosen; the file may be one that was refused
        self._wanted: DataChoice | None = None  # data of a link whose file is still to be opened
        self._instead = ""  # what stands there meanwhile, until other data are chosen
        self.refusal = Alert(visible=False)
        self.misfit = note()
        self.proposal = Button(visible=False, variant="contained")
        chosen = (self.choice, self.file, self.reading.body, self.refusal, self.about, self.misfit, self.proposal)
        split = (self.tested, self.train, FormRow(self.seed, self.new_seed))
        read = (self.table.body, self.positive)
        self.body = Group(Heading(object=self.title), *chosen, *read, *split, self.standardize)
        self._show_choices("ionosphere")
        self.choice.param.watch(self._chosen, "value")
        self.file.param.watch(lambda event: self._refuse(event.new), "trouble")
        self.count(self.positive, self.standardize, self.train, self.seed)
        self.file.param.watch(self._received, "value")
        self.table.param.watch(self.read_again, "asked")

    def load(self, recipe: Recipe) -> None:
        """Show data and split; data of the user's own can be shown only where their file has been opened here."""
        self._wanted = None
        source, own = recipe.data.source, recipe.data.dataset
        if own is not None and not self.has(source):  # of the race of a page that was loaded again
            self._offer(DRAWN, own)
        self.choice.value = self._by_digest().get(source, self.choice.value) if recipe.data.own else source
        say(self.refusal, "")
        self._chosen()
        offered = self.positive.options.values()
        self.positive.value = recipe.data.positive if recipe.data.positive in offered else ""
        self.train.set(recipe.split.train)
        self.seed.set(recipe.split.seed)
        self.standardize.value = recipe.split.standardize

    def parts(self) -> Mapping[str, Any]:
        split = Split(self.train.parsed, self.seed.parsed, self.standardize.value)
        if not self.shape.n_train and self.train.visible:
            share, samples = show_percent(self.train.parsed), counted(self.card.n_samples, "sample")
            raise ProblemError(f"Of {samples}, none is left to train on: enter a larger share than {share}.")
        return {"data": self.chosen, "split": split}

    @property
    def chosen(self) -> DataChoice:
        """The data chosen; data of the user's own go along."""
        own, positive = self._own.get(self.choice.value), self.positive.value or None
        return DataChoice(self.choice.value, positive) if own is None else DataChoice.of(own, positive)

    def expect(self, choice: DataChoice) -> None:
        """Choose these data as soon as their file is opened, its table read as they say."""
        self._wanted, self._instead = choice, self.choice.value

    @property
    def awaited(self) -> DataChoice | None:
        """The data that are still expected, as long as no others were chosen instead."""
        return self._wanted if self._instead else None

    def has(self, source: str) -> bool:
        """Return whether a file of the user's own has this digest."""
        return source in self._by_digest()

    def own(self, wanted: DataChoice) -> DataChoice | None:
        """Return data of the user's own that were opened here, as `wanted`; None where they were not."""
        key = self._by_digest().get(wanted.source)
        return None if key is None else DataChoice.of(self._own[key], wanted.positive)

    @property
    def card(self) -> Dataset | DatasetInfo:
        """What is known of the data chosen: title, size, task and classes."""
        return self._own.get(self.choice.value) or self._infos[self.choice.value]

    @property
    def shape(self) -> Shape:
        """Size of the training part that the controls ask for."""
        own, card = self.chosen.dataset, self.card
        names = partial(_feature_names, card.name) if own is None else lambda: own.feature_names
        grams = 0 if own is None or own.grams is None else len(own.grams)
        distances = own is not None and own.distances
        views = own is not None and own.groups is not None
        n_train = int(self.train.parsed * card.n_samples) if own is None else own.n_train(self.train.parsed)
        return Shape(n_train, card.n_features, names, grams, distances, views)

    @property
    def name_(self) -> str:
        """What people call the data chosen."""
        title = self.card.title
        return f"{title}: {self.positive.value} against the rest" if self.positive.value else title

    @property
    def task(self) -> Task:
        """Whether the data chosen hold classes or numbers to predict; one class against the rest makes two."""
        return "binary" if self.positive.value else self.card.task

    def propose(self, loss: str) -> None:
        """Propose the loss of this name, which fits what is predicted; "" where the one chosen does."""
        held = {"binary": "two classes", "multiclass": f"{len(self.card.classes)} classes", "regression": "numbers"}
        say(self.misfit, f"The target holds {held[self.task]}, which the loss chosen does not fit." if loss else "")
        self.proposal.param.update(label=f"Use the {loss} loss", visible=bool(loss))

    def _by_digest(self) -> dict[str, str]:
        return {digest(own): key for key, own in self._own.items()}

    def _show_choices(self, chosen: str) -> None:
        groups: dict[str, dict[str, str]] = {}
        if self._own:
            groups["Own data"] = {f"{own.title} · {_size(own)}": key for key, own in self._own.items()}
        two = {name: info for name, info in self._infos.items() if info.task != "multiclass"}
        for kind, group in _GROUPS.items():
            groups[group] = {_describe(info): name for name, info in two.items() if info.kind == kind}
        groups[_SEVERAL] = {_describe(info): name for name, info in self._infos.items() if name not in two}
        self.choice.param.update(groups=groups, value=chosen)

    def _chosen(self, *_: Any) -> None:
        if self.choice.value != self._instead:
            self._instead = ""
        card = self.card
        unlabelled = isinstance(card, Dataset) and card.table is not None and card.table.unlabelled
        target = "no target" if unlabelled else " / ".join(card.classes) or "numbers to predict"
        say(self.about, f"{counted(card.n_samples, 'sample')}, {_brings(card)} · {target}")
        own = self._show_table()
        tested = 0 if own is None or own.held_out is None else int(own.held_out.sum())
        self.train.visible = not tested
        say(
            self.tested,
            f"Trained on {card.n_samples - tested:,}, tested on {tested:,}, as the data say." if tested else "",
        )
        classes = card.classes if card.task == "multiclass" else ()
        offered = {_ALL_AT_ONCE: "", **{f"{name} against the rest": name for name in classes}}
        self.positive.visible = bool(classes)
        with batch_call_watchers(self):  # other data may bring other classes: both make one change
            if offered != self.positive.options:
                self.positive.param.update(options=offered, value="")
            self.touched()

    def _show_table(self) -> Dataset | None:
        """Show the choices of the file opened, where its data are chosen; return these."""
        own = self._own.get(OWN_FILE) if self.choice.value == OWN_FILE else None
        self._content, self._name = self._opened
        self.table.show(None if own is None else own.table)
        return own

    def _draw_seed(self, *_: Any) -> None:
        self.seed.set(int(np.random.default_rng().integers(1, 10_000)))

    async def _received(self, event: Any) -> None:
        if event.new is not None:
            await self.receive(event.new, self.file.filename or "The file", self.file.size)

    async def receive(self, content: bytes, name: str, size: int | None = None) -> None:
        """Read an uploaded file off the event loop; a bad one is refused in a sentence and changes nothing.

        `size` is that of the file where it is too large and `content` therefore empty.
        """
        try:
            check_size(name, len(content) if size is None else size)
        except DataError as error:
            self._refuse(str(error))
            return
        if not await self._read_wanted(content, name):
            await self._read(content, name, TableOptions())

    async def read_again(self, *_: Any) -> None:
        """Read the table of the file anew, as the controls now say."""
        await self._read(self._content, self._name, self.table.options, self.table.renamed)
        if self._content is self._opened[0] and not self.reading.task.working:  # else it is read once more already
            self._show_table()

    async def _read_wanted(self, content: bytes, name: str) -> bool:
        """Read a file as a link says that its table was read; return whether it is that file, or was stopped."""
        wanted = self._wanted
        if wanted is None:
            return False
        own = await self.reading.read(content, name, TableOptions(**wanted.table))
        if own is None and self.reading.fault == STOPPED:
            say(self.refusal, f"{name}: {STOPPED}")
            return True
        if own is None or digest(own) != wanted.source:
            return False
        self._wanted = None
        self._take_file(own, content, name)
        self.positive.value = wanted.positive or ""
        return True

    async def _read(self, content: bytes, name: str, options: TableOptions, renamed: bool = False) -> None:
        own = await self.reading.read(content, name, options, renamed)
        if own is not None:
            self._take_file(own, content, name)
        elif self.reading.fault:
            fault, columns, heeded = self.reading.fault, self.reading.refused.columns, self.reading.refused.heeded
            said = fault if name in fault else f"{name}: {fault}"
            if content is self._content and not heeded:  # stopped: the choices shown are still those of the file
                say(self.refusal, said)
                return
            self._refuse(said)
            if content is not self._opened[0] and (columns or "sep" in heeded):
                self._content, self._name = content, name
                self.table.refused(columns, heeded, options)

    def _refuse(self, said: str) -> None:
        """Say why a file is refused; the choices shown are again those of the file opened."""
        say(self.refusal, said)
        self._show_table()

    def _take_file(self, own: Dataset, content: bytes, name: str) -> None:
        self._content, self._name = self._opened = content, name
        self._offer(OWN_FILE, own, len(content))

    def take(self, content: bytes, name: str) -> str:
        """Choose points that were drawn, given as a file is; return their digest.

        Raises `DataError` or `ProblemError`, with a sentence, if they cannot be used.
        """
        if self.body.locked:
            raise ProblemError("The link locks the data: other points cannot be raced here.")
        check_size(name, len(content))
        self._offer(DRAWN, read_file(content, name, TableOptions()))
        return self.chosen.source

    def _offer(self, key: str, own: Dataset, file_bytes: int = 0) -> None:
        """Put own data into the menu, and choose them; they count in the ledger of memory as long as they are held."""
        say(self.refusal, "")
        LEDGER.charge(own, data_bytes(own) + file_bytes)
        self._own[key] = own
        with batch_call_watchers(self):  # a second file takes the place of the first under the same choice
            self._show_choices(key)
            self._chosen()


def _share(text: str, what: str) -> float:
    share = percent(text, what)
    if not 0 < share < 1:
        raise ProblemError(f"{what} must lie between 0 and 100 %, such as 50 %.")
    return share


def _brings(data: Dataset | DatasetInfo) -> str:
    """Return what kernels are made of: features, or matrices."""
    grams = data.grams if isinstance(data, Dataset) else None
    if grams is None:
        return counted(data.n_features, "feature")
    what = "distance" if isinstance(data, Dataset) and data.distances else "Gram"
    return f"{len(grams):,} {what} {'matrix' if len(grams) == 1 else 'matrices'}"


def _size(data: Dataset | DatasetInfo) -> str:
    return f"{data.n_samples:,} × {data.n_features:,}"


def _describe(info: DatasetInfo) -> str:
    task = {"multiclass": f" · {len(info.classes)} classes", "regression": " · regression"}.get(info.task, "")
    return f"{info.title} · {_size(info)}{task}"
