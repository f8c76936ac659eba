"""PROBLEM and STOP WHEN: the loss, the regularizer of the kernel weights, and the rules that end a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel_material_ui as pmui

from mklviz.experiment import Experiment
from mklviz.problem import Hinge, L1Penalty, Regularizer, Simplex
from mklviz.views.controls import Section, ValueField, heading, select
from mklviz.views.parsing import optional, percent, positive, show_number, show_percent, whole

__all__ = ["ProblemPanel", "StopPanel"]


class ProblemPanel(Section):
    """Chooses loss and regularizer."""

    title = "Problem"

    def __init__(self) -> None:
        super().__init__()
        self.loss = select("loss", {Hinge.label: Hinge.name_}, value=Hinge.name_)
        self.weights = select(
            "weights",
            {Simplex.label: Simplex.name_, L1Penalty.label: L1Penalty.name_},
            value=Simplex.name_,
            description="Simplex: the kernel weights sum to one. Linear penalty: each unit of weight costs sigma.",
        )
        self.sigma = ValueField("sigma", "Sigma", positive, show_number, doc="Price of one unit of kernel weight")
        self.C = ValueField("C", "C", positive, show_number, doc="Weight of the loss: a large C fits the data closely")
        self.sigma.set(1.0)
        self.weights.param.watch(self._chosen, "value")
        for field in (self.sigma, self.C):
            field.param.watch(self.touched, "revision")
        self._chosen()

    def _chosen(self, *_: Any) -> None:
        self.sigma.box.visible = self.weights.value == L1Penalty.name_
        self.touched()

    def load(self, experiment: Experiment) -> None:
        regularizer = experiment.regularizer
        self.weights.value = regularizer.name_
        if isinstance(regularizer, L1Penalty):
            self.sigma.set(regularizer.sigma)
        self.C.set(experiment.C)

    @property
    def regularizer(self) -> Regularizer:
        """The regularizer chosen."""
        return L1Penalty(self.sigma.value) if self.weights.value == L1Penalty.name_ else Simplex()

    def fields(self) -> Mapping[str, Any]:
        return {"C": self.C.value, "regularizer": self.regularizer}

    def __panel__(self) -> Any:
        return pmui.Column(
            heading(self.title), self.loss, self.weights, self.sigma, self.C, sizing_mode="stretch_width", margin=0
        )


class StopPanel(Section):
    """Sets the rules that end a run; an empty field leaves its rule out."""

    title = "Stop when"

    def __init__(self) -> None:
        super().__init__()
        self.gap = ValueField(
            "gap below",
            "The gap",
            optional(percent),
            show_percent,
            placeholder="no rule",
            doc="Certified duality gap, relative to the objective; empty: no such rule",
        )
        self.iterations = ValueField(
            "iterations",
            "The number of iterations",
            optional(lambda text, what: whole(text, what, low=1)),
            show_number,
            placeholder="no limit",
        )
        self.seconds = ValueField(
            "CPU seconds", "The number of seconds", optional(positive), show_number, placeholder="no limit"
        )
        for field in (self.gap, self.iterations, self.seconds):
            field.param.watch(self.touched, "revision")

    def load(self, experiment: Experiment) -> None:
        self.gap.set(experiment.gap)
        self.iterations.set(experiment.max_iter)
        self.seconds.set(experiment.max_seconds)

    def fields(self) -> Mapping[str, Any]:
        return {"gap": self.gap.value, "max_iter": self.iterations.value, "max_seconds": self.seconds.value}

    def __panel__(self) -> Any:
        return pmui.Column(
            heading(self.title), self.gap, self.iterations, self.seconds, sizing_mode="stretch_width", margin=0
        )
