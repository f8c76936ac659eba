"""What the pages let the library say, so that it is never out of date: options, formulations, measurements, lists."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pictures

import mklviz as mv
from mklviz.contract import Solver
from mklviz.datasets import describe_datasets
from mklviz.engine import KINDS, solver_classes
from mklviz.glossary import GLOSSARY
from mklviz.numbers import counted
from mklviz.problem import Loss, loss_families, regularizer_families
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.answering import COLUMNS, contrary_text, measured_text, race_text, row_texts, splits_text
from mklviz.reproduce.recorded import answers_by_paper, how_many_text, recorded_answers, stated_answers
from mklviz.scenarios import scenarios
from mklviz.views.sidebar.problem_panel import follows

WHICH = Path(__file__).with_name("which_solver.json")
WORDS = {  # of the trade, which these pages alone say
    "bank": "All kernels of a problem on the same samples.",
    "iterate": "What a solver shows of one step: weights, dual variables, bounds and facts.",
    "moved": "How often the whole weight was moved from some kernels to others.",
    "oscillates": "Weights that move to and fro after their first steps, to no end.",
    "recipe": "Everything that defines a race, as one value: data, kernels, problem, solvers, stop rules.",
    "trace": "The recording of one run, step by step.",
}


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


# -- solvers


def solver(name: str) -> str:
    """Return a solver's picture, what it did there, what it can follow and its options."""
    made = solver_classes()[name]
    return "\n\n".join(
        [
            f'*{made.paper}.* In the library: `mv.solve(problem, "{name}")`.',
            _run(name, made),
            "## What it can follow",
            followed(made),
            "## Options",
            _options(made),
        ]
    )


def _run(name: str, made: type[Solver]) -> str:
    words, trace = pictures.example(name)
    solves = f"{trace.final.svm_solves:,} SVM solves" if trace.final.svm_solves else "no SVM solve"
    motion = trace.motion
    verdict = f" It {motion}. Verdict: {motion.verdict}."
    steps = len(trace) - 1
    caption = (
        f"{made.label} on {words}: {steps:,} step{'s' if steps != 1 else ''} and {solves}. {trace.reason}"
        f" {trace.best.active} of {trace.best.weights.size} kernels are in use.{verdict if motion.verdict else ''}"
    )
    return f"![Objective, gap and kernel weights of {made.label}](../pictures/solver-{name}.svg)\n\n{caption}"


def _able(made: type[Solver], loss: Loss) -> list[str]:
    """Return the labels of the regularizers with which a solver can follow a loss."""
    prices = regularizer_families().values()
    return [price.label for price in prices if follows(made(), loss, price())]


def followed(made: type[Solver]) -> str:
    """Return the losses and regularizers that a solver can follow, losses of the same regularizers together."""
    rows: dict[str, list[str]] = {}
    for loss in loss_families().values():
        able, label = _able(made, loss()), loss.label
        if not able and loss().bias and not loss.one_class:
            able, label = _able(made, loss(bias=False)), f"{loss.label} without intercept"
        if able:
            rows.setdefault(", ".join(able), []).append(label)
    product = mv.Problem(mv.ProductBank.build(np.eye(2)), np.array([-1.0, 1.0]), mv.Hinge(), mv.L1Penalty())
    also = made().refusal(product) or "It can follow products of kernels and kernels with parameters, too."
    return (
        _table(("losses", "regularizers"), [(", ".join(labels), able) for able, labels in rows.items()]) + f"\n\n{also}"
    )


def _options(made: type[Solver]) -> str:
    defaults = made().options()
    rows = [(f"`{key}`", f"`{value}`", made.param[key].doc or "") for key, value in defaults.items()]
    return _table(("option", "default", "what it does"), rows)


def solvers() -> str:
    """Return every solver with its source, as links."""
    rows = [(f"[{made.label}]({name}.md)", f"`{name}`", made.paper) for name, made in solver_classes().items()]
    return _table(("solver", "name", "source"), rows)


def kinds() -> str:
    """Return which solver is taken for which problem, and what others took."""
    labels = solver_classes()
    rows = [(kind.what, f"[{labels[kind.solver].label}]({kind.solver}.md)", kind.measured) for kind in KINDS]
    return _table(("problem", "solver", "CPU time of the others"), rows)


def which() -> str:
    """Return what the solver recommended took on each problem of the grid, beside the fastest."""
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json.loads(WHICH.read_text(encoding="utf-8"))["rows"]:
        cells.setdefault((row["kind"], row["problem"]), []).append(row)
    labels, rows = solver_classes(), []
    for (_, problem), ran in cells.items():
        taken, best = ran[0], min((row for row in ran if row["reached"]), key=lambda row: float(row["times"]))
        ahead = labels[best["solver"]].label if best is not taken else ""
        times = f"{1.0 / best['times']:.2f}".rstrip("0").rstrip(".")
        size = f"{taken['n']:,} · {taken['m']:,}"
        rows.append((problem, size, labels[taken["solver"]].label, f"{taken['cpu_s']:.2g}", f"{times} {ahead}"))
    return _table(("problem", "points · kernels", "recommended", "CPU s", "times as long as the fastest"), rows)


# -- formulations and lists


