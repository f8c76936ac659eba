"""From a file to an answer without Python: ``mklviz fit`` and ``mklviz predict``, and a table that races predict."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklviz.cli import main
from mklviz.datasets import DataError, NewTable, read_dataset
from mklviz.engine import solve
from mklviz.errors import MklvizError
from mklviz.learn.table import columns_of, estimator_of, load_model, model_bytes, model_of, predicted
from mklviz.recipe import Recipe
from mklviz.recipe.new_samples import Columns, Predictions, predicted_by

KERNELS = "gauss:1,4@all+each"


def rows(count: int, seed: int = 0) -> pd.DataFrame:
    """Return a table of numbers and words whose class and price both follow from them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(count, 2)).round(3), columns=["one", "two"])
    table["colour"] = rng.choice(["red", "green", "blue"], count)
    score = table.one + (table.colour == "red")
    return table.assign(kind=np.where(score > 0.3, "yes", "no"), price=(100.0 + 5.0 * score).round(2))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows(80).drop(columns="price").to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


@pytest.mark.full
def test_a_model_of_a_table_predicts_others_whatever_their_order_of_columns_and_says_how_right_it_is(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, new, out = (str(file.with_name(name)) for name in ("model.skops", "new.csv", "out.csv"))
    words = ["fit", str(file), "--target", "kind", "--kernels", KERNELS, "--loss", "logistic", "--out", model]
    assert main(words) == 0
    assert "80 rows, 5 features; the target is kind: no, yes" in capsys.readouterr().out
    table = rows(40, seed=1)[["kind", "colour", "two", "one"]]
    table.to_csv(new, sep=";", index=False)
    assert main(["predict", model, new, "--out", out]) == 0
    written, said = pd.read_csv(out), capsys.readouterr().out
    pd.testing.assert_frame_equal(written[list(table.columns)], table.reset_index(drop=True))
    right = int((written["predicted kind"] == table.kind.to_numpy()).sum())
    assert f"accuracy {100 * right / 40:.1f} %: {right} of 40 rows right" in said
    assert right >= 32
    shares = written[["probability of no", "probability of yes"]].to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)  # of what is written to six digits
    assert ((shares[:, 1] > 0.5) == (written["predicted kind"] == "yes")).all()
    table.drop(columns="kind").to_csv(new, index=False)
    assert main(["predict", model, new]) == 0  # into the output
    assert list(pd.read_csv(io.StringIO(capsys.readouterr().out))["predicted kind"]) == list(written["predicted kind"])
    command = [sys.executable, "-m", "mklviz", "predict", model, "-"]
    piped = subprocess.run(command, input=Path(new).read_bytes(), capture_output=True, check=True).stdout
    assert list(pd.read_csv(io.BytesIO(piped))["predicted kind"]) == list(written["predicted kind"])


def test_numbers_are_predicted_in_their_own_unit(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows(80).drop(columns="kind").to_csv(file, index=False)
    test, model = file.with_name("test.csv"), file.with_name("model.skops")
    rows(40, seed=1).to_csv(test, index=False)
    words = ["fit", str(file), "--kernels", KERNELS, "--C", "10", "--out", str(model), "--test", str(test)]
    assert main(words) == 0
    score = float(capsys.readouterr().out.split("R² ")[1].split()[0])
    assert 0.8 < score <= 1.0


def test_a_test_file_that_is_not_there_is_named_and_a_mean_of_kernels_needs_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "model.skops")
    assert main(["fit", "iris", "--kernels", KERNELS, "--out", model, "--test", "nofile.csv"]) == 2
    assert "nofile.csv" in capsys.readouterr().err
    left, right = (tmp_path / name for name in ("left.csv", "right.csv"))
    table = rows(60).assign(id=range(60))
    table[["id", "one", "kind"]].to_csv(left, index=False)
    table[["id", "two"]].iloc[5:].to_csv(right, index=False)
    words = ["fit", f"{left},{right}", "--target", "kind", "--kernels", KERNELS, "--out", model]
    assert main([*words, "--missing-view", "average"]) == 2
    assert "--missing-view leave-out" in capsys.readouterr().err
    assert main([*words, "--missing-view", "leave-out"]) == 0


def test_what_a_table_lacks_is_said_and_gaps_are_filled_in(file: Path) -> None:
    model = model_of(read_dataset(file, target="kind"), kernels=KERNELS)
    table = rows(4).astype(object)
    table.loc[0, "one"], table.loc[1, "two"], table.loc[2, "colour"] = None, "many", "violet"
    found = predicted(model, NewTable.of(table))
    assert len(found.values) == 4
    assert [note for note in found.notes if "many" in note]
    assert any("2 missing values" in note for note in found.notes)
    X, _ = columns_of(model).read(NewTable.of(table))
    assert X[2, 2:].tolist() == [0.0, 0.0, 0.0]  # no word of the table that was learned from
    assert X[0, 0] == columns_of(model).fill[0]
    with pytest.raises(DataError, match='the column "two", and the table has "one", "colour"'):
        predicted(model, NewTable.of(table[["one", "colour"]]))


