"""The command line: ``mklviz serve | desktop | run | race | path | fit | predict | lab | sweep | reproduce | runs``...

Only ``serve`` and what draws (``--html``, ``--svg``) load the screen. Errors are one sentence on the error stream;
`mklviz.cli.arguments` has the exit codes.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklviz.cli.arguments import BAD_INPUT, FAILED, INTERRUPTED, check_output, folder_of, keep_inputs, read_recipe
from mklviz.cli.parser import LISTS, make_parser
from mklviz.context.memory import begin_anew
from mklviz.errors import MklvizError, SolverError
from mklviz.limits import LESSONS, STORE
from mklviz.plugins import left_out
from mklviz.quoting import one_line
from mklviz.streams import ProgressLine, prepare_streams

if TYPE_CHECKING:
    from mklviz.analysis.knob_grid import LabKnob
    from mklviz.check.plugin import Plugin


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, or those of the process, and return its exit code."""
    prepare_streams()
    arguments = make_parser().parse_args(words)
    if words is None and arguments.command == "serve":  # this process is the server's alone
        begin_anew()
    logging.getLogger("mklviz").addHandler(logging.NullHandler())  # a broken solver is one sentence here
    message = ""
    try:
        keep_inputs(arguments)
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
        if isinstance(error, OSError) and error.filename is None and error.errno == errno.ENOENT:  # of os.getcwd
            message = "The folder that this command was called in is gone: change into another one."
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
    """Treat a polite request to end like Ctrl-C, which keeps results; a server answers the signal by itself."""
    if threading.current_thread() is not threading.main_thread():  # where Python allows no handler
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _on_screen(command: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Return a command that says at first where the screen's packages are missing."""

    def call(arguments: argparse.Namespace) -> int:
        from mklviz.views.host.environment import need_screen

        need_screen()
        return command(arguments)

    return call


def _serve(arguments: argparse.Namespace) -> int:
    from mklviz.server.front import processes_for, serve

    if folder := folder_of(arguments):  # its processes and its pages read it there
        os.environ[STORE] = folder
    if arguments.lessons is not None:
        if not arguments.lessons.is_dir():
            raise MklvizError(f"There is no folder {arguments.lessons}: give one of lessons, as --lessons my-lessons.")
        os.environ[LESSONS] = str(arguments.lessons.absolute())
    if arguments.dask:
        from mklviz.sweeps import DaskCluster
        from mklviz.sweeps.dask_race import CLUSTER

        DaskCluster(arguments.dask).reach()  # a sentence now, where its package is missing or no scheduler there
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
        prefix=arguments.prefix,
        processes=arguments.num_procs if arguments.num_procs is not None else processes_for(arguments.classroom),
    )
    return 0


def _command(module: str, function: str, **options: Any) -> Callable[[argparse.Namespace], int]:
    """Return a command of a module of its own, which is loaded when it is called for."""

    def call(arguments: argparse.Namespace) -> int:
        return int(getattr(import_module(f"mklviz.cli.{module}"), function)(arguments, **options))

    return call


def _desktop(arguments: argparse.Namespace) -> int:
    from mklviz.server.desktop import open_desktop

    if folder := folder_of(arguments):
        os.environ[STORE] = folder
    open_desktop(arguments.file)
    return 0


def _lab(arguments: argparse.Namespace) -> int:
    from mklviz.analysis.knob_grid import LabGrid, usual_solvers
    from mklviz.numbers import counted
    from mklviz.views.export.lab_page import write_lab

    output = arguments.output
    check_output(output)
    knobs = tuple(map(_read_knob, arguments.knob))
    recipe = read_recipe(arguments)
    if arguments.solvers is None and not arguments.scenario:
        recipe = replace(recipe, solvers=usual_solvers(knobs))
    grid = LabGrid(recipe, knobs)
    write_lab(grid, output, folder_of(arguments) or None)
    print(f"{output}: {counted(len(grid.recipes), 'position')}, {output.stat().st_size / 1e6:.2f} MB")
    return 0


def _read_knob(text: str) -> LabKnob:
    from mklviz.analysis.knob_grid import LabKnob
    from mklviz.cli.path import read_vary
    from mklviz.recipe.parsing import literal

    name, _, listed = (part.strip() for part in text.partition("="))
    if ":" in listed:
        _, values = read_vary(text, "--knob")
        return LabKnob(name, () if values is None else values.tolist())
    return LabKnob(name, [literal(word) for word in filter(None, listed.split(","))])


def _page(arguments: argparse.Namespace) -> int:
    from mklviz.views.export.playground import save_playground

    check_output(arguments.out)
    save_playground(arguments.out, arguments.lang)
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e3:.0f} kB")
    return 0


def _lessons(arguments: argparse.Namespace) -> int:
    if arguments.what == "check":
        return _check_lessons(arguments.files)
    if arguments.format is None or arguments.files:
        raise MklvizError("Say for which course system: mklviz lessons export --format gift, qti or h5p.")
    from mklviz.record.archive import replacing
    from mklviz.scenarios import lessons
    from mklviz.views.chart.pixels import require
    from mklviz.views.export.course import FORMATS, answered, written

    require(".png")
    check_output(output := arguments.out or Path(f"lessons{FORMATS[arguments.format][0]}"))
    questions, asked = [], lessons().values()
    for number, lesson in enumerate(asked, 1):
        print(f"{number} of {len(asked)}: {lesson.title}", file=sys.stderr)
        questions.append(answered(lesson))
    with replacing(output) as file:
        file.write(written(questions, arguments.format))
    print(f"{output}: {len(questions)} questions")
    return 0


