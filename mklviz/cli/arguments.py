"""From the words of a command line to an experiment: kernels, regularizers, solver options, data."""

from __future__ import annotations

import argparse
import ast
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklviz.errors import MklvizError

if TYPE_CHECKING:
    from mklviz.datasets import Dataset
    from mklviz.kernels import KernelFamily, Nystrom
    from mklviz.problem import Regularizer
    from mklviz.recipe.experiment import Experiment, SolverChoice

KERNELS_HELP = (
    '"paper", or families separated by spaces, each FAMILY[:VALUES][@WHERE] with WHERE one of all, each, all+each'
    ' or a list of columns: "gauss:0.5,1,2@all+each poly:1,2@each linear@0,3"'
)
NYSTROM_HELP = (
    "approximate the kernels by so many landmarks, such as 200, or 200:leverage to choose them by leverage scores"
    " instead of k-means++, for very many samples; none for exact kernels (default)"
)
VARY_HELP = (
    "what varies, in this order: NAME=FROM:TO:COUNT, evenly on a log scale, or NAME=VALUE,VALUE,...; NAME alone takes"
    " 100 values, prices from where all kernel weights are zero, C from 1000 down to 0.01. NAME is C or another number"
    " of --loss or --regularizer"
)
LOSS_HELP = (
    "hinge (default), logistic, squared or epsilon-insensitive:epsilon=0.1; the last two fit numbers as well;"
    " for more than two classes multiclass-hinge (all at once) or one-against-all (one hinge loss per class);"
    " hinge:bias=0 leaves the intercept out"
)
REGULARIZER_HELP = (
    "simplex (default), lp-ball:p=2, l1-penalty:sigma=1, lp-penalty:p=2,sigma=1, power-penalty:p=2,sigma=1,"
    " elastic-net:l1=1,l2=1, block-l1:lam=1, block-power:lam=1,q=1.5, entropy:lam=1,"
    " group-squared:lam=1,alpha=0,p=1.5 or log-det:sigma=1,eps=0.001,price=1; the numbers shown are the defaults where"
    " there are any"
)
DEFAULT_SOLVERS = {"sum": "silp,level,spg", "product": "spg,pgd", "polynomial": "spg,pgd"}


def read_kernels(text: str) -> list[KernelFamily]:
    """Return the kernel families that a text such as ``gauss:0.5,1,2@all+each poly:1,2@each`` describes."""
    from mklviz.kernels import paper_families

    if text.strip() == "paper":
        return paper_families()
    if not text.split():
        raise MklvizError(f"--kernels is empty: give {KERNELS_HELP}.")
    return [_read_family(word) for word in text.split()]


def _read_family(word: str) -> KernelFamily:
    from mklviz.kernels import kernel_families

    head, _, where = word.partition("@")
    name, _, values = head.partition(":")
    families = kernel_families()
    found = [family for key, family in families.items() if name and key.startswith(name)]
    if len(found) != 1:
        raise MklvizError(f"There is no kernel family {name!r} in --kernels; there are {', '.join(families)}.")
    options: dict[str, Any] = {}
    if values:
        if not found[0].parameter:
            raise MklvizError(f"{found[0].label} kernels take no values, but {word!r} gives {values}.")
        options[found[0].parameter] = [_number(value, word) for value in values.split(",")]
    if where:
        options["on"] = (
            where
            if where in ("all", "each", "all+each") or where.startswith("random:")
            else [_column(part) for part in where.split(",")]
        )
    return found[0](**options)


