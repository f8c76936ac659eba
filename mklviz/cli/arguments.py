"""Turn the words of a command line into a recipe: one flag for each key of the grammar in `mklviz.recipe.words`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mklviz.errors import MklvizError
from mklviz.limits import NO_STORE
from mklviz.quoting import one_line, quote

if TYPE_CHECKING:
    from mklviz.datasets import Dataset
    from mklviz.recipe import Recipe, SolverChoice
    from mklviz.record import Trace
    from mklviz.record.store import Store
    from mklviz.sweeps import MemberOutcome

DATA_HELP = (
    "data set (see: mklviz datasets), or a file: a table (CSV, Excel, Parquet, ARFF), LIBSVM text, arrays of NumPy or"
    " MATLAB, kernel or distance matrices; a folder, or files with commas between them, make one data set; - for a"
    " table from the standard input"
)
KERNELS_HELP = (
    '"paper", or families separated by spaces, each FAMILY[:VALUES][@WHERE] with WHERE one of all, each, all+each,'
    ' views or columns, by number, range or name: "gauss:2^-3...2^6@all+each poly:1,2@each linear@0...7"'
)
NYSTROM_HELP = (
    "approximate the kernels by so many landmarks, such as 200, or 200:leverage to choose them by leverage scores"
    " instead of k-means++, for very many samples; none for exact kernels (default)"
)
VARY_HELP = (
    "the number to vary and its values in order: NAME=FROM:TO:COUNT, evenly on a log scale, or NAME=VALUE,VALUE,...;"
    " NAME alone takes 100 values, prices from where all kernel weights are zero, C from 1000 down to 0.01. NAME is C"
    " or another number of --loss or --regularizer"
)
KNOB_HELP = (
    "the setting to vary; give it twice for a grid: an option of a solver, as level.lam, the SVM tolerance of all, tol,"
    " or C, p or another number of --loss or --regularizer; with its positions, VALUE,VALUE,... or FROM:TO:COUNT evenly"
    " on a log scale (default: those of the tab Knobs)"
)
SWEEP_HELP = (
    "a recipe with lists, KEY=VALUES parts with semicolons between them: commas or ranges (0...19) list names and"
    " numbers, vertical bars whole values (simplex|lp-ball:p=2), braces alternatives within one (level:lam={0.3,0.5});"
    " split lists the seeds of splits; a key left out has its default"
)
OF_THE_TABLE = {
    "target": (
        "COLUMN",
        "column of the file's table that is predicted, or nothing, for --loss one-class (default: the best guess)",
    ),
    "missing": (
        "leave-out|fill",
        "leave out the rows of the table in which a value is missing, or fill in the median or the most frequent word"
        " of the column (default: leave out up to a tenth of the rows, else fill in)",
    ),
    "header": ("yes|no|ROW", "whether the first row holds the names of the columns, or which row does, or two: 1,2"),
    "task": ("classes|numbers", "what the target holds"),
    "leave_out": ("COLUMNS", "columns that are not used, as in id,name"),
    "na": ("WORDS", "words that say that a value is missing, besides the usual ones"),
    "sep": ("SIGN", "what separates the columns: a sign, or commas, semicolons, tabs, bars, blanks, or widths"),
    "encoding": ("NAME", "of the letters, such as utf-8 or cp1252"),
    "decimal": ("SIGN", "decimal sign of numbers, . or ,"),
    "thousands": ("SIGN", "what stands between thousands"),
    "sheet": ("NAME", "sheet of a workbook"),
    "test": ("FILE|COLUMN", "rows that are tested: a second file, or the column whose words say train and test"),
    "missing_view": (
        "leave-out|average",
        "leave out samples that one of several tables lacks, or put the mean of the kernels that have them for theirs",
    ),
}
"""How the table in a file is read, and what `--help` says of it; the rest is guessed from its cells."""

OF_THE_FILE = ("data", *(name.replace("_", "-") for name in OF_THE_TABLE))  # what has been read when the recipe begins
LOSS_HELP = (
    "hinge (default) or another name, with options after a colon, as in epsilon-insensitive:epsilon=0.1, or"
    " hinge:bias=0 without intercept; what each means: mklviz losses; there are"
)
REGULARIZER_HELP = (
    "simplex (default) or another name, with options after a colon, as in lp-penalty:p=1.5,sigma=2; what each means:"
    " mklviz regularizers; there are"
)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number of a command line, from `least` to `most`."""

    def number(text: str) -> int:
        if re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()) and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"{quote(text)} is no whole number from {least:,} to {most:,}")

    return number


