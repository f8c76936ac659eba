"""The arguments of the command line and the text of `--help`; neither loads anything else."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from mklviz._version import __version__
from mklviz.cli.arguments import (
    BAD_INPUT,
    DATA_HELP,
    EXIT_CODES,
    KERNELS_HELP,
    KNOB_HELP,
    LOSS_HELP,
    NYSTROM_HELP,
    OF_THE_TABLE,
    REGULARIZER_HELP,
    SWEEP_HELP,
    VARY_HELP,
    add_json,
    add_runs,
    add_store,
    whole,
)
from mklviz.cli.examples import ALL, EXAMPLES
from mklviz.language import languages
from mklviz.plugins import names
from mklviz.quoting import one_line

LISTS = {
    "claims": "list the papers' claims that mklviz reproduce answers",
    "datasets": "list the data sets",
    "losses": "list the losses and their options",
    "regularizers": "list the regularizers of the kernel weights and their options",
    "solvers": "list the solvers and their options",
    "scenarios": "list the prepared races and what to look for in them",
}
SHELLS = ("bash", "zsh", "fish")
FACTORS_THERE = (
    "leave the kernels' factors in the memory of the workers of the Dask cluster whose scheduler is at this address;"
    " the samples are sent there in chunks"
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)} (see: {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # of a command: its help lists the rest
        parsed, left = super().parse_known_args(args, namespace)
        return (parsed, left) if not left else self.error(f"unrecognized arguments: {' '.join(left)}")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; the arguments that it parses name their command in `command`."""
    parser = _Parser(
        prog="mklviz",
        description="See how multiple kernel learning solvers behave.",
        epilog=f"{ALL}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mklviz {__version__}")
    added = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, (text, add) in COMMANDS.items():
        add(_command(added, name, text, EXAMPLES[name]))
    for name, text in LISTS.items():
        command = _command(added, name, text, f"  mklviz {name}\n  mklviz {name} --json\n")
        add_json(command)
        if name == "claims":
            stated_help = "every table, figure, theorem and section of the five papers, with its verdict or obstacle"
            command.add_argument("--all", action="store_true", help=stated_help)
    return parser


def _command(added, name, text, examples) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    parser: argparse.ArgumentParser = added.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=f"examples:\n{examples}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _add_serve(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--port", type=whole(1, 65_535), default=5006, help="port to listen on (default: 5006)")
    add("--classroom", action="store_true", help="let everybody on the network in who has the code, and print the link")
    add("--address", help="address to listen on, such as 0.0.0.0 for all (default: this machine only)")
    add("--prefix", default="", metavar="PATH", help="of all addresses, such as /lab/mkl, as a proxy keeps it")
    add("--lessons", metavar="DIR", type=Path, help="a folder of lessons of your own (default: MKLVIZ_LESSONS)")
    add("--no-show", action="store_true", help="do not open a browser")
    add(
        "--dask",
        metavar="ADDRESS",
        help="compute races, but not branches, on the Dask cluster whose scheduler is at this address",
    )
    add(
        "--num-procs",
        type=whole(1, 32),
        metavar="N",
        help="processes that share the port (default: 1; for a class one per core, four at most)",
    )
    add(
        "--allow-websocket-origin",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="name under which browsers reach this server; needed once per name that is not this machine's",
    )
    add("--code", help="the access code (default: one is made up where --address lets others in)")
    add(
        "--allow-frame",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site, such as https://lab.example.org, whose pages may frame the dashboard (default: none may)",
    )
    add(
        "--shared-runs",
        action="store_true",
        help="let all visitors see, change and delete all runs (default: every browser sees its own, where others than"
        " this machine are let in)",
    )
    add_store(parser, switch=True)


def _add_desktop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a file of runs, or a table, to open")
    add_store(parser, switch=True)


