"""The arguments of ``mklviz runs``, and those that say which store is meant."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mklviz.cli.arguments import OF_THE_TABLE, whole

LISTED = 50  # runs in a table

RUNS_EXAMPLES = """\
examples:
  mklviz runs list --where "sonar solver:level gap<1e-3"
  mklviz runs show 3fa9c2d1
  mklviz runs resume 3fa9c2d1
  mklviz runs describe 3fa9c2d1 --name "first try" --tag thesis
  mklviz runs export thesis.zip --where tag:thesis
  mklviz runs import thesis.zip
  mklviz runs merge /media/cluster/runs
  mklviz runs delete 3fa9c2d1
  mklviz runs clean --limit-mb 500
"""
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
    where("--store", metavar="FOLDER", type=Path, help=f"the folder of the store ({usual})")
    if switch:
        where("--no-store", action="store_true", help="keep no runs (as MKLVIZ_STORE=none does)")


def add_runs(parser: argparse.ArgumentParser, command: Callable[[Any, str, str, str], argparse.ArgumentParser]) -> None:
    """Add what ``mklviz runs`` can do; `command` adds one, from its name, its help and its examples."""
    added = parser.add_subparsers(title="what to do", metavar="ACTION", dest="action", required=True)
    parsers = {name: command(added, name, text, f"examples:\n  {line}\n") for name, (text, line) in ACTIONS.items()}
    for name, each in parsers.items():
        if name in ("show", "describe", "delete", "restore", "export"):
            nargs = "*" if name in ("export", "delete") else "+"
            if name == "export":
                each.add_argument("output", metavar="FILE", type=Path, help="the file to write, such as mine.zip")
            each.add_argument("keys", metavar="KEY", nargs=nargs, help=NAMED)
        if name in ("list", "export", "delete"):
            each.add_argument("--where", dest="words", metavar="WORDS", help=WHERE_HELP)
        each.add_argument("--json", action="store_true", help="print one JSON document for programs")
        add_store(each)
    _add_list(parsers["list"])
    _add_resume(parsers["resume"])
    _add_describe(parsers["describe"])
    for name, what in (("import", "FILE"), ("merge", "FOLDER")):
        dest, text = ("files", "files of runs") if name == "import" else ("folders", "folders of other stores")
        parsers[name].add_argument(dest, metavar=what, nargs="+", type=Path, help=text)
    limit_help = "megabytes that runs may take; the oldest unpinned ones go first (default: 2000)"
    parsers["clean"].add_argument("--limit-mb", metavar="MB", type=float, help=limit_help)


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