@pytest.mark.parametrize("standardize", [True, False])
def test_kernels_look_at_columns_by_their_names(standardize: bool, file: Path) -> None:
    data = read_dataset(file, target="kind")
    model = model_of(data, standardize, kernels='linear@one gauss:1@"colour=red",two')
    assert estimator_of(model).kernel_names_[0] == "linear on one"
    assert len(predicted(load_model(model_bytes(model), "m.skops"), NewTable.of(rows(4))).values) == 4


def test_a_file_that_is_no_model_is_refused_and_never_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(read_dataset(file, target="kind"), kernels=KERNELS)
    content = model_bytes(model)
    again = load_model(content, "model.skops")
    np.testing.assert_array_equal(estimator_of(again).weights_, estimator_of(model).weights_)
    strange = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(strange, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"StandardScaler", b"Popen").replace(b"_data", b"_dota"))
    for wrong in (b"", b"no model", content[:1000], pickle.dumps(1), strange.getvalue()):
        with pytest.raises(MklvizError, match=r"no model that mklviz fit wrote|does not open"):
            load_model(wrong, "wrong.skops")
    assert main(["predict", str(file.with_name("none.skops")), str(file)]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    for words in (["--out", "model.pkl"], ["--C", "x"], ["--max-iter", "0"], ["--standardize", "maybe"]):
        assert main(["fit", str(file), *words]) == 2


def test_libsvm_text_leaves_zeros_out_also_of_new_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.7)
    lines = [f"{1 if x[0] > 0 else -1} {' '.join(f'{j + 1}:{v:.3f}' for j, v in enumerate(x) if v)}" for x in X]
    (tmp_path / "train.svm").write_text("\n".join(lines))
    model = model_of(read_dataset(tmp_path / "train.svm"), kernels=KERNELS)
    few = "\n".join(line.split(" 3:")[0] for line in lines)  # without the last column
    table = columns_of(model).table(few.encode(), "test.svm")
    assert predicted(model, table).score(table).startswith("accuracy")


@pytest.mark.parametrize("words", ["data=iris; loss=multiclass-hinge", "data=iris; positive=setosa", "data=heart"])
def test_the_solution_of_a_race_predicts_its_held_out_samples_from_a_table_as_it_did_itself(words: str) -> None:
    recipe = Recipe.from_words(f"{words}; kernels=gauss:1,4; solvers=level")
    prepared = recipe.prepare()
    best = solve(prepared.problem, "level", gap=0.1).best
    raw = recipe.load().split(train=recipe.split.train, seed=recipe.split.seed, standardize=False)[1]
    places = (raw.y > 0.0 if raw.task == "binary" else raw.y).astype(int)
    table = pd.DataFrame(raw.X, columns=list(raw.feature_names)).assign(target=[raw.classes[k] for k in places])
    found = predicted_by(recipe, prepared, best, table := NewTable.of(table))
    assert found.score(table).startswith(f"accuracy {100 * prepared.score(best):.1f} %: ")


def test_numbers_that_a_race_predicts_are_in_the_tables_unit() -> None:
    recipe = Recipe.from_words("data=diabetes; loss=squared:C=1; kernels=gauss:4,8; solvers=spg")
    prepared = recipe.prepare()
    best = solve(prepared.problem, "spg", gap=0.1).best
    raw = recipe.load().split(train=recipe.split.train, seed=recipe.split.seed, standardize=False)[1]
    table = pd.DataFrame(raw.X, columns=list(raw.feature_names)).assign(target=raw.y)
    found = predicted_by(recipe, prepared, best, table := NewTable.of(table))
    assert float(found.score(table).split()[1]) == pytest.approx(prepared.score(best), abs=1e-4)


def test_kernels_without_features_are_refused() -> None:
    data = read_dataset(_grams(), "grams.npz")
    with pytest.raises(DataError, match="kernels without features"):
        Columns.of(data)


def _grams() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, grams=np.stack([np.eye(6)] * 2), y=np.array([-1.0, 1.0] * 3))
    return buffer.getvalue()


def test_new_tables_are_read_as_it_was_said_of_the_first(tmp_path: Path) -> None:
    lines = "".join(f"{1 + i % 9}.{100 + i};{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"size;kind\n{lines}")
    data = read_dataset(tmp_path / "t.csv", target="kind", decimal=",", na="?9")
    model = load_model(model_bytes(model_of(data, kernels="linear")), "m.skops")
    for columns in (Columns.of(data), columns_of(model)):
        X, _ = columns.read(columns.table(b"size;more\n1.234;a\n2.345;b\n?9;c\n", "new.csv"))
        assert X[:2, 0].tolist() == [1234.0, 2345.0]


def test_rows_without_a_number_are_no_part_of_what_is_said_of_predictions() -> None:
    table = NewTable.of(pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": ["1", "2", "4", "unknown"]}))
    assert Predictions("y", np.array([1.0, 2.0, 4.0, 9.0])).score(table) == "R² 1.0000 on 3 rows"
