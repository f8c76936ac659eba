"""Which pictures there are, by the names that lessons call them by."""

from __future__ import annotations

from collections.abc import Mapping

from mklviz.scenarios import Scenario
from mklviz.views.lessons import bars, curves, proofs, ways
from mklviz.views.lessons.picture import LessonRuns, Picture, PictureMaker
from mklviz.views.lessons.triangle import triangle

__all__ = ["PICTURES", "picture_of"]

PICTURES: Mapping[str, PictureMaker] = {
    "accuracy": curves.accuracy,
    "certificate": proofs.certificate,
    "digits": curves.digits,
    "few": bars.few_kernels,
    "gap": curves.gap,
    "hill": ways.hill,
    "machines": bars.machines,
    "passes": proofs.passes,
    "path": ways.path,
    "rough": curves.rough,
    "solves": bars.svm_solves,
    "sparse": bars.sparse_or_dense,
    "strips": curves.strips,
    "triangle": triangle,
    "valley": ways.valley,
}


def picture_of(scenario: Scenario, runs: LessonRuns) -> Picture:
    """Return the picture that a lesson names; the usual one for an unknown name."""
    return PICTURES.get(scenario.picture, curves.gap)(runs)
