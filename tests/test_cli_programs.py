"""What programs get from the command line: one JSON document, what a sweep prints, and exit codes that say it all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.cli.parser import LISTS
from mklviz.contract import Iterate, Solver
from mklviz.engine import solver_classes
from mklviz.problem import Problem
from mklviz.record.store import open_store, reset
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


def test_where_there_is_no_gap_the_document_has_null(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--data", "two_moons", "--combination", "product", "--regularizer", "l1-penalty", "--C", "10"]
    assert main([*words, "--solvers", "spg", "--json"]) == 0
    (run,) = document(capsys)["runs"]
    assert run["gap"] is None
    assert run["lower_bound"] is None


def test_a_path_is_one_document_with_an_entry_per_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", *SMALL, "--solver", "newton", "--vary", "C=100:1:3", "--json"]) == 0
    found = document(capsys)
    assert (found["parameter"], found["solver"], found["warm_starts"], found["complete"]) == ("C", "newton", True, True)
    assert [entry["value"] for entry in found["values"]] == pytest.approx([100.0, 10.0, 1.0])
    assert all(entry["status"] == "converged" for entry in found["values"])


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_one_document(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 0
    shown = capsys.readouterr().out
    assert main([name, "--json"]) == 0
    entries = document(capsys)[name]
    assert len(entries) > 3
    assert [entry["name"] for entry in entries if entry["name"] not in shown] == []


def test_a_limit_that_came_before_the_gap_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--solvers", "level", "--max-iter", "2"]
    assert main(["run", *SMALL, *limits, "--gap", "1e-6"]) == 3
    assert "Reached the limit of 2 iterations." in capsys.readouterr().out
    assert main(["run", *SMALL, *limits, "--gap", "none"]) == 0
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
def test_a_solver_that_breaks_down_is_exit_code_1_and_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", *SMALL, "--solvers", "spg,level", "--json"]) == 1
    failed, other = document(capsys)["runs"]
    assert failed["status"] == "failed"
    assert failed["reason"] == "SPG broke down: ZeroDivisionError: by zero"
    assert other["status"] == "converged"


@pytest.mark.usefixtures("broken")
def test_a_path_whose_solver_breaks_down_prints_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", *SMALL, "--solver", "spg", "--vary", "C=10,1"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == "mklviz: SPG broke down: ZeroDivisionError: by zero"
    assert "failed" in captured.out


def test_bad_words_leave_the_output_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--solvers", "levle", "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Did you mean level?" in captured.err


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["path", "--help"]])
def test_the_help_says_what_exit_codes_mean(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
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


def test_a_store_and_none_are_not_asked_for_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sweep", WORDS, "--no-store", "--store", "here"])
    assert "not allowed with argument" in capsys.readouterr().err