def _add_run(parser: argparse.ArgumentParser, default: str = "the one recommended for the problem") -> None:
    _add_problem(parser)
    _add_solving(parser, "--solvers", f"names separated by commas (see: mklviz solvers; default: {default})")
    parser.add_argument(
        "--threads",
        type=whole(1, 1000),
        default=1,
        metavar="N",
        help="threads of a solver that runs alone, with the same results; several solvers have one each (default: 1)",
    )
    dask_help = f"with --nystrom, {FACTORS_THERE}; else solvers take their steps there, in turn"
    parser.add_argument("--dask", metavar="ADDRESS", help=dask_help)
    resume_help = (
        "go on from the last step that was kept of the newest run of the same recipe, if that was cut off or stopped;"
        " else begin anew"
    )
    parser.add_argument("--resume", action="store_true", help=resume_help)
    add_json(parser)
    out = parser.add_argument_group("what to keep").add_argument
    out("--csv", metavar="FILE", type=Path, help="write every step of every solver as a table")
    out("--parquet", metavar="FILE", type=Path, help="write the same table as Parquet (needs pyarrow)")
    out("--save", metavar="FILE", type=Path, help="write the runs, as the dashboard reads them; several as FILE.zip")
    out("--html", metavar="FILE", type=Path, help="write a page that shows every step, for any browser, with no server")
    out("--picture", "--svg", metavar="FILE", type=Path, help="draw the curves, as FILE.svg, FILE.png or FILE.pdf")
    out("--video", metavar="FILE", type=Path, help="draw the race as it went, as FILE.gif, or FILE.webm by ffmpeg")
    add_store(parser, switch=True)


def _add_path(parser: argparse.ArgumentParser) -> None:
    _add_problem(parser)
    parser.add_argument("--vary", required=True, metavar="NAME=VALUES", help=VARY_HELP)
    _add_solving(parser, "--solver", "one name (see: mklviz solvers; default: the one recommended for the problem)")
    parser.add_argument("--cold", action="store_true", help="begin anew at every value (default: warm starts)")
    parser.add_argument("--dask", metavar="ADDRESS", help=f"with --nystrom, {FACTORS_THERE}")
    add_json(parser)
    parser.add_argument("--output", metavar="FILE", type=Path, help="write a row per value, with all kernel weights")


def _add_fit(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to learn").add_argument
    what("data", metavar="TABLE", help=DATA_HELP)
    _add_table(what)
    _add_model(what, "default: paper, or gauss:1@all+each for one class", "default: 1")
    what("--solver", metavar="NAME", help="see: mklviz solvers (default: the one recommended for the problem)")
    what("--gap", help="relative duality gap to stop at (default: 0.01)")
    what("--max-iter", help="steps to stop at (default: 500)")
    what("--seed", help="seed of the solver (default: 0)")
    what("--dask", metavar="ADDRESS", help=f"where kernels are approximated, as above 20,000 rows, {FACTORS_THERE}")
    out = parser.add_argument_group("what to keep").add_argument
    out("--out", metavar="FILE", type=Path, default=Path("model.skops"), help="the model (default: model.skops)")


def _add_predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="what mklviz fit wrote")
    parser.add_argument(
        "data",
        metavar="TABLE",
        help="a table with the columns of the one that was learned from; - for one from the standard input",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="the table to write, a .csv (default: the output)")


def _add_lab(parser: argparse.ArgumentParser) -> None:
    _add_problem(parser)
    _add_solving(parser, "--solvers", "names separated by commas (default: those that the tab Knobs turns)")
    add = parser.add_argument
    add("--knob", required=True, action="append", metavar="NAME[=VALUES]", help=KNOB_HELP)
    add("--output", metavar="FILE", type=Path, default=Path("lab.html"), help="the page (default: lab.html)")
    add_store(parser, switch=True)


def _add_lessons(parser: argparse.ArgumentParser) -> None:
    what = "export: the questions, with what is right and why; check: solve and record lessons of your own"
    parser.add_argument("what", choices=("export", "check"), help=what)
    out = parser.add_argument
    out("files", metavar="FILES", nargs="*", type=Path, help="to check (default: the folder MKLVIZ_LESSONS)")
    out("--format", choices=("gift", "qti", "h5p"), help="gift is Moodle's, qti is Canvas's")
    out("--out", metavar="FILE", type=Path, help="the file (default: lessons.txt, lessons.zip or lessons.h5p)")


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("playground",), help="playground: data, kernels and solvers under the hand")
    out = parser.add_argument
    out("--out", metavar="FILE", type=Path, default=Path("mkl.html"), help="the page (default: mkl.html)")
    out("--lang", choices=languages(), default="en", help="the language of the page (default: en)")


