"""``mklviz sweep``: what it prints and writes, what is left to do, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mklviz.cli import main
from mklviz.record.store import open_store, reset
from mklviz.sweeps import Sweep

WORDS = "data=heart; split=0,1; solvers=level,newton; kernels=gauss:1,2@all"


@pytest.fixture(autouse=True)
def _left() -> Iterator[None]:
    yield
    reset()


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