def _number(text: str, word: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MklvizError(f"{text!r} in {word!r} is not a number.") from None


def _column(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def read_regularizer(text: str) -> Regularizer:
    """Return the regularizer that a text such as ``simplex`` or ``lp-penalty:p=1.5,sigma=2`` describes."""
    from mklviz.problem import regularizer_families

    found, given = _read_named(text, "regularizer", regularizer_families())
    regularizer: Regularizer = found(**given)
    return regularizer


def read_loss(text: str) -> dict[str, Any]:
    """Return the fields of an experiment that ``hinge`` or ``epsilon-insensitive:epsilon=0.2,C=10`` sets."""
    from mklviz.problem import loss_families

    found, given = _read_named(text, "loss", loss_families())
    weight = {"C": given.pop("C")} if "C" in given else {}
    return {"loss": found.name_, "loss_options": given, **weight}


def _read_named(text: str, what: str, families: Mapping[str, Any]) -> tuple[Any, dict[str, float]]:
    name, _, options = text.partition(":")
    if name not in families:
        raise MklvizError(f"There is no {what} {name!r}; there are {', '.join(families)}.")
    defaults = {field.name: field.default for field in dataclasses.fields(families[name]) if field.init}
    known = list(defaults)
    given: dict[str, float] = {}
    for part in filter(None, options.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            takes = f"it takes {', '.join(known)}, as in {name}:{known[0]}=1" if known else "it takes none"
            raise MklvizError(f"The {what} {name} has no option {key!r}; {takes}.")
        number = _number(value, text)
        given[key] = bool(number) if isinstance(defaults[key], bool) else number
    return families[name], given


def read_solvers(text: str, options: Sequence[str]) -> tuple[SolverChoice, ...]:
    """Return the solvers of a list ``silp,level`` with options such as ``level.lam=0.5``."""
    from mklviz.recipe.experiment import SolverChoice

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise MklvizError("--solvers is empty: give one or more names, such as silp,level (see: mklviz solvers).")
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for option in options:
        key, equals, value = option.partition("=")
        name, dot, parameter = key.partition(".")
        if not (equals and dot and parameter):
            raise MklvizError(f"--solver-option {option!r} is not of the form SOLVER.OPTION=VALUE, as level.lam=0.5.")
        if name not in chosen:
            raise MklvizError(f"--solver-option {option!r} is for {name!r}, which is not among --solvers {text}.")
        chosen[name][parameter] = _value(value)
    return tuple(SolverChoice(name, given) for name, given in chosen.items())


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def read_data(text: str) -> Dataset:
    """Return the named data set, or the one in the file of that path."""
    from mklviz.datasets import list_datasets, load_dataset, read_dataset

    if text not in list_datasets() and (Path(text).exists() or Path(text).suffix or Path(text).name != text):
        return read_dataset(text)
    return load_dataset(text)


def read_limit(text: str) -> float | None:
    """Return a number, or None for the word "none"."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor the word none") from None


def read_nystrom(text: str) -> Nystrom | None:
    """Return the approximation that ``200`` or ``200:leverage`` describes, None for the word "none"."""
    from mklviz.kernels import Nystrom

    if text.lower() == "none":
        return None
    landmarks, _, choice = text.partition(":")
    if not landmarks.isdecimal():
        raise MklvizError(f"--nystrom {text!r} is neither a number of landmarks, such as 200, nor the word none.")
    return Nystrom(int(landmarks), choice or Nystrom.choice)


def read_count(text: str) -> int | None:
    """Return a whole number, or None for the word "none"."""
    try:
        return None if text.lower() == "none" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor the word none") from None


def read_degrees(text: str) -> tuple[int, ...]:
    """Return the degrees that a text such as ``2`` or ``1,2,3`` lists."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers, such as 1,2,3") from None


def read_experiment(arguments: argparse.Namespace) -> Experiment:
    """Return the scenario's experiment, or the default one, with everything the command line says changed."""
    from mklviz.recipe.experiment import Experiment
    from mklviz.scenarios import load_scenario

    base = load_scenario(arguments.scenario).experiment if arguments.scenario else Experiment()
    changes: dict[str, Any] = {
        key: getattr(arguments, key)
        for key in (
            "train",
            "seed",
            "positive",
            "C",
            "gap",
            "max_iter",
            "max_seconds",
            "combination",
            "degrees",
            "cache_mb",
            "by_rows",
            "projected_gradient",
            "threads",
        )
        if hasattr(arguments, key)
    }
    combination = changes.get("combination", base.combination)
    if combination != base.combination:
        changes.update(_fitting(combination))
    if arguments.kernels is not None:
        if combination != "sum":
            others = {
                "product": "a product has one Gaussian kernel per feature and learns its width",
                "polynomial": "a polynomial learns a weight for each feature",
            }
            raise MklvizError(f"--kernels is for a sum of kernels: {others[combination]}.")
        changes["kernels"] = read_kernels(arguments.kernels)
    if arguments.nystrom is not None:
        changes["approximation"] = read_nystrom(arguments.nystrom)
    if arguments.loss is not None:
        changes = {**read_loss(arguments.loss), **changes}  # --C outweighs a C given with the loss
    if arguments.regularizer is not None:
        changes["regularizer"] = read_regularizer(arguments.regularizer)
    if arguments.solvers is not None or arguments.solver_option:
        if arguments.solvers is None and arguments.scenario:
            raise MklvizError("--solver-option needs --solvers: a scenario brings solvers with options of its own.")
        changes["solvers"] = read_solvers(
            DEFAULT_SOLVERS[combination] if arguments.solvers is None else arguments.solvers, arguments.solver_option
        )
    return dataclasses.replace(base, **changes)


def _fitting(combination: str) -> dict[str, Any]:
    """Return the solvers and the regularizer that suit what the kernels make, unless others are asked for."""
    from mklviz.problem import L1Penalty, Simplex

    regularizer = Simplex() if combination == "sum" else L1Penalty()
    return {"solvers": read_solvers(DEFAULT_SOLVERS[combination], ()), "regularizer": regularizer}