def read_own_data(arguments: argparse.Namespace) -> Dataset | None:
    """Return the data in the file that --data names, None for a name; what was done to the table is printed."""
    from mklviz.recipe.recipe import own_data
    from mklviz.recipe.words import read_table_option

    options = {name: getattr(arguments, name) for name in OF_THE_TABLE if getattr(arguments, name, None) is not None}
    read = {name: read_table_option(name, word) for name, word in options.items()}
    if arguments.data == "-":
        with TemporaryDirectory() as folder:
            file = Path(folder, "stdin")
            file.write_bytes(sys.stdin.buffer.read())
            data = own_data(str(file), **read)
    else:
        data = own_data(arguments.data or "", **read)
    tell_notes([] if data is None else [data])
    return data


def tell_notes(data: Iterable[Dataset]) -> None:
    """Say on the error stream what was done to tables."""
    for note in (note for each in data if each.table is not None or each.distances for note in each.notes):
        print(f"mklviz: {one_line(note)}", file=sys.stderr)


def read_recipe(arguments: argparse.Namespace) -> Recipe:
    """Return the scenario's recipe, or the default one, changed as the command line says, with data of one's own."""
    from mklviz.recipe import Recipe
    from mklviz.recipe.words import WORDS
    from mklviz.scenarios import load_scenario

    own = read_own_data(arguments)
    recipe = (load_scenario(arguments.scenario).recipe if arguments.scenario else Recipe()).on(own)
    for key, word in WORDS.items():
        text = getattr(arguments, key.replace("-", "_"), None)
        if text is not None and not (key in OF_THE_FILE and own is not None):
            recipe = word.read(recipe, text)
    if arguments.solver_option and arguments.solvers is None and arguments.scenario:
        raise MklvizError("--solver-option needs --solvers: a scenario brings solvers with options of its own.")
    return replace(recipe, solvers=with_options(recipe.solvers, arguments.solver_option))


def with_options(solvers: Sequence[SolverChoice], options: Sequence[str]) -> tuple[SolverChoice, ...]:
    """Return the solvers with options such as ``level.lam=0.5``, each for all entries of that name."""
    from mklviz.recipe.parsing import literal

    chosen = list(solvers)
    for option in options:
        key, equals, value = option.partition("=")
        name, dot, parameter = key.partition(".")
        if not (equals and dot and parameter):
            raise MklvizError(
                f"--solver-option {option!r:.80} is not of the form SOLVER.OPTION=VALUE, as level.lam=0.5."
            )
        if name not in [choice.name for choice in chosen]:
            names = ",".join(choice.name for choice in chosen)
            raise MklvizError(
                f"--solver-option {option!r:.80} is for {name!r:.80}, which is not among --solvers {names}."
            )
        setting = {parameter: literal(value)}
        chosen = [
            replace(choice, options={**dict(choice.options), **setting}) if choice.name == name else choice
            for choice in chosen
        ]
    return tuple(chosen)


def keep_inputs(arguments: argparse.Namespace) -> None:
    """Refuse to write over a file that another argument names to be read, alone or in words such as data=mine.csv."""
    values = [*vars(arguments).values()]
    paths = [path for path in values if isinstance(path, Path) and path.name]
    outputs = [*filter(os.path.isfile, (*paths, *(path.with_name(f"{path.name}.zip") for path in paths)))]
    if not outputs:
        return
    from mklviz.datasets import list_datasets

    texts = [text for each in values for text in (each if isinstance(each, list) else [each]) if isinstance(text, str)]
    pieces = {piece for text in texts for piece in (text, *re.split(r"[,;|{}]", text))}
    parts = {part.strip(' "') for piece in pieces for part in (piece, piece.partition("=")[2])} - {*list_datasets()}
    inputs = [*filter(os.path.isfile, map(os.path.expanduser, parts))]
    data = getattr(arguments, "data", None) or ""
    folder = Path(data).resolve() if os.path.isdir(data) else None
    for file in outputs:
        if folder in file.resolve().parents or any(os.path.samefile(file, each) for each in inputs):
            raise MklvizError(f"{file} is a file to read here, and would be written over: name another file to write.")


