"""Exact or approximate kernels: the controls that choose."""

from __future__ import annotations

from typing import Any

import param

from mklviz.kernels import Nystrom
from mklviz.kernels.evaluation.nystrom import CHOICES
from mklviz.recipe.parsing import show_number, whole
from mklviz.views.form import Group, Select
from mklviz.views.sidebar.controls import Section, ValueField, note, say

__all__ = ["Precision"]

EXACT, APPROXIMATE = "exact", "approximate"
KINDS = {"exact kernels": EXACT, "approximate kernels, by Nyström": APPROXIMATE}
ABOUT = (
    "Some points, the landmarks, stand for all, so that half a million samples fit. Objective and gap are then exact"
    " for the approximate kernels; how far those are from the exact ones is measured and shown beside the gap."
)


class Precision(Section):
    """Chooses whether kernels are exact, or approximated by landmarks."""

    title = "Precision"
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
        self.details = Group(self.landmarks.box, self.choice)
        self.body = Group(self.kind, self.details, self.about)
        self.landmarks.set(default.landmarks)
        self._show()
        for control in (self.kind, self.choice):
            control.param.watch(self._changed, "value")
        self.landmarks.param.watch(self.touched, "revision")
        self.param.watch(self._show, "applicable")

    @property
    def value(self) -> Nystrom | None:
        """The approximation chosen, None for exact kernels."""
        if self.kind.value == EXACT or not self.applicable:
            return None
        return Nystrom(self.landmarks.value, self.choice.value)

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
        say(self.about, ABOUT if approximate else "")
