"""The command line: ``mklviz serve | run | race | path | bench | warmup``, and lists such as ``mklviz datasets``.

Only ``serve`` loads the screen. Errors are one sentence on the error stream; the exit code is 2 where the input was at
fault, 1 where a solver broke down, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mklviz._quoting import one_line
from mklviz.cli.arguments import read_own_data, read_recipe
from mklviz.cli.parser import BAD_INPUT, make_parser
from mklviz.errors import MklvizError
from mklviz.plugins import left_out

__all__ = ["main"]

SOLVER_FAILED, INTERRUPTED = 1, 130


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    words : sequence of str, optional
        The arguments; those of the process by default.
    """
    arguments = make_parser().parse_args(words)
    from mklviz.datasets import DataError

    logging.getLogger("mklviz").addHandler(logging.NullHandler())  # a broken solver is one sentence here
    said = ""
    try:
        with ended_as_by_ctrl_c():
            code = COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (MklvizError, DataError, OSError, MemoryError) as error:
        said = str(error) or "There is not enough memory for this."
        print(f"mklviz: {one_line(said)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("mklviz: stopped.", file=sys.stderr)
        return INTERRUPTED
    finally:
        for sentence in left_out():
            if sentence not in said:
                print(f"mklviz: {one_line(sentence)}", file=sys.stderr)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Let whoever ends this process politely get what Ctrl-C gets: a run's results so far.

    A server answers the signal by itself.
    """
    if threading.current_thread() is not threading.main_thread():  # where Python allows no handler
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve(arguments: argparse.Namespace) -> int:
    from mklviz.server import serve

    given = arguments
    serve(
        given.port,
        given.address,
        given.allow_websocket_origin,
        given.code,
        given.allow_frame,
        show=not given.no_show,
        classroom=given.classroom,
    )
    return 0


def _run(arguments: argparse.Namespace) -> int:
    named = arguments.solvers or arguments.solver_option or arguments.scenario
    return _race(arguments, recommended=not named)


def _race(arguments: argparse.Namespace, recommended: bool = False) -> int:
    from mklviz.cli.live import Building, result_table, warm_up, watch
    from mklviz.cli.outputs import Outputs

    outputs = Outputs(arguments.csv, arguments.save)
    own = read_own_data(arguments.data)
    recipe = read_recipe(arguments, own)
    for choice in recipe.solvers:  # a misspelt name should not have to wait for the kernels
        choice.make(recipe.split.seed)
    prepared = recipe.prepare(own, progress=Building())
    if recommended:
        recipe = recipe.recommended(prepared)
    race = recipe.race(prepared, threads=arguments.threads)
    warm_up(recipe)
    train, problem = prepared.train, prepared.problem
    print(
        f"{train.title}: {problem.n:,} training and {prepared.test.n_samples:,} test samples,"
        f" {problem.m:,} {problem.noun}s"
    )
    sys.stdout.flush()
    undisturbed = watch(race, outputs.keep_up)
    print(f"\n{result_table(race, prepared)}")
    written = outputs.finish(race)
    failed = [run.reason for run in race.runs.values() if run.status == "failed"]
    for reason in failed:
        print(f"mklviz: {reason}", file=sys.stderr)
    return INTERRUPTED if not undisturbed else SOLVER_FAILED if failed else 0 if written else BAD_INPUT


def _path(arguments: argparse.Namespace) -> int:
    from mklviz.cli.path import solve_path

    return 0 if solve_path(arguments) else INTERRUPTED


def _warmup(arguments: argparse.Namespace) -> int:
    from mklviz.cli.warmup import compile_all

    return 0 if compile_all() else INTERRUPTED


def _bench(arguments: argparse.Namespace) -> int:
    from mklviz.bench._command import run_suites

    given = arguments
    return 0 if run_suites(given.suites, given.quick, given.repeats, given.json, given.plot) else INTERRUPTED


def _list(arguments: argparse.Namespace) -> int:
    from mklviz.cli.lists import LISTS

    LISTS[arguments.command]()
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "serve": _serve,
    "run": _run,
    "race": _race,
    "path": _path,
    "bench": _bench,
    "warmup": _warmup,
    **dict.fromkeys(("datasets", "losses", "regularizers", "solvers", "scenarios"), _list),
}
