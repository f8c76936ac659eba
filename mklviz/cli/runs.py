"""The runs that are kept: ``mklviz runs list | show | resume | describe | export | import | merge | delete | ...``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from mklviz.cli.arguments import BAD_INPUT, LISTED, MADE_BY, check_output, read_own_data, store_of
from mklviz.cli.documents import print_document
from mklviz.cli.live import Building, aligned, warm_up
from mklviz.cli.race import Outputs, run_to_the_end, tell_what_is_repeated
from mklviz.errors import MklvizError
from mklviz.numbers import counted, score_text
from mklviz.quoting import named, one_line, quote
from mklviz.recipe.recorded import RecordedRace, recipe_of, resume_run
from mklviz.record.history import COLUMNS, WORDS, run_named, short_id, texts_of
from mklviz.record.run_facts import number
from mklviz.record.store import Store, StoredRun
from mklviz.record.store.upkeep import ASIDE

_MB = 10**6


def act(arguments: argparse.Namespace) -> int:
    """Print what is wrong with the store, do what the command line asks of it, and return the exit code."""
    store = store_of(arguments)
    if store.trouble:
        print(f"mklviz: {one_line(store.trouble)}", file=sys.stderr)
    try:
        return ACTIONS[arguments.action](store, arguments)
    except MklvizError as error:
        if str(error) == store.trouble:  # it has just been said
            return BAD_INPUT
        raise


def _described(run: StoredRun) -> dict[str, Any]:
    """Return what a document says of a run."""
    recipe = None
    with suppress(ValueError, RecursionError):  # a file of others may state what is no recipe, or none
        recipe = json.loads(run.recipe)
    return {**dataclasses.asdict(run), "short": short_id(run.id), "recipe": recipe}


def _list(store: Store, arguments: argparse.Namespace) -> int:
    every = store.runs(arguments.words or "", arguments.order, None, arguments.deleted)
    usual = 0 if arguments.json else LISTED
    listed = every[: (usual if arguments.limit is None else arguments.limit) or None]
    left_out = len(every) - len(listed)
    if arguments.json:
        print_document({"store": str(store.folder), "runs": [_described(run) for run in listed], "left_out": left_out})
        return 0
    if not listed:
        print("No runs are kept that fit." if arguments.words else f"No runs are kept in {store.folder} yet.")
        return 0
    print("\n".join(aligned([COLUMNS, *map(texts_of, listed)], WORDS)))
    if left_out:
        print(f"\n{left_out:,} more: --limit 0 lists all.")
    return 0


def _show(store: Store, arguments: argparse.Namespace) -> int:
    chosen = [run for key in arguments.keys for run in run_named(store, key)]
    if arguments.json:
        print_document({"runs": [_described(run) for run in chosen]})
        return 0
    print("\n\n".join("\n".join(_lines(run)) for run in chosen))
    return 0


def _lines(run: StoredRun) -> list[str]:
    """Return all that is known of a run, a line each."""
    score, what = run.results.get("score"), str(run.results.get("score_label", "score"))
    facts = {
        "run": run.id,
        "race": f"{run.race}  {run.name}",
        "solver": ", ".join([run.label, *(f"{key}={value}" for key, value in run.options.items())]),
        "problem": run.problem,
        "recipe": run.words,
        "lesson": run.lesson,
        "made by": f"{run.made_by}, {datetime.fromtimestamp(run.created):%Y-%m-%d %H:%M:%S}, {run.machine.name}",
        "status": f"{run.status}. {run.reason}",
        "objective": f"{number(run.objective, '.8g')}, lower bound {number(run.lower_bound, '.8g')}",
        "gap": number(run.gap, ".2g"),
        "spent": f"{counted(run.steps, 'step')}, {counted(run.svm_solves, 'SVM solve')}, {run.seconds:.2f} s of CPU",
        "kernels": f"{run.active:,} of {run.kernels:,} in use",
        what: score_text(score, what) if isinstance(score, float) else "",
        "note": run.note,
        "tags": ", ".join(run.tags),
    }
    width = max(map(len, facts))
    return [f"{name:<{width}}  {one_line(text)}" for name, text in facts.items() if text]


def _resume(store: Store, arguments: argparse.Namespace) -> int:
    matching = run_named(store, arguments.key)
    if len(matching) > 1:
        keys = ", ".join(f"{short_id(run.id)} ({run.label})" for run in matching)
        raise MklvizError(f"That race has several runs: write which of {keys} to go on from.")
    own = read_own_data(arguments)
    if arguments.data and own is None:
        raise MklvizError(f"There is no file {named(arguments.data)}; data with a name need no --data here.")
    if own is None and recipe_of(matching[0]).data.own:
        raise MklvizError("That run is about a file of your own, which is not stored: give it with --data FILE.")
    race, recipe, prepared, head = resume_run(
        store, matching[0], MADE_BY, arguments.solver or "", own, progress=Building()
    )
    tell_what_is_repeated(matching[0], race)
    warm_up(prepared.problem, [run.solver for run in race.runs.values()])
    return run_to_the_end(race, recipe, prepared, RecordedRace(race, head, prepared, store=store), arguments, Outputs())


def _races(store: Store, arguments: argparse.Namespace, deleted: bool = False) -> list[str]:
    """Return the keys of the races that a command line names, by keys or by --where."""
    words = getattr(arguments, "words", None)
    if not arguments.keys and not words:
        raise MklvizError("Which runs? Give their keys, as mklviz runs list prints them, or --where with words.")
    chosen = [run for key in arguments.keys for run in run_named(store, key, deleted)]
    chosen += store.runs(words) if words else []
    if not chosen:
        raise MklvizError("No runs are kept that fit.")
    return list(dict.fromkeys(run.race for run in chosen))


def _done(arguments: argparse.Namespace, sentence: str, document: dict[str, Any]) -> int:
    """Say what was done, to people or to programs."""
    if arguments.json:
        print_document(document)
    else:
        print(sentence)
    return 0


def _describe(store: Store, arguments: argparse.Namespace) -> int:
    words = {"name": arguments.name, "note": arguments.note, "tags": arguments.tag, "pinned": arguments.pin}
    if all(value is None for value in words.values()):
        raise MklvizError("Describe the race: give --name, --note, --tag, --pin or --unpin.")
    races = _races(store, arguments)
    for race in races:
        store.describe(race, **words)
    return _done(arguments, f"{counted(len(races), 'race')} described.", {"races": races})


def _delete(store: Store, arguments: argparse.Namespace) -> int:
    races = _races(store, arguments)
    for race in races:
        store.delete(race)
    undo = f"mklviz runs restore {' '.join(map(short_id, races[:5]))}"
    sentence = f"{counted(len(races), 'race')} deleted; for a day it can be undone, by: {undo}"
    return _done(arguments, sentence, {"races": races})


def _restore(store: Store, arguments: argparse.Namespace) -> int:
    races = _races(store, arguments, deleted=True)
    for race in races:
        store.restore(race)
    return _done(arguments, f"{counted(len(races), 'race')} restored.", {"races": races})


def _export(store: Store, arguments: argparse.Namespace) -> int:
    check_output(arguments.output)
    races = _races(store, arguments)
    damaged = store.export(races, arguments.output)
    sentence = f"{counted(len(races), 'race')} written to {arguments.output}."
    sentence += f" {counted(damaged, 'damaged run')} left out: see mklviz runs repair." if damaged else ""
    return _done(arguments, sentence, {"file": str(arguments.output), "races": races, "damaged": damaged})


def _import(store: Store, arguments: argparse.Namespace) -> int:
    races = [race for file in arguments.files for race in store.import_file(file, file.name)]
    sentence = f"{counted(len(races), 'race')} taken in: mklviz runs show {' '.join(map(short_id, races[:5]))}"
    return _done(arguments, sentence, {"races": races})


def _merge(store: Store, arguments: argparse.Namespace) -> int:
    merged = [(folder, store.merge(folder)) for folder in arguments.folders]
    lines = [
        f"{folder}: {counted(each.added, 'run')} added, {each.renewed:,} brought up to date"
        + (f", {each.unreadable:,} not readable" if each.unreadable else "")
        for folder, each in merged
    ]
    results = [{"folder": str(folder), **dataclasses.asdict(each)} for folder, each in merged]
    return _done(arguments, "\n".join(lines), {"merged": results})


def _limit(text: str | None) -> int | None:
    """Return the bytes that --limit-mb asks for."""
    if text is None:
        return None
    with suppress(ValueError):
        if 0 <= float(text) < 1e9:
            return int(float(text) * _MB)
    raise MklvizError(f"--limit-mb takes a number of megabytes, such as 500, not {quote(text)}.")


def _clean(store: Store, arguments: argparse.Namespace) -> int:
    cleaned = store.clean(_limit(arguments.limit_mb), at_once=True)
    left = store.size
    sentence = f"{counted(cleaned.runs, 'run')} removed, {cleaned.bytes / _MB:.1f} MB; {left / _MB:.1f} MB are left."
    return _done(arguments, sentence, {**dataclasses.asdict(cleaned), "left": left})


def _repair(store: Store, arguments: argparse.Namespace) -> int:
    faults, incomplete = store.repair()
    lines = [f"{short_id(run_id)}: {one_line(why)}" for run_id, why in faults.items()]
    kept = "; the others can be read, and the run stays where it is."
    lines += [f"{short_id(run_id)}: {counted(lost, 'damaged step')}{kept}" for run_id, lost in incomplete.items()]
    aside = store.folder / ASIDE
    if faults:
        lines.append(f"{counted(len(faults), 'damaged run')} moved to {aside}.")
    lines = lines or ["All runs can be read."]
    document = {"folder": str(aside), "damaged": faults, "incomplete": incomplete}
    return _done(arguments, "\n".join(lines), document)


ACTIONS: dict[str, Callable[[Store, argparse.Namespace], int]] = {
    "list": _list,
    "show": _show,
    "resume": _resume,
    "describe": _describe,
    "export": _export,
    "import": _import,
    "merge": _merge,
    "delete": _delete,
    "restore": _restore,
    "clean": _clean,
    "repair": _repair,
}
