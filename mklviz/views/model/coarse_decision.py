"""The decision surface drawn quickly, into figures that are there: f on a coarse mesh, and its lines."""

from __future__ import annotations

import numpy as np

from mklviz.analysis.decisions import level_lines, mesh_over, values_over
from mklviz.engine.task import ProgressReport
from mklviz.views.model.model_card import CoarseModel, Subject

__all__ = ["coarse_decision"]

ACROSS = 40  # meshes: some milliseconds, of which a picture in all detail takes hundreds


def coarse_decision(subject: Subject, report: ProgressReport) -> CoarseModel:
    """Return the columns of the first renderers of `draw_decision`; none unless there are two classes."""
    report(0.0)
    train, it = subject.prepared.train, subject.iterate
    if train.task != "binary":
        return ()
    x, y = mesh_over(train.X, ACROSS)
    values = values_over(subject.prepared.problem, it.weights, it.dual, x, y)
    zeros, margins = (level_lines(x, y, values, *levels) for levels in ((0.0,), (-1.0, 1.0)))
    lines = [{"xs": [x for x, _ in drawn], "ys": [y for _, y in drawn]} for drawn in (zeros, margins)]
    return [("Image", {"image": [values.astype(np.float32)]}), *(("MultiLine", columns) for columns in lines)]