def _add_gallery(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of the pages; it is made if need be")
    add_store(parser, switch=True)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORDS", help=SWEEP_HELP)
    where = parser.add_argument_group("where to solve it").add_argument
    where("--workers", type=whole(1, 1000), metavar="N", help="processes on this machine (default: one for each core)")
    where("--shard", metavar="K/N", help="solve the K-th of N shares only; merge the stores afterwards")
    where("--dask", metavar="ADDRESS", help="solve on the Dask cluster whose scheduler is at this address")
    where("--retry", action="store_true", help="solve failed runs again (default: they stay failed)")
    where("--dry-run", action="store_true", help="list the runs and how many are left; solve none")
    add_json(parser)
    out = parser.add_argument_group("what to keep").add_argument
    out("--csv", metavar="FILE", type=Path, help="write a row per run as a table")
    out("--parquet", metavar="FILE", type=Path, help="write the same table as Parquet (needs pyarrow)")
    add_store(parser, switch=True)


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="claims by name, see mklviz claims (default: all)")
    parser.add_argument("--quick", action="store_true", help="few splits of small data sets: minutes instead of hours")
    parser.add_argument("--stored", action="store_true", help="answer from stored runs; solve none")
    workers_help = "processes that solve (default: one for each core)"
    parser.add_argument("--workers", type=whole(1, 1000), metavar="N", help=workers_help)
    add_store(parser, switch=True)
    add_json(parser)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "where", metavar="FILE|MODULE", help="a file such as my_solver.py, or a module that Python finds"
    )
    add_json(parser)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    suites = "svm, learn or screen (default: all)"
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=suites)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases, for a first look")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the numbers")
    repeats_help = "rounds per comparison (default: each suite's own)"
    parser.add_argument("--repeats", metavar="N", type=whole(1, 10_000), help=repeats_help)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], object]]] = {
    "serve": ("serve the dashboard and open it in the browser", _add_serve),
    "desktop": ("open the dashboard in a window of its own, which ends it when it is closed", _add_desktop),
    "run": ("run one solver, or race several, and print the results", _add_run),
    "race": (
        "the same as run, with several solvers where none is named",
        lambda parser: _add_run(parser, "silp,level,spg, or those that can follow the problem"),
    ),
    "path": ("solve for several values of one number, each from the previous solution", _add_path),
    "fit": ("learn from a table, and write the model that predicts others", _add_fit),
    "predict": ("write a table with what a model predicts for its rows", _add_predict),
    "lab": (
        "solve at every position of a knob, and write one page in which the knob turns, without a server",
        _add_lab,
    ),
    "lessons": ("write the lessons' questions for a course system, or check lessons of your own", _add_lessons),
    "page": ("write a page that solves by itself in any browser, without a server", _add_page),
    "gallery": (
        "write lessons, laboratories and the races of papers' claims as pages that need no server",
        _add_gallery,
    ),
    "sweep": ("solve all runs of a recipe with lists, and print means and spreads", _add_sweep),
    "reproduce": ("check the papers' claims: their values, ours by two stop rules, and a verdict", _add_reproduce),
    "runs": (
        "list, show, export, import, merge, describe and delete saved runs, and continue one",
        lambda parser: add_runs(parser, _command),
    ),
    "check": (
        "check whether a solver, loss, regularizer or kernel family of yours keeps what its kind promises",
        _add_check,
    ),
    "bench": ("measure how fast the library is beside other programs, as ratios of CPU time", _add_bench),
    "warmup": (
        "compile everything, once after an installation, so that no run waits for it later",
        lambda parser: None,
    ),
    "completion": (
        "print the script that lets a shell complete commands, options and names with the Tab key",
        lambda parser: parser.add_argument("shell", choices=SHELLS, metavar="|".join(SHELLS), help="the shell"),
    ),
}


