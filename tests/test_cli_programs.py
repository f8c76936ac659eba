"""What programs and shells get: one document, tables that are kept up, exit codes that say it all, and the Tab key."""

from __future__ import annotations

import argparse
import csv
import io
import json
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _sources import SOURCES

import mklviz as mv
from mklviz.analysis.drawn_points import Points, as_file
from mklviz.cli.commands import main
from mklviz.cli.completion import SHELLS, script
from mklviz.cli.parser import LISTS, make_parser
from mklviz.cli.parser import SHELLS as NAMED
from mklviz.cli.race import Outputs
from mklviz.contract import Iterate, Solver
from mklviz.engine import Race, solver_classes
from mklviz.errors import MklvizError
from mklviz.problem import Problem, loss_families, regularizer_families
from mklviz.quoting import cell
from mklviz.record.store import open_store, reset
from mklviz.record.summary import write_csv
from mklviz.reproduce.claims import all_claims
from mklviz.scenarios import scenarios
from mklviz.sweeps import Sweep

SMALL = ["--data", "two_moons", "--kernels", "gauss:0.5,1,2@all poly:1@each", "--C", "10"]


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    """The one document on the output, in which nothing is nan."""

    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    return json.loads(capsys.readouterr().out, parse_constant=refuse)


def test_a_race_is_one_document_with_numbers_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", *SMALL, "--solvers", "level,spg", "--json"]) == 0
    found = document(capsys)
    recipe = mv.Recipe.from_json(json.dumps(found["recipe"]))
    prepared = recipe.prepare()
    assert found["mklviz"] == mv.__version__
    assert [run["solver"] for run in found["runs"]] == ["level", "spg"]
    assert (found["training_samples"], found["kernels"], found["complete"]) == (100, 5, True)
    for run in found["runs"]:
        again = mv.solve(prepared.problem, run["solver"])
        assert run["status"] == "converged"
        assert run["gap"] == pytest.approx(again.gap[-1], rel=1e-9)
        assert run["objective"] == pytest.approx(again.best.objective, rel=1e-12)
        assert run["score"] == prepared.score(again.best)
        assert run["kernels_in_use"] == again.best.active
        weights = [entry["weight"] for entry in run["weights"]]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) == pytest.approx(1.0)
        assert {entry["kernel"] for entry in run["weights"]} <= set(prepared.problem.bank.names)
        assert sum(run["cpu_shares"].values()) == pytest.approx(1.0)


