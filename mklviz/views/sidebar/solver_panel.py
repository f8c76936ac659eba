"""SOLVERS: which ones take part in the race, each in its colour, and with which options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param

from mklviz.contract import Solver
from mklviz.engine import ProblemSize, kind_of, solver_classes, why_not
from mklviz.errors import ProblemError
from mklviz.kernels.interface import Access
from mklviz.problem import Loss, Problem, Regularizer
from mklviz.recipe import Recipe, SolverChoice
from mklviz.recipe.parsing import bounded, optional, show_number, whole
from mklviz.views.form import Button, Chip, Expander, FormRow, Group, Heading, Reasons, Select, Switch
from mklviz.views.look.palette import LIGHT, theme_for
from mklviz.views.look.styles import own_style
from mklviz.views.sidebar.controls import Section, Touched, ValueField, note, say
from mklviz.views.sidebar.problem_panel import example

_ELSEWHERE = ("name", "seed")  # the seed of the race is set with the data


class EntryEditor(Touched):
    """A solver of the race with its options; buttons for another variant and its removal call `add` and `remove`."""

    def __init__(
        self, choice: SolverChoice, add: Callable[[EntryEditor], None], remove: Callable[[EntryEditor], None]
    ) -> None:
        super().__init__()
        self.name_ = choice.name
        self._class = solver_classes()[choice.name]
        self.title = note(self._class.label, strong=True)
        again = f"Race {self._class.label} once more, with other options"
        copy = Button(lambda *_: add(self), label="Add variant", variant="text", description=again)
        head = FormRow(self.title, copy, Button(lambda *_: remove(self), label="Remove", variant="text"))
        self.controls = {name: option_control(self._class, name) for name in shown_options(self._class)}
        options = dict(choice.options)
        for name, control in self.controls.items():
            set_option(control, options.get(name, self._class.param[name].default))
        self.count(*self.controls.values())
        self.body = Group(head, *(self.controls.values() or [note("This method has no options.")]))

    @property
    def choice(self) -> SolverChoice:
        """The solver with the options that differ from its defaults."""
        options = {name: option_value(control) for name, control in self.controls.items()}
        return SolverChoice(self.name_, {k: v for k, v in options.items() if v != self._class.param[k].default})

    @property
    def solver(self) -> Solver:
        return self.choice.make()

    @property
    def label(self) -> str:
        """The name that the race will give it."""
        try:
            return str(self.solver.name)
        except ValueError:  # an option that cannot be used: its field says why
            return self._class.label


def shown_options(solver: type[Solver]) -> list[str]:
    """Return the options a person may change; a negative precedence hides one, as everywhere in param."""
    return [name for name in solver.param if name not in _ELSEWHERE and (solver.param[name].precedence or 0) >= 0]


OptionControl = ValueField[Any] | Select | Switch


def option_control(solver: type[Solver], name: str) -> OptionControl:
    """Return a control for the option `name` of a solver class."""
    option = solver.param[name]
    words = name.replace("_", " ")
    what = f"{solver.label}: {words}"
    doc = " ".join((option.doc or "").split())
    if isinstance(option, param.Boolean):
        return Switch(label=words, description=doc)
    if isinstance(option, param.Selector):
        names = {str(value): value for value in option.objects}
        return Select(label=words, options=names, description=doc)
    if isinstance(option, param.Number):
        parse: Callable[[str, str], Any] = _within(option)
        return ValueField(words, what, optional(parse) if option.allow_None else parse, show_number, doc=doc)
    return ValueField(words, what, lambda text, _what: text, str, doc=doc)


def option_value(control: OptionControl) -> Any:
    return control.parsed if isinstance(control, ValueField) else control.value


def set_option(control: OptionControl, value: Any) -> None:
    if isinstance(control, ValueField):
        control.set(value)
    else:
        control.value = value


def _within(option: param.Number) -> Callable[[str, str], float]:
    """Return a parser for numbers within the bounds of an option."""
    low, high = option.bounds or (None, None)
    if isinstance(option, param.Integer):
        return lambda text, what: whole(text, what, low, high)
    open_low = not option.inclusive_bounds[0]
    return lambda text, what: bounded(text, what, low, high, open_low)


class SolverPanel(Section):
    """Chooses the solvers; one may take part several times with different options."""

    title = "Solvers"

    def __init__(self) -> None:
        super().__init__()
        self._theme, self._follows_list = LIGHT, False
        self._example: Problem | None = None
        self._impossible = ""  # why there is no problem of the kind chosen
        self.entries: list[EntryEditor] = []
        self._switched_off: dict[str, list[SolverChoice]] = {}  # with their options, for when they are on again
        self.chips = {name: self._chip(solver) for name, solver in solver_classes().items()}
        self.why_not = note()
        self.drop = Button(lambda *_: self._show(self._fit), label="Remove unfit solvers", visible=False)
        self.advice = note()
        self.others = Reasons(visible=False)
        self.options = Expander(title="Options of each solver")
        chips = FormRow(*self.chips.values(), wrap=True)
        words = (self.advice, self.why_not, self.drop, self.others)
        self.body = Group(Heading(object=self.title), chips, *words, self.options)

    def load(self, recipe: Recipe) -> None:
        self._switched_off.clear()
        known = solver_classes()  # without those whose file is broken
        self._show([self._editor(choice) for choice in recipe.solvers if choice.name in known])

    def parts(self) -> Mapping[str, Any]:
        chosen = tuple(entry.choice for entry in self.entries)
        if not chosen:
            raise ProblemError("No solver is chosen: switch on at least one.")
        for entry in self.entries:
            reason = self._reason(entry.solver)
            if reason:
                raise ProblemError(reason)
        return {"solvers": chosen}

    def suit(self, loss: Loss, regularizer: Regularizer, combination: str, access: Access, weighted: bool) -> None:
        """Offer only the solvers that can solve problems of this kind, and say why not the others."""
        self._impossible = ""
        try:
            self._example = example(loss, regularizer, combination, access, weighted)
        except ProblemError as error:
            self._impossible = str(error)
        reasons = {name: self._reason(solver()) for name, solver in solver_classes().items()}
        for name, chip in self.chips.items():
            chip.disabled = bool(reasons[name]) and not chip.value  # one that is on can always be switched off
            chip.description = reasons[name] or _paper(solver_classes()[name])
        self._say_why_not(reasons)

    def _say_why_not(self, reasons: Mapping[str, str]) -> None:
        """Show the reasons of the chosen solvers, and fold those of the others, which may be many."""
        chosen = {entry.name_ for entry in self.entries}
        say(self.why_not, "\n".join(why for name, why in reasons.items() if why and name in chosen))
        self.drop.visible = any(reasons[name] for name in chosen) and any(not reasons[name] for name in chosen)
        others = [why for name, why in reasons.items() if why and name not in chosen]
        count = f"{len(others)} solvers" if len(others) > 1 else "1 solver"
        summary = f"{count} cannot follow; open for the reasons"
        self.others.param.update(summary=summary, items=others, visible=bool(others))

    def advise(self, size: ProblemSize | None) -> None:
        """Say which solver to take where only the solution counts, as soon as the size of the problem is known."""
        kind = None if self._impossible or self._example is None or size is None else kind_of(self._example, size)
        advice = f"Fastest here, as a rule: {solver_classes()[kind.solver].label}. It {kind.why}." if kind else ""
        say(self.advice, advice)

    def set_dark(self, dark: bool) -> None:
        """Use the solvers' colours for dark or light pages."""
        self._theme = theme_for(dark)
        for name, chip in self.chips.items():
            chip.colour = own_style(solver_classes()[name], "", self._theme).colour

    def _reason(self, solver: Solver) -> str:
        if self._impossible or self._example is None:
            return self._impossible
        return why_not(solver, self._example)

    def _chip(self, solver: type[Solver]) -> Chip:
        colour = own_style(solver, "", self._theme).colour
        chip = Chip(label=solver.label, description=_paper(solver), colour=colour)
        chip.param.watch(lambda event, name=solver.name_: self._switched(name, event.new), "value")
        return chip

    def _switched(self, name: str, on: bool) -> None:
        if self._follows_list:
            return
        others = [entry for entry in self.entries if entry.name_ != name]
        mine = [entry.choice for entry in self.entries if entry.name_ == name]
        if on:
            choices = self._switched_off.pop(name, [SolverChoice(name)])
            self._show([*self.entries, *(self._editor(choice) for choice in choices)])
        else:
            self._switched_off[name] = mine
            self._show(others)

    def _editor(self, choice: SolverChoice) -> EntryEditor:
        editor = EntryEditor(choice, self.add_variant, self.remove)
        editor.param.watch(self._edited, "revision")
        return editor

    def _edited(self, *_: Any) -> None:
        self._rename()
        self.touched()

    def add_variant(self, entry: EntryEditor) -> None:
        """Let a solver take part once more; the copy has the same options."""
        after = self.entries.index(entry) + 1
        self._show([*self.entries[:after], self._editor(entry.choice), *self.entries[after:]])

    @property
    def _fit(self) -> list[EntryEditor]:
        """The entries that can solve the problem chosen."""
        return [entry for entry in self.entries if not self._reason(entry.solver)]

    def remove(self, entry: EntryEditor) -> None:
        """Take one entry out of the race."""
        self._show([other for other in self.entries if other is not entry])

    def _show(self, entries: Sequence[EntryEditor]) -> None:
        self.entries = list(entries)
        chosen = {entry.name_ for entry in entries}
        self._follows_list = True  # the chips follow the list here, not the other way round
        for name, chip in self.chips.items():
            chip.value = name in chosen
        self._follows_list = False
        self._rename()
        self.options.param.update(objects=[entry.body for entry in entries], visible=bool(entries))
        self.touched()

    def _rename(self) -> None:
        """Title each entry by its settings, and number equal ones."""
        counts: dict[str, int] = {}
        for entry in self.entries:
            label = entry.label
            counts[label] = counts.get(label, 0) + 1
            entry.title.object = label if counts[label] == 1 else f"{label} {counts[label]}"


def _paper(solver: type[Solver]) -> str:
    return solver.paper or solver.label
