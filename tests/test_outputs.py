"""What a long run on the command line leaves behind, however it ends."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _sources import SOURCES

import mklviz as mv
from mklviz.analysis.drawn_points import Points, as_file
from mklviz.cli import race as outputs
from mklviz.cli.race import Outputs
from mklviz.engine import Race
from mklviz.errors import MklvizError
from mklviz.quoting import cell
from mklviz.record import summary as tables
from mklviz.record.summary import write_csv

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


def test_files_are_written_while_a_race_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(outputs, "AT_LEAST_SECONDS", 0.0)
    table, runs = tmp_path / "steps.csv", tmp_path / "runs.zip"
    kept, race = Outputs(table, runs), begun()
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


def test_no_cell_of_a_table_in_text_is_a_formula_and_numbers_stay_numbers() -> None:
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


def test_every_table_in_text_is_written_by_one_function() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in SOURCES.items()}
    assert [name for name, text in texts.items() if ".to_csv(" in text] == ["mklviz.record.summary"]
    assert [name for name, text in texts.items() if "csv.writer(" in text] == ["mklviz.analysis.drawn_points"]


def test_a_parquet_table_is_written_beside_the_csv_one_or_refused_before_the_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = tmp_path / "steps.parquet"
    monkeypatch.setattr(tables, "find_spec", lambda _name: None)
    with pytest.raises(MklvizError, match="pip install pyarrow"):
        Outputs(parquet=wanted)
    monkeypatch.undo()
    pytest.importorskip("pyarrow")
    kept = Outputs(tmp_path / "steps.csv", parquet=wanted)
    assert kept.finish(begun())
    assert len(pd.read_parquet(wanted)) == 6
    assert rows(tmp_path / "steps.csv") == 6


def test_nothing_is_written_too_often(tmp_path: Path) -> None:
    table = tmp_path / "steps.csv"
    kept = Outputs(table, None)
    kept.keep_up(begun())
    assert not table.exists()
    assert kept.finish(begun())
    assert rows(table) == 6


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_sentence_and_the_other_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.zip"
    kept = Outputs(Path("/dev/full"), runs)
    assert not kept.finish(begun())
    assert capsys.readouterr().err == "mklviz: /dev/full cannot be written: No space left on device.\n"
    assert zipfile.is_zipfile(runs)


def test_a_folder_that_is_missing_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(MklvizError, match="There is no folder"):
        Outputs(None, tmp_path / "no" / "runs.zip")
