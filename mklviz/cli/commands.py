"""The command line: ``mklviz serve | desktop | run | race | path | lab | gallery | sweep | reproduce | runs``...

Only ``serve`` and what draws (``--html``, ``--svg``) load the screen. Errors are one sentence on the error stream;
`mklviz.cli.exits` has the exit codes.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mklviz.cli.exits import BAD_INPUT, FAILED, INTERRUPTED
from mklviz.cli.parser import LISTS, make_parser
from mklviz.context.allocator import begin_anew
from mklviz.errors import MklvizError, SolverError
from mklviz.limits import STORE
from mklviz.plugins import left_out
from mklviz.quoting import one_line
from mklviz.streams import open_closed_streams

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    `words`: the arguments; those of the process by default.
    """
    open_closed_streams()
    arguments = make_parser().parse_args(words)
    if words is None and arguments.command == "serve":  # this process is the server's alone
        begin_anew()
    logging.getLogger("mklviz").addHandler(logging.NullHandler())  # a broken solver is one sentence here
    message = ""
    try:
        with ended_as_by_ctrl_c():
            code = COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (MklvizError, _data_error(), OSError, MemoryError) as error:
        message = str(error) or "There is not enough memory for this."
        if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"The results could not be written: {error.strerror}."
        print(f"mklviz: {one_line(message)}", file=sys.stderr)
        return FAILED if isinstance(error, SolverError) else BAD_INPUT
    except KeyboardInterrupt:
        print("mklviz: stopped.", file=sys.stderr)
        return INTERRUPTED
    finally:
        for sentence in left_out():
            if sentence not in message:
                print(f"mklviz: {one_line(sentence)}", file=sys.stderr)


def _data_error() -> type[Exception]:
    from mklviz.datasets import DataError  # with NumPy, which the server's front process does without

    return DataError


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Treat a polite request to end like Ctrl-C: keep a run's results so far.

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
    from mklviz.views.host.environment import need_screen

    need_screen()  # before its packages are looked for
    from mklviz.cli.stored import folder_of
    from mklviz.server.front import processes_for, serve

    if folder := folder_of(arguments):  # its processes and its pages read it there
        os.environ[STORE] = folder
    if arguments.dask:
        from mklviz.sweeps import DaskCluster
        from mklviz.sweeps.dask_race import CLUSTER

        DaskCluster(arguments.dask)  # a sentence now, where its package is missing
        os.environ[CLUSTER] = arguments.dask
    serve(
        arguments.port,
        arguments.address,
        arguments.allow_websocket_origin,
        arguments.code,
        arguments.allow_frame,
        show=not arguments.no_show,
        classroom=arguments.classroom,
        shared_runs=arguments.shared_runs,
        processes=arguments.num_procs if arguments.num_procs is not None else processes_for(arguments.classroom),
    )
    return 0


def _desktop(arguments: argparse.Namespace) -> int:
    from mklviz.views.host.environment import need_screen

    need_screen()
    from mklviz.cli.stored import folder_of
    from mklviz.server.desktop import open_desktop

    if folder := folder_of(arguments):
        os.environ[STORE] = folder
    open_desktop(arguments.file)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from mklviz.cli.race import solve_race

    return solve_race(arguments, one=True)


def _race(arguments: argparse.Namespace) -> int:
    from mklviz.cli.race import solve_race

    return solve_race(arguments)


def _path(arguments: argparse.Namespace) -> int:
    from mklviz.cli.path import solve_path

    return solve_path(arguments)


def _lab(arguments: argparse.Namespace) -> int:
    from mklviz.views.host.environment import need_screen

    need_screen()
    from mklviz.cli.lab import solve_lab

    return solve_lab(arguments)


def _gallery(arguments: argparse.Namespace) -> int:
    from mklviz.views.host.environment import need_screen

    need_screen()
    from mklviz.cli.stored import folder_of
    from mklviz.views.export.gallery import save_gallery

    files = save_gallery(arguments.folder, folder_of(arguments) or None)
    print(f"{files[0]}: the index of {len(files) - 1} pages")
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from mklviz.cli.sweep import solve_sweep

    return solve_sweep(arguments)


def _reproduce(arguments: argparse.Namespace) -> int:
    from mklviz.cli.reproduce import answer_claims

    return answer_claims(arguments)


def _runs(arguments: argparse.Namespace) -> int:
    from mklviz.cli.runs import act

    return act(arguments)


def _check(arguments: argparse.Namespace) -> int:
    from mklviz.cli.check import check_plugins

    return check_plugins(arguments)


def _warmup(arguments: argparse.Namespace) -> int:
    from mklviz.cli.warmup import compile_all

    return 0 if compile_all() else INTERRUPTED


def _bench(arguments: argparse.Namespace) -> int:
    from mklviz.bench._command import run_suites

    complete = run_suites(arguments.suites, arguments.quick, arguments.repeats, arguments.json, arguments.plot)
    return 0 if complete else INTERRUPTED


def _completion(arguments: argparse.Namespace) -> int:
    from mklviz.cli.completion import script

    print(script(arguments.shell, make_parser()), end="")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from mklviz.cli.documents import print_document
    from mklviz.cli.lists import gathered, show

    if arguments.json:
        print_document(gathered(arguments.command))
    else:
        show(arguments.command)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "serve": _serve,
    "desktop": _desktop,
    "run": _run,
    "race": _race,
    "path": _path,
    "lab": _lab,
    "gallery": _gallery,
    "sweep": _sweep,
    "reproduce": _reproduce,
    "runs": _runs,
    "check": _check,
    "bench": _bench,
    "warmup": _warmup,
    "completion": _completion,
    **dict.fromkeys(LISTS, _list),
}