def check_output(file: Path, flag: str = "", *endings: str) -> None:
    """Refuse a file to write where there is no folder for it, or that ends otherwise than `flag` writes it."""
    if endings and file.suffix.lower() not in endings:
        raise MklvizError(f"{flag} writes a file that ends in {' or '.join(endings)}, not {file.name}.")
    if file.is_dir():
        raise MklvizError(f"{file} is a folder: name the file to write.")
    if not file.absolute().parent.is_dir():
        raise MklvizError(f"There is no folder {file.absolute().parent} to write {file.name} into.")


# -- what the exit code says, for scripts; and for people, below every `--help`

FAILED, BAD_INPUT, SHORT_OF_GAP, INTERRUPTED = 1, 2, 3, 130

EXIT_CODES = """\
exit codes:
  0    all went well
  1    a solver broke down, and its results so far are printed; or a plug-in checked breaks a promise
  2    the words, the data or a file are at fault, or something was not kept: one sentence on the error stream says it
  3    a limit, such as --max-iter, ended a solver before the gap asked for; --gap none asks for none
  130  ended by Ctrl-C; the results so far are printed and kept
"""


def code_of(runs: Iterable[Trace | MemberOutcome], recipe: Recipe, complete: bool, kept: bool = True) -> int:
    """Return the exit code of runs that have ended.

    `complete` says whether they were not interrupted, `kept` whether all that was asked for is written.
    """
    ends = {run.status for run in runs}
    if not complete:
        return INTERRUPTED
    if "failed" in ends:
        return FAILED
    if not kept:
        return BAD_INPUT
    return SHORT_OF_GAP if "limit" in ends and recipe.goal is not None else 0


@contextmanager
def cluster_of(arguments: argparse.Namespace) -> Iterator[Any]:
    """Yield a client of the Dask cluster that --dask names, None without; one that has no worker is waited for."""
    if not arguments.dask:
        yield None
        return
    from mklviz.sweeps.dask_cluster import DaskCluster, workers_of

    with DaskCluster(arguments.dask).connected() as client:
        if not workers_of(client):
            what = (
                f"The Dask cluster has no worker yet, which is waited for: “dask worker {arguments.dask}” starts one."
            )
            print(f"mklviz: {one_line(what)}", file=sys.stderr)
        yield client


# -- which store a command line is about

MADE_BY = "command line"


def folder_of(arguments: argparse.Namespace) -> str:
    """Return the folder that --store names, "none" for --no-store, and "" where neither is given."""
    return NO_STORE if getattr(arguments, "no_store", False) else arguments.store or ""


def store_of(arguments: argparse.Namespace) -> Store:
    """Return the store that --store names, none for --no-store, and else the usual one."""
    from mklviz.record.store import open_store

    return open_store(folder_of(arguments) or None)


# The arguments of ``mklviz runs``, and those that say which store is meant.


LISTED = 50  # runs in a table

WHERE_HELP = (
    "words that all occur in name, note, tags, recipe, solver, data or lesson, and conditions such as solver:level,"
    ' status:"cut off", tag:thesis, made:dashboard, gap<1e-3, svm<100, seconds>1, since:2026-11-01'
)
NAMED = "keys of runs or races, as the list prints them; the beginning of a whole key is enough"
ACTIONS = {
    "list": ("list the runs, the newest first", "mklviz runs list --where 'status:\"cut off\"' --limit 5"),
    "show": ("show all about a run, or about the runs of a race", "mklviz runs show 3fa9c2d1 --json"),
    "resume": ("continue a run from its best step, as a branch of its race", "mklviz runs resume 3fa9c2d1"),
    "describe": ("give races a name, a note and tags", 'mklviz runs describe 3fa9c2d1 --name "first try" --pin'),
    "export": ("write races into one file, for others and for the dashboard", "mklviz runs export mine.zip 3fa9c2d1"),
    "import": ("import files of runs that --save or export wrote", "mklviz runs import mine.zip old.mklrun.npz"),
    "merge": ("add the runs of other stores, such as copied ones", "mklviz runs merge /media/cluster/runs"),
    "delete": ("delete races; restore undoes it for a day", "mklviz runs delete 3fa9c2d1"),
    "restore": ("undo delete", "mklviz runs restore 3fa9c2d1"),
    "clean": ("remove deleted runs for good, and the oldest beyond the limit", "mklviz runs clean --limit-mb 500"),
    "repair": ("read all runs, and set aside in a folder those that cannot be read", "mklviz runs repair"),
}