def family(name: str) -> str:
    """Return how a loss or a regularizer is written in Python and in words, with its parameters."""
    made = {**loss_families(), **regularizer_families()}[name]
    fields = [field for field in dataclasses.fields(made) if field.init]
    call = ", ".join(f"{field.name}={field.default!r}" for field in fields)
    words = ",".join(f"{field.name}={field.default}" for field in fields)
    return f"`mv.{made.__name__}({call})`, in words `{name}{':' + words if words else ''}`."


def scenario_list() -> str:
    """Return every scenario with what to look for."""
    rows = [(f"`{name}`", scenario.title, scenario.look_for) for name, scenario in scenarios().items()]
    return _table(("scenario", "title", "what to look for"), rows)


def dataset_list() -> str:
    """Return every data set with its size."""
    rows = [
        (
            f"`{info.name}`",
            f"{info.n_samples:,}",
            f"{info.n_features:,}",
            " / ".join(info.classes) or "numbers",
            info.kind,
        )
        for info in describe_datasets()
    ]
    return _table(("name", "samples", "features", "target", "kind"), rows)


def terms() -> dict[str, str]:
    """Return every term with its sentence: the library's own glossary, and what only these pages say."""
    return {**GLOSSARY, **WORDS}


def glossary_list() -> str:
    """Return every term with its sentence, in the order of the alphabet."""
    known = terms()
    return "\n\n".join(f"**{term}**\n:   {known[term]}" for term in sorted(known, key=str.casefold))


def plots() -> str:
    """Return a small picture of each function of `mv.plot`, which leads to its place."""
    names = [name for name in mv.plot.__all__ if name != "save"]
    linked = [f"[![mv.plot.{name}](plots/{name}.png)](plot.md#{name})" for name in names]
    return "\n".join(["```{container} thumbnails", *linked, "```"])


def citation() -> str:
    """Return how to cite this version."""
    return f"""```bibtex
@software{{mklviz,
  title   = {{mklviz: see how multiple kernel learning solvers behave}},
  author  = {{{{The mklviz developers}}}},
  version = {{{mv.__version__}}},
  note    = {{BSD 3-Clause}}
}}
```"""


# -- claims


def claim_list() -> str:
    """Return what came of the claims of each paper: a table of verdicts, and below it the numbers."""
    recorded = recorded_answers()
    versions = ", ".join(f"{name} {version}" for name, version in recorded.versions.items())
    parts = [f"Measured with {versions}."]
    for paper, answers in answers_by_paper().items():
        rows = [
            (f"[{answer.claim.name}](#{answer.claim.name})", answer.claim.sentence, answer.verdict)
            for answer in answers
        ]
        parts += [f"## {paper}", _table(("claim", "what it says", "verdict"), rows), *map(_claim, answers)]
    return "\n\n".join(parts)


def _claim(answer: ClaimAnswer) -> str:
    claim = answer.claim
    paragraphs = [f"### {claim.name}", f"**{answer.verdict}**: {claim.sentence} ({claim.place})"]
    if claim.untestable:
        return "\n\n".join([*paragraphs, claim.untestable])
    left = f" Of the full set {counted(answer.missing, 'run')} are left." if answer.missing else ""
    where = f", on {answer.machine}" if answer.machine else ""
    paragraphs.append(
        f"{measured_text(claim)}; {splits_text(answer)}{where}. {contrary_text(answer)}{left} {claim.note}"
    )
    if answer.rows:
        paragraphs.append(f"![The paper's values and ours: {claim.quantity.label}](pictures/claim-{claim.name}.svg)")
    for what, rows in {"": answer.rows, **answer.variations}.items():
        paragraphs += [f"With {what}:"] if what else []
        paragraphs.append(_table(COLUMNS, [row_texts(claim, row) for row in rows]))
    rules = {"the paper's rule": claim.paper_rule or claim.certified_rule, "certified": claim.certified_rule}
    paragraphs.append("; ".join(f"{name}: `{rule}`" for name, rule in rules.items() if rule) + ".")
    return "\n\n".join([*paragraphs, f"`mklviz reproduce {claim.name}`; `?claim={claim.name}`. {race_text(claim)}"])


def statement_list() -> str:
    """Return what came of every statement of the five papers: a table for each paper."""
    parts = [f"{how_many_text()}."]
    for paper, stated in groupby(stated_answers(), lambda each: each.paper):
        rows = [(each.place, each.sentence, each.verdict, _tested_by(each.names, each.obstacle)) for each in stated]
        parts += [f"## {paper}", _table(("where", "what it says", "verdict", "tested by, or why not"), rows)]
    return "\n\n".join(parts)


def _tested_by(names: list[str], obstacle: str) -> str:
    return " ".join(filter(None, [*(f"[{name}](claims.md#{name.replace('.', '-')})" for name in names), obstacle]))


MADE: dict[str, Callable[..., str]] = {
    "solver": solver,
    "solvers": solvers,
    "kinds": kinds,
    "which": which,
    "family": family,
    "scenarios": scenario_list,
    "datasets": dataset_list,
    "plots": plots,
    "citation": citation,
    "glossary": glossary_list,
    "claims": claim_list,
    "statements": statement_list,
}
"""By the name that pages write."""
