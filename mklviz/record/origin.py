"""The step of another run from which a run continues: its steps, SVM solves and seconds count on from there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """A step of a run, from which another goes on."""

    label: str  # name of the run that took the step
    step: int  # which it was
    svm_solves: int  # SVMs solved by then
    seconds: float  # CPU seconds spent by then
    # the same seconds by part; empty where they were not measured
    split: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what a file says of it."""
        return {name: getattr(self, name) for name in ("label", "step", "svm_solves", "seconds")} | {
            "split": dict(self.split)
        }

    @classmethod
    def read(cls, fields: Any) -> Origin | None:
        """Return the origin that a file states, None for a run that began by itself.

        Raises `ValueError` if the file states something else.
        """
        if fields is None:
            return None
        if not isinstance(fields, dict) or set(fields) != {"label", "step", "svm_solves", "seconds", "split"}:
            raise ValueError("it does not say where it began")
        counts = [fields["step"], fields["svm_solves"]]
        spent = fields["split"] if isinstance(fields["split"], dict) else {"": math.nan}
        seconds = [fields["seconds"], *spent.values()]
        whole = all(type(count) is int and 0 <= count < 2**53 for count in counts)
        measured = all(type(each) in (int, float) and 0.0 <= each < math.inf for each in seconds)
        if not (isinstance(fields["label"], str) and whole and measured):
            raise ValueError("where it began is no step of a run")
        split = {str(part): float(each) for part, each in spent.items()}
        return cls(fields["label"], fields["step"], fields["svm_solves"], float(fields["seconds"]), split)