def _add_problem(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to solve").add_argument
    what("--scenario", metavar="NAME", help="start from a prepared race; other options change it")
    what("--data", metavar="NAME|FILE[,FILE]", help=DATA_HELP)
    _add_table(what)
    what(
        "--positive",
        metavar="CLASS",
        help="set this class against the rest, where the data set has more than two (default: all classes at once)",
    )
    _add_model(what, "default: paper", "default: 100")
    what("--nystrom", metavar="COUNT[:CHOICE]", help=NYSTROM_HELP)
    what(
        "--combination",
        metavar="KIND",
        help="sum of kernels (default), product of one Gaussian kernel per feature, or polynomial of weighted features;"
        " the last two have no gap, and begin with --regularizer l1-penalty and --solvers spg,pgd",
    )
    what(
        "--degrees",
        metavar="LIST",
        help="degrees of polynomials of weighted features, which are added, such as 1,2,3 (default: 2)",
    )
    what("--cache-mb", help="memory in MB of each solver's cache of kernel rows, where n is large (default: 1024)")
    what(
        "--by-rows",
        action="store_const",
        const="true",
        help="compute kernels row by row even where n is small: less memory, about four times the time",
    )
    what(
        "--repair",
        metavar="clip|flip|shift",
        help="what is done to negative eigenvalues of ready Gram matrices: set to zero, without their sign, or the"
        " diagonal raised (default: refused, but for what rounding leaves)",
    )
    what("--train", help="fraction of the samples to train on (default: 0.5)")
    what("--seed", help="seed of the split and of the solvers (default: 0)")


def _add_table(what: Callable[..., object]) -> None:
    """Add how a table is read."""
    for name, (shown, text) in OF_THE_TABLE.items():
        what(f"--{name.replace('_', '-')}", metavar=shown, help=text)


def _add_model(what: Callable[..., object], kernels: str, C: str) -> None:
    """Add what is learned, with the defaults of kernels and C."""
    what("--kernels", metavar="TEXT", help=f"{KERNELS_HELP}; {kernels}")
    what("--C", help=f"weight of the loss ({C})")
    what("--loss", metavar="TEXT", help=f"{LOSS_HELP}: {_known('mklviz.problem.losses')}")
    what(
        "--class-weight",
        metavar="balanced",
        help="multiply C by a weight of each class, so that all classes have the same in sum (default: none)",
    )
    what("--regularizer", metavar="TEXT", help=f"{REGULARIZER_HELP}: {_known('mklviz.problem.regularizers')}")
    what("--normalize", metavar="KIND", help="scale of each kernel: trace, diagonal, mean-diagonal or none")
    what(
        "--standardize",
        metavar="yes|no",
        help="shift and scale features, and targets that are numbers, by the training part (default: yes)",
    )


def _add_solving(parser: argparse.ArgumentParser, solvers: str, text: str) -> None:
    how = parser.add_argument_group("how to solve it").add_argument
    how(
        *dict.fromkeys((solvers, "--solver")),
        dest="solvers",
        metavar="NAMES" if solvers == "--solvers" else "NAME",
        help=text,
    )
    how("--solver-option", action="append", default=[], metavar="SOLVER.OPTION=VALUE", help="may be repeated")
    how("--gap", help="relative duality gap to stop at, or none (default: 0.01)")
    how(
        "--projected-gradient",
        help="projected gradient, relative to the objective, at which a problem without a gap stops, or none"
        " (default: 0.001)",
    )
    how("--iterate-gap", help="gap of an iterate's own weights and dual variables to stop at (default: none)")
    how("--weight-change", help="largest change of a kernel weight in a step to stop at, a rule that proves nothing")
    how("--max-iter", help="steps to stop at, or none (default: 500)")
    how("--max-seconds", help="CPU seconds to stop at (default: none)")


def _known(package: str) -> str:
    """Return the names of what a folder and installed packages hold; nothing is imported for it."""
    return ", ".join(names(package))
