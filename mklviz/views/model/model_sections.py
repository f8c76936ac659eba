"""The sections of the Model tab: each computes and draws in a thread, where HoloViews is loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mklviz.analysis import kernel_weights
from mklviz.analysis.decisions import MOST_POINTS, judge, surface
from mklviz.contract import ACTIVE_WEIGHT
from mklviz.typing import Array
from mklviz.views.model.decision_pictures import draw_confusion, draw_decision, draw_predicted, draw_roc
from mklviz.views.model.kernel_pictures import draw_bars, draw_gram, draw_grid, draw_similarity
from mklviz.views.model.model_card import ShownModel, Subject
from mklviz.views.pictures.style import in_card

Report = Callable[[float], None]
BARS = 15  # kernels in a figure that stands beside others
SIDE = 120  # fields along a side of a Gram matrix, some two pixels each
HEAVIEST = 3  # kernels whose Gram matrices are drawn
GRAM_HEIGHT = 230  # pixels
TWINS = 0.9  # alignment from which two kernels count as alike


def weights(subject: Subject, report: Report) -> ShownModel:
    """Draw the weights by kernel, by feature and kernel, and by family."""
    d, bank, theme = subject.iterate.weights, subject.prepared.problem.bank, subject.theme
    colour, noun = subject.style.colour, subject.prepared.problem.noun
    used = int((d > ACTIVE_WEIGHT).sum())
    title = f"Heaviest {noun}s" if used > BARS else f"{noun.capitalize()}s in use"
    bars = kernel_weights.by_kernel(d, bank.names, BARS)
    pictures = [draw_bars(bars, noun, colour, theme, title)]
    words = f"{used:,} of {len(d):,} {noun}s {'is' if used == 1 else 'are'} in use."
    if len(kernel_weights.described(bank)):
        report(0.3)
        pictures.append(draw_grid(kernel_weights.by_feature(d, bank), theme, "By feature and kernel"))
        report(0.6)
        pictures.append(draw_bars(kernel_weights.by_family(d, bank), "family", colour, theme, "By family"))
    return ShownModel(words, _figures(pictures))


def decisions(subject: Subject, report: Report) -> ShownModel:
    prepared, it = subject.prepared, subject.iterate
    decision = surface(prepared.problem, it.weights, it.dual, prepared.train.X)
    report(0.3)
    names = prepared.train.classes, prepared.train.feature_names
    pictures = [draw_decision(decision, prepared.problem, subject.theme, "Training samples", *names)]
    report(0.6)
    if len(prepared.test.y):
        some = kernel_weights.sampled(len(prepared.test.y), MOST_POINTS)
        unseen = np.zeros(len(some), dtype=bool)
        decision = replace(decision, points=prepared.test.X[some], targets=prepared.test.y[some], support=unseen)
        decision = replace(decision, total=len(prepared.test.y))
        pictures.append(draw_decision(decision, prepared.problem, subject.theme, "Held-out samples", *names))
    support = int(np.count_nonzero(it.dual if it.dual.ndim == 1 else it.dual.any(axis=1)))
    words = f"{support:,} of {prepared.problem.n:,} training samples are support vectors."
    if decision.values.min() < 0.0 < decision.values.max() and len(prepared.train.classes) == 2:
        words += " The decision is made at the solid line; the margins are dashed."
    return ShownModel(words, _figures(pictures))


def judged(subject: Subject, report: Report) -> ShownModel:
    """Draw how right the solution is on held-out samples."""
    judgement, theme, colour = judge(subject.prepared, subject.iterate), subject.theme, subject.style.colour
    report(0.5)
    pictures = []
    if judgement.true is not None and judgement.predicted is not None:
        pictures.append(draw_predicted(judgement.true, judgement.predicted, colour, theme))
    if judgement.roc is not None:
        negative, positive = judgement.classes
        pictures.append(draw_roc(judgement.roc, colour, theme, positive, negative))
    if judgement.confused is not None:
        pictures.append(draw_confusion(judgement.confused, judgement.classes, theme))
    return ShownModel(judgement.sentence, _figures(pictures))


def grams(subject: Subject, report: Report) -> ShownModel:
    """Draw the weighted kernel and the heaviest kernels that it is made of."""
    prepared, theme, d = subject.prepared, subject.theme, subject.iterate.weights
    bank, y, classes = prepared.problem.bank, prepared.problem.y, prepared.train.classes
    whole = {"sum": "Weighted sum", "product": "Product", "parametric": "Learned kernel"}[bank.kind]
    parts: list[tuple[str, Array]] = [(whole, d)]
    if bank.kind != "parametric":
        for k in kernel_weights.heaviest(d, HEAVIEST):
            alone = np.zeros_like(d)
            alone[k] = d[k]  # of a product a factor has its weight inside
            parts.append((f"{d[k]:.3f} × {bank.names[int(k)]}", alone))
    pictures = []
    for index, (title, of) in enumerate(parts):
        report(index / len(parts))
        shown = kernel_weights.ordered_gram(bank, of, y, classes, most=SIDE)
        pictures.append(draw_gram(shown, theme, title, GRAM_HEIGHT, bar=False))
    order = "ordered by class" if classes else "ordered by target"
    some = f"{shown.samples:,} of {shown.total:,}" if shown.samples < shown.total else f"{shown.total:,}"
    words = f"How alike two samples are: {some} training samples, {order}. The stronger the colour, the more alike"
    return ShownModel(f"{words}; red is below zero.", _figures(pictures))


def similarities(subject: Subject, report: Report) -> ShownModel:
    """Draw how alike the kernels are that are in use, or come closest to it."""
    problem, d = subject.prepared.problem, subject.iterate.weights
    used = len(kernel_weights.heaviest(d, kernel_weights.MOST_KERNELS))
    alignments = kernel_weights.align(problem.bank, kernel_weights.rivals(problem, subject.iterate), report, ahead=used)
    picture = draw_similarity(alignments, subject.theme, "")
    some = kernel_weights.sampled(problem.n, 300)
    first = f"the {used:,} in use first, then" if 0 < used < len(alignments.kernels) else "in use and"
    words = (
        f"Centred alignment on {len(some):,} samples, 1 for kernels that are the same up to a scale, of the kernels"
        f" {first} those that come closest to it. {twins_text(alignments, d, problem.regularizer.sparse)}"
    )
    return ShownModel(words, _figures([picture]))


def twins_text(alignments: kernel_weights.Alignments, d: Array, sparse: bool) -> str:
    """Say how the heaviest kernel with a near twin shares the weight with it."""
    shares = d[alignments.kernels]
    for index in np.argsort(-shares, kind="stable")[: int((shares > ACTIVE_WEIGHT).sum())]:
        alike = alignments.values[index].copy()
        alike[index] = -1.0
        twin = int(alike.argmax())
        if alike[twin] < TWINS:
            continue
        one, other = alignments.names[index], alignments.names[twin]
        how = f"{one} and {other} are near twins (alignment {alike[twin]:.3f})"
        if shares[twin] > ACTIVE_WEIGHT:
            return f"{how} and share the weight."
        if not sparse:
            return f"{how}. Either would serve; at this step {one} has weight and the other none."
        return f"{how}. Either would serve: l₁ gives all to {one}, slightly the better one, and nothing to the other."
    if not (shares > ACTIVE_WEIGHT).any():
        return "No kernel has weight at this step."
    return "No kernel in use has a near twin, so each of them adds something of its own."


def _figures(pictures: list[Any]) -> tuple[Any, ...]:
    return tuple(map(in_card, pictures))