def _check_lessons(named: Sequence[Path]) -> int:
    """Solve lessons of one's own, record them beside their files, and print what came out or what is wrong."""
    given = [Path(folder).expanduser() for folder in filter(None, [os.environ.get(LESSONS)])]
    files = chain.from_iterable(sorted(each.glob("*.md")) if each.is_dir() else [each] for each in named or given)
    codes = [_check_lesson(file) for file in files]
    if not codes:
        raise MklvizError(f"There are no lessons: name files or a folder, or give a folder by {LESSONS}.")
    return max(codes)


def _check_lesson(file: Path) -> int:
    from mklviz.record.bundle import write_recording
    from mklviz.scenarios import read_lesson, recording_beside, solved
    from mklviz.views.lessons.pictures import drawn

    try:
        lesson = read_lesson(file)
        outcome = solved(lesson)
        answer = None if lesson.question is None else lesson.question.answer(outcome)
        evidence = {} if answer is None else answer.evidence
        drawn(lesson, outcome.traces, evidence)
    except (MklvizError, _data_error()) as error:
        print(f"{file}: {one_line(str(error))}", flush=True)
        return BAD_INPUT
    for before in file.parent.glob(f"{file.stem}.{'[0-9a-f]' * 8}.zip"):
        before.unlink()
    write_recording(recording_beside(file, lesson), outcome.traces, evidence)
    sentence = "it runs, and asks nothing." if answer is None else f"“{answer.choice}”: {answer.because}. {answer.why}"
    print(f"{file}: {sentence}", flush=True)
    return 0


def _gallery(arguments: argparse.Namespace) -> int:
    from mklviz.views.export.gallery import save_gallery

    files = save_gallery(arguments.folder, folder_of(arguments) or None)
    print(f"{files[0]}: the index of {len(files) - 1} pages")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from mklviz.check import plugins_in
    from mklviz.cli.documents import print_document

    plugins = [_checked(plugin, arguments.json) for plugin in plugins_in(arguments.where)]
    if arguments.json:
        print_document({"where": arguments.where, "plugins": plugins})
    return FAILED if any(promise["broken"] for each in plugins for promise in each["promises"]) else 0


def _checked(plugin: Plugin, silent: bool) -> dict[str, Any]:
    """Return one plug-in's promises as values, printed as they are tried unless `silent`."""
    from mklviz.check import checked

    name = getattr(plugin.made, "name_", "")
    promises: list[dict[str, Any]] = []
    if not silent:
        print(f"{plugin.kind} {name or plugin.made.__name__}")
    for outcome in checked(plugin):
        promises.append({"promise": outcome.promise, "kept": not outcome.broken, "broken": outcome.broken or None})
        if not silent:
            print(f"  {'broken' if outcome.broken else 'kept':<8}{outcome.promise}")
            if outcome.broken:
                print(f"{'':10}{one_line(outcome.broken)}")
            sys.stdout.flush()
    if not silent:
        print(f"{sum(each['kept'] for each in promises)} of {len(promises)} promises are kept.")
    return {"kind": plugin.kind, "name": name, "class": plugin.made.__name__, "promises": promises}


def _warmup(arguments: argparse.Namespace) -> int:
    """Compile into numba's cache whatever is not there yet; Ctrl-C ends it, and what has been compiled stays."""
    from mklviz.engine.compiling import PARTS, CompilePool

    begun, line = time.monotonic(), ProgressLine(patience=0.0)
    try:
        with CompilePool().open() as pool:
            for part in PARTS:
                line.update(lambda: f"compiling: {100 * pool.fraction:.0f} %")
                pool.ensure(part)
    except KeyboardInterrupt:
        print("\nmklviz: stopped; compiled functions stay, and the next call continues.", file=sys.stderr)
        return INTERRUPTED
    line.finish("compiling: 100 %")
    print(f"Everything is compiled; it took {time.monotonic() - begun:.1f} s.")
    return 0


def _bench(arguments: argparse.Namespace) -> int:
    from mklviz.bench._suite import run_suites

    complete = run_suites(arguments.suites, arguments.quick, arguments.repeats, arguments.json)
    return 0 if complete else INTERRUPTED


def _completion(arguments: argparse.Namespace) -> int:
    from mklviz.cli.completion import script

    print(script(arguments.shell, make_parser()), end="")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from mklviz.cli.documents import LISTS, print_document

    name = "statements" if getattr(arguments, "all", False) else arguments.command
    gather, show = LISTS[name]
    (print_document if arguments.json else show)(gather())
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "serve": _on_screen(_serve),
    "desktop": _on_screen(_desktop),
    "run": _command("race", "solve_race", one=True),
    "race": _command("race", "solve_race"),
    "path": _command("path", "solve_path"),
    "fit": _command("model", "fit"),
    "predict": _command("model", "predict"),
    "lab": _on_screen(_lab),
    "lessons": _on_screen(_lessons),
    "page": _on_screen(_page),
    "gallery": _on_screen(_gallery),
    "sweep": _command("sweep", "solve_sweep"),
    "reproduce": _command("sweep", "answer_claims"),
    "runs": _command("runs", "act"),
    "check": _check,
    "bench": _bench,
    "warmup": _warmup,
    "completion": _completion,
    **dict.fromkeys(LISTS, _list),
}