def test_a_path_is_one_document_with_an_entry_per_value_and_null_where_there_is_no_gap(capsys) -> None:
    assert main(["path", *SMALL, "--solver", "newton", "--vary", "C=100:1:3", "--json"]) == 0
    found = document(capsys)
    assert (found["parameter"], found["solver"], found["warm_starts"], found["complete"]) == ("C", "newton", True, True)
    assert [entry["value"] for entry in found["values"]] == pytest.approx([100.0, 10.0, 1.0])
    assert all(entry["status"] == "converged" for entry in found["values"])
    words = ["run", "--data", "two_moons", "--combination", "product", "--regularizer", "l1-penalty", "--C", "10"]
    assert main([*words, "--solvers", "spg", "--json"]) == 0
    (run,) = document(capsys)["runs"]
    assert (run["gap"], run["lower_bound"]) == (None, None)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_one_document(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 0
    shown = capsys.readouterr().out
    assert main([name, "--json"]) == 0
    entries = document(capsys)[name]
    assert len(entries) > 3
    assert [entry["name"] for entry in entries if entry["name"] not in shown] == []


def test_a_limit_that_came_before_the_gap_is_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    limits = ["--solvers", "level", "--max-iter", "2"]
    assert main(["run", *SMALL, *limits, "--gap", "1e-6"]) == 3
    assert "Reached the limit of 2 iterations." in capsys.readouterr().out
    assert main(["run", *SMALL, *limits, "--gap", "none"]) == 0
    (tmp_path / "file").touch()  # where no store can be: what is not kept counts for more
    assert main(["run", *SMALL, *limits, "--gap", "1e-6", "--store", str(tmp_path / "file")]) == 2
    assert main(["path", *SMALL, "--vary", "C=100,10", "--max-iter", "1", "--gap", "1e-9"]) == 3


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPG breaks down after its start."""
    sound = solver_classes()["spg"].iterates

    def iterates(self: Solver, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        yield next(sound(self, problem, start))
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(solver_classes()["spg"], "iterates", iterates)


@pytest.mark.usefixtures("broken")
def test_a_solver_that_breaks_down_is_exit_code_1_and_what_was_found_is_printed(capsys) -> None:
    assert main(["race", *SMALL, "--solvers", "spg,level", "--json"]) == 1
    failed, other = document(capsys)["runs"]
    assert (failed["status"], failed["reason"]) == ("failed", "SPG broke down: ZeroDivisionError: by zero")
    assert other["status"] == "converged"
    assert main(["path", *SMALL, "--solver", "spg", "--vary", "C=10,1"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == "mklviz: SPG broke down: ZeroDivisionError: by zero"
    assert "failed" in captured.out


def test_a_store_and_none_are_not_asked_for_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sweep", WORDS, "--no-store", "--store", "here"])
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["run"], ["path"]])
def test_the_help_says_what_exit_codes_mean(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    told = capsys.readouterr().out.split("exit codes:\n")[1]
    assert [line.split()[0] for line in told.splitlines() if line.strip()] == ["0", "1", "2", "3", "130"]


WORDS = "data=heart; split=0,1; solvers=level,newton; kernels=gauss:1,2@all"


@pytest.fixture(autouse=True)
def _left() -> Iterator[None]:
    yield
    reset()


@pytest.mark.full
def test_a_sweep_is_solved_once_and_said_what_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, csv = str(tmp_path / "store"), tmp_path / "rows.csv"
    assert main(["sweep", WORDS, "--store", store, "--dry-run"]) == 0
    assert "4 left to solve" in capsys.readouterr().out
    assert main(["sweep", WORDS, "--store", store, "--workers", "1", "--csv", str(csv)]) == 0
    printed = capsys.readouterr()
    assert "2 of 2" in printed.out
    assert "4 of 4 runs" in printed.err
    assert len(csv.read_text().splitlines()) == 5
    assert main(["sweep", WORDS, "--store", store, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["status"] for row in document["runs"]] == ["converged"] * 4
    assert Sweep.from_json(json.dumps(document["sweep"])) == Sweep.from_words(WORDS)
    assert main(["sweep", WORDS, "--store", store, "--dry-run", "--shard", "1/2"]) == 0
    assert "4 runs, 2 of them in this share:\n2 finished before, 0 failed before, 0 left" in capsys.readouterr().out


@pytest.mark.full
def test_files_of_ones_own_are_swept_as_data_sets_are_and_said_as_they_were_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my, data $"
    folder.mkdir()
    rows = [f"{x},{x % 3},{'ab'[x % 2]}" for x in range(40)]
    (folder / "mine.csv").write_text("\n".join(["one,two,kind", *rows]))
    kept = ["--store", str(tmp_path / "store"), "--workers", "1", "--json"]
    words = f'data="{folder}/mine.csv",heart; target=kind; split=0,1; solvers=level; kernels=linear'
    main(["sweep", words, *kept])
    first, told = (json.loads(text) if text[:1] == "{" else text for text in capsys.readouterr())
    assert {row["data"] for row in first["runs"]} == {"mine", "heart"}
    assert 'Label "a" is -1' in told
    main(["sweep", first["words"], *kept])  # as it was written
    again, told = (json.loads(text) if text[:1] == "{" else text for text in capsys.readouterr())
    assert again["key"] == first["key"]
    assert "4 there before" in told
    assert main(["sweep", f"data={tmp_path}/none.csv; split=0,1", *kept]) == 2
    assert "none.csv cannot be read" in capsys.readouterr().err


@pytest.mark.full
def test_what_failed_and_what_missed_the_gap_is_said_and_is_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "store")
    csv = tmp_path / "rows.csv"
    before = open_store().runs("made:sweep data:iris")  # of other tests
    assert main(["sweep", "data=iris; solvers=level", "--no-store", "--workers", "1", "--csv", str(csv)]) == 1
    assert "more than two classes" in csv.read_text()
    printed = capsys.readouterr()
    assert "more than two classes" in printed.out
    assert "switched off" not in printed.err
    assert open_store().runs("made:sweep data:iris") == before
    assert main(["sweep", f"{WORDS}; gap=1e-9; max-iter=1", "--store", store, "--workers", "1"]) == 3
    out = capsys.readouterr().out
    assert "≥" in out
    assert "did not reach the gap" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["data=sonarr"], "sonarr"),
        (["data=sonar", "--shard", "5/3"], "K/N"),
        (["data=sonar", "--csv", "rows.txt"], "ends in .csv"),
        (["data=sonar", "--dask", "x", "--workers", "2"], "leave --workers"),
        (["data=sonar", "--dask", "x"], "tcp://HOST:8786. To start one, “dask scheduler"),
        (["data=sonar", "--dask", "tcp://127.0.0.1:1"], "There is no Dask scheduler at tcp://127.0.0.1:1"),
    ],
)
def test_mistakes_are_sentences(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *arguments, "--store", "none"]) == 2
    assert said in capsys.readouterr().err


# The Tab key: bash is asked what it would offer; zsh reads the same text, fish a line for each word


@cache
def bash() -> str:
    return script("bash", make_parser())


def offered(*words: str, folder: str = ".") -> list[str]:
    """What bash offers for the last word."""
    given = " ".join(f"'{word}'" for word in ("mklviz", *words))
    asked = (
        f"{bash()}\nCOMP_WORDS=({given}); COMP_CWORD={len(words)}\n"
        '_mklviz mklviz "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


def actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions


def flags(parser: argparse.ArgumentParser) -> set[str]:
    return {flag for action in actions(parser) for flag in action.option_strings}


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser, by name."""
    added = [action for action in actions(parser) if isinstance(action, argparse._SubParsersAction)]
    return {name: command for action in added for name, command in action.choices.items()}


def commands() -> dict[str, argparse.ArgumentParser]:
    return below(make_parser())


def test_commands_are_offered_first_and_what_they_can_do_by_bash_and_by_zsh_which_reads_the_same() -> None:
    assert set(offered("")) == {*commands(), "--help", "--version"}
    assert offered("ra") == ["race"]
    of_runs = below(commands()["runs"])
    assert set(offered("runs", "")) >= set(of_runs)
    assert offered("runs", "li") == ["list"]
    assert "--limit" not in offered("runs", "show", "-")
    for name, parser in of_runs.items():
        assert flags(parser) <= set(offered("runs", name, "-"))
    assert tuple(SHELLS) == NAMED
    told = script("zsh", make_parser())
    assert told.endswith(bash())
    assert "bashcompinit" in told


@pytest.mark.parametrize("command", commands())
def test_every_option_of_a_command_is_offered(command: str) -> None:
    assert flags(commands()[command]) <= set(offered(command, "-"))


def test_names_are_offered_after_their_options(tmp_path: object) -> None:
    folder = str(tmp_path)
    for option, known in (
        ("--data", mv.list_datasets()),
        ("--loss", loss_families()),
        ("--regularizer", regularizer_families()),
        ("--solvers", mv.available_solvers()),
        ("--scenario", scenarios()),
    ):
        assert set(offered("run", option, "", folder=folder)) == set(known), option
    assert set(offered("reproduce", "", folder=folder)) >= {*all_claims()}
    assert set(offered("fit", "--solver", "", folder=folder)) == set(mv.available_solvers())
    Path(folder, "mine.csv").touch()
    for words in (("run", "--html"), ("fit",), ("check",), ("lessons", "check"), ("desktop",), ("serve", "--lessons")):
        assert "mine.csv" in offered(*words, "", folder=folder), words
    assert offered("run", "--data", "son") == ["sonar"]
    assert offered("run", "--C", "") == []
    assert set(offered("completion", "")) >= set(NAMED)


def test_fish_has_a_line_for_every_option_of_every_command() -> None:
    lines = script("fish", make_parser()).splitlines()
    assert all(line.startswith("complete -c mklviz") for line in lines)
    assert all(line.replace("\\'", "").count("'") % 2 == 0 for line in lines)  # every quote is closed
    for name, command in commands().items():
        own = [line for line in lines if f"'__fish_seen_subcommand_from {name}'" in line]
        assert len(own) == (len(below(command)) or len(actions(command)))
        for action, parser in below(command).items():
            own = [line for line in lines if f"_from {name}; and __fish_seen_subcommand_from {action}'" in line]
            assert len(own) == len(actions(parser))
    (data,) = [line for line in lines if "_from run'" in line and " -l data " in line]
    assert " -r -F -a '" in data
    assert " two_moons " in data


# What a long run leaves behind, however it ends


TRAIN, _ = mv.load_dataset("sonar").split(train=0.2, seed=0)
POSED = mv.Problem(mv.paper_bank(TRAIN.X), TRAIN.y, mv.Hinge(100.0))


def begun(steps: int = 3) -> Race:
    race = Race(POSED, ["silp", "spg"], rules=[])
    for run in race.runs.values():
        for _ in range(steps):
            run.advance()
    return race


def rows(file: Path) -> int:
    with file.open() as opened:
        return len(list(csv.DictReader(opened)))


class AtOnce(Outputs):
    every_seconds = at_least_seconds = 0.0


def test_files_are_written_while_a_race_runs(tmp_path: Path) -> None:
    table, runs = tmp_path / "steps.csv", tmp_path / "runs.zip"
    Outputs(csv=table).keep_up(begun())  # but not too often
    assert not table.exists()
    kept, race = AtOnce(csv=table, save=runs), begun()
    kept.keep_up(race)
    assert rows(table) == 6
    for run in race.runs.values():
        run.advance()
    kept.keep_up(race)
    assert rows(table) == 8
    with zipfile.ZipFile(runs) as archive:
        archive.extract("silp.mklrun.npz", tmp_path)
    trace = mv.Trace.load(tmp_path / "silp.mklrun.npz")
    assert (len(trace), trace.status) == (4, "stopped")
    assert "still going" in trace.reason


def test_no_cell_of_a_table_in_text_is_a_formula_and_one_function_writes_all_tables() -> None:
    """Spreadsheets compute what begins so, and a formula may send away what stands beside it."""
    texts = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\uff1d1", "-1.5", "+2", "-", "plain", "'quoted"]
    told = ["'=1+1", "'+cmd", "'-x", "'@SUM(A1)", "'\tx", "'\uff1d1", "-1.5", "+2", "'-", "plain", "'quoted"]
    table = pd.DataFrame({"=name": texts, "number": -np.arange(11.0), "mixed": [*texts[:10], -3]})
    file = io.BytesIO()
    write_csv(table, file)
    rows = list(csv.reader(io.StringIO(file.getvalue().decode())))
    assert rows[0] == ["'=name", "number", "mixed"]
    assert [row[0] for row in rows[1:]] == told
    assert [float(row[1]) for row in rows[1:]] == table.number.tolist()
    assert [row[2] for row in rows[1:]] == [*told[:10], "-3"]
    assert list(table) == ["=name", "number", "mixed"]
    drawn = as_file(Points((-1.0,), (2.0,), ("=A1",)), ("-x", "y"), cell).decode()
    assert drawn == "'-x,y,class\n-1.0,2.0,'=A1\n"
    numbers = ["-0,132", "-1.234,5", "+5 %", "-.5", "-1e-5", "-1 234", "word", 2.5]
    assert [cell(value) for value in numbers] == numbers
    formulas = ["-1+2", "+cmd|1", "-2-3", "@sum", "\t=1"]
    assert [cell(value) for value in formulas] == [f"'{value}" for value in formulas]
    texts = {name: path.read_text(encoding="utf-8") for name, path in SOURCES.items()}
    assert [name for name, text in texts.items() if ".to_csv(" in text] == ["mklviz.record.summary"]
    assert [name for name, text in texts.items() if "csv.writer(" in text] == ["mklviz.analysis.drawn_points"]


def test_a_parquet_table_is_written_beside_the_csv_one_or_refused_before_the_race(
    tmp_path: Path, without: Callable[[str], None]
) -> None:
    pytest.importorskip("pyarrow")
    wanted = tmp_path / "steps.parquet"
    kept = Outputs(csv=tmp_path / "steps.csv", parquet=wanted)
    assert kept.finish(begun())
    assert len(pd.read_parquet(wanted)) == 6
    assert rows(tmp_path / "steps.csv") == 6
    without("pyarrow")
    with pytest.raises(MklvizError, match="pip install pyarrow"):
        Outputs(parquet=wanted)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_sentence_and_the_other_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.zip"
    kept = Outputs(csv=Path("/dev/full"), save=runs)
    assert not kept.finish(begun())
    assert capsys.readouterr().err == "mklviz: /dev/full cannot be written: No space left on device.\n"
    assert zipfile.is_zipfile(runs)
