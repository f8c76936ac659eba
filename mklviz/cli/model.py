"""Learn from a table and predict others, without Python: ``mklviz fit mine.csv --out model.skops`` and ``predict``."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mklviz.cli.arguments import SHORT_OF_GAP, check_output, cluster_of, read_own_data
from mklviz.datasets import load_dataset, read_source
from mklviz.kernels.storage.cluster import on_workers
from mklviz.learn import MKLOneClass
from mklviz.learn.table import columns_of, estimator_of, labels_of, load_model, model_bytes, model_of, predicted
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.recipe.parsing import fraction, number, switch, whole
from mklviz.record.archive import replacing
from mklviz.record.summary import write_csv

# the estimator's name of each number, and what reads it
_NUMBERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "C": ("C", lambda text: number(text, "C")),
    "gap": ("tol", lambda text: fraction(text, "The gap to stop at")),
    "max_iter": ("max_iter", lambda text: whole(text, "The number of iterations", low=1)),
    "seed": ("random_state", lambda text: whole(text, "The seed", low=0)),
}
_TEXTS = ("kernels", "loss", "regularizer", "solver", "normalize", "class_weight")


def fit(arguments: argparse.Namespace) -> int:
    """Learn from all rows of a table but those to test, and write what was learned; return the exit code."""
    check_output(arguments.out, "--out", ".skops")
    test, arguments.test = arguments.test, None if _is_file(arguments.test or "") else arguments.test
    own, tested = read_own_data(arguments), None
    if own is None:
        arguments.test = None  # no column of ours says which rows are to test
    data = own or load_dataset(arguments.data)
    if data.held_out is not None:
        data, tested = data.split(standardize=False)
    options: dict[str, Any] = {name: getattr(arguments, name) for name in _TEXTS if getattr(arguments, name)}
    for name, (called, read) in _NUMBERS.items():
        if (text := getattr(arguments, name)) is not None:
            options[called] = read(text)
    with cluster_of(arguments) as client, on_workers(client), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        model = model_of(data, switch(arguments.standardize or "yes", "standardize"), **options)
    for warning in heard:
        if warning.category.__name__ != "ConvergenceWarning":  # which the solver's own sentence and the code say
            print(f"mklviz: {one_line(str(warning.message))}", file=sys.stderr)
    estimator, target = estimator_of(model), columns_of(model).target
    with replacing(arguments.out) as file:
        file.write(model_bytes(model))
    used, rows = int((estimator.weights_ > 0.0).sum()), counted(data.n_samples, "row")
    named = f"the target is {one_line(target)}" + (f": {', '.join(data.classes)}" if data.classes else "")
    one = isinstance(estimator, MKLOneClass)
    if one:
        inside = int((data.y > 0.0).sum())
        named = f"{named}; the {inside:,} of {data.classes[1]} were learned" if inside < len(data.y) else "no target"
    print(f"{data.title}: {rows}, {counted(data.n_features, 'feature')}; {named}")
    print(f"{estimator.trace_.label}: {estimator.trace_.reason}")
    print(f"{used:,} of {counted(len(estimator.weights_), 'kernel')} have weight; {arguments.out} has the model.")
    if tested is not None:
        numbers = data.task == "regression"
        right = (
            float((model.predict(tested.X) == tested.y).mean())
            if one
            else model.score(tested.X, tested.y if numbers else labels_of(tested))
        )
        score = f"R² {right:.3f}" if numbers else f"accuracy {100 * right:.1f} %"
        print(f"{counted(tested.n_samples, 'row')} to test: {score}")
    if test and not arguments.test:
        table, predictions = _predicted(model, test)
        print(f"{test}: {predictions.score(table) or f'there is no column {target} to compare with'}")
    return SHORT_OF_GAP if estimator.trace_.status == "limit" else 0


def _is_file(text: str) -> bool:
    return text == "-" or "://" in text or Path(text).is_file()


def predict(arguments: argparse.Namespace) -> int:
    """Write a table with what a model says of its rows; return the exit code."""
    if arguments.out:
        check_output(arguments.out, "--out", ".csv")
    table, predictions = _predicted(load_model(*read_source(arguments.model)), arguments.data)
    if arguments.out:
        with replacing(arguments.out) as file:
            write_csv(predictions.beside(table), file)
    else:
        write_csv(predictions.beside(table), sys.stdout.buffer)
    summary = "; ".join(filter(None, (counted(len(table.frame), "row"), predictions.score(table))))
    print(f"{arguments.out}: {summary}" if arguments.out else summary, file=sys.stdout if arguments.out else sys.stderr)
    return 0


def _predicted(model: Any, file: str) -> tuple[Any, Any]:
    """Return a table and what a model says of its rows; notes on it are printed."""
    table = columns_of(model).table(*((sys.stdin.buffer.read(), "stdin") if file == "-" else read_source(file)))
    predictions = predicted(model, table)
    for note in predictions.notes:
        print(f"mklviz: {one_line(note)}", file=sys.stderr)
    return table, predictions