def add_store(parser: argparse.ArgumentParser, switch: bool = False) -> None:
    """Add the option that names the store, and with `switch` the one that does without."""
    group = parser.add_argument_group("where runs are kept")
    where = group.add_mutually_exclusive_group().add_argument
    usual = "default: MKLVIZ_STORE, or else the user's data folder"
    where("--store", metavar="FOLDER", help=f"the folder of the store ({usual})")
    if switch:
        where("--no-store", action="store_true", help="keep no runs (as MKLVIZ_STORE=none does)")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document for programs instead of the table")


def add_runs(parser: argparse.ArgumentParser, command: Callable[[Any, str, str, str], argparse.ArgumentParser]) -> None:
    """Add what ``mklviz runs`` can do; `command` adds one, from its name, its help and its examples."""
    added = parser.add_subparsers(title="what to do", metavar="ACTION", dest="action", required=True)
    parsers = {name: command(added, name, text, f"  {line}\n") for name, (text, line) in ACTIONS.items()}
    for name, each in parsers.items():
        if name in ("show", "describe", "delete", "restore", "export"):
            nargs = "*" if name in ("export", "delete") else "+"
            if name == "export":
                each.add_argument("output", metavar="FILE", type=Path, help="the file to write, such as mine.zip")
            each.add_argument("keys", metavar="KEY", nargs=nargs, help=NAMED)
        if name in ("list", "export", "delete"):
            each.add_argument("--where", dest="words", metavar="WORDS", help=WHERE_HELP)
        add_json(each)
        add_store(each)
    _add_list(parsers["list"])
    _add_resume(parsers["resume"])
    _add_describe(parsers["describe"])
    for name, what in (("import", "FILE"), ("merge", "FOLDER")):
        dest, text = ("files", "files of runs") if name == "import" else ("folders", "folders of other stores")
        parsers[name].add_argument(dest, metavar=what, nargs="+", type=Path, help=text)
    limit_help = "megabytes that runs may take; the oldest unpinned ones go first (default: 2000)"
    parsers["clean"].add_argument("--limit-mb", metavar="MB", help=limit_help)


def _add_list(parser: argparse.ArgumentParser) -> None:
    limit_help = f"how many at most; 0 for all (default: {LISTED} in a table, all with --json)"
    parser.add_argument("--limit", metavar="N", type=whole(0, 10**9), help=limit_help)
    parser.add_argument(
        "--order",
        metavar="FIELD",
        default="-created",
        help="column to sort by, such as gap, svm_solves or seconds; with a minus sign, as in --order=-gap, the largest"
        " first (default: -created)",
    )
    parser.add_argument("--deleted", action="store_true", help="list deleted runs instead")


def _add_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="key of the run")
    parser.add_argument("--solver", metavar="NAME", help="another solver, with its usual options (default: the same)")
    parser.add_argument("--data", metavar="FILE", help="the file, where the run was about data of your own")
    for name, (shown, _) in OF_THE_TABLE.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=shown, help="as for mklviz run")


def _add_describe(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--name", help="name of the race")
    add("--note", help="a note")
    add("--tag", action="append", metavar="TAG", help="a tag; may be repeated, and replaces the tags of before")
    pin = parser.add_mutually_exclusive_group().add_argument
    pin("--pin", action="store_true", default=None, help="never remove the race to free room")
    pin("--unpin", action="store_false", dest="pin", default=None, help="let the race be removed to free room")
