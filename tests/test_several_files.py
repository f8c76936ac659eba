"""Several files as one data set: X and y apart, views of the same samples, rows to test."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _corpus import member
from _samples import (
    HEAD,
    HEADED,
    KERNELS,
    TRAINED,
    WORDS,
    K,
    N,
    X,
    Y,
    is_the_table,
    matlab,
    read,
    rows,
    saved,
    text,
    written,
    zipped,
)
from scipy.io import savemat

import mklviz as mv
from mklviz.datasets import DataError, Dataset, read_dataset, read_dataset_bytes
from mklviz.quoting import listed


def test_a_zip_with_one_file_is_that_file_and_with_several_one_data_set() -> None:
    assert is_the_table(read(zipped(x_arff=(HEAD + rows()).encode()), "x.zip"))
    data = read(zipped(first_csv=text(K), second_txt=text(KERNELS[1], delimiter=","), y_csv=text(Y, fmt="%d")), "k.zip")
    assert data.kernel_names == ("first", "second")
    assert np.allclose(data.grams, KERNELS[:2])
    assert is_the_table(read(zipped(X_npy=member(X), y_csv=text(Y, fmt="%d")), "x.zip"))
    data = read(zipped(x_csv=(HEADED + rows()).encode(), noise_bin=b"\x00\x01", README=b"about"), "x.zip")
    assert data.notes[-1] == data.table.done[-1] == "Passed over, as their names are not those of tables: noise.bin."


def test_x_and_y_as_two_files_and_a_folder_of_kernels(tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, x_csv=text(X), y_csv=text(Y)))
    assert is_the_table(data)
    assert data.classes == ("0", "1")
    folder = tmp_path / "kernels"
    folder.mkdir()
    for k, matrix in enumerate(KERNELS):
        np.save(folder / f"kernel{k}.npy", matrix)
    np.save(folder / "labels.npy", Y)
    data = read_dataset(folder)
    assert data.kernel_names == ("kernel0", "kernel1", "kernel2")


def views() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables of the same samples, called by a column "id", in another order."""
    ids = np.array([f"s{i}" for i in range(N)])
    sound = pd.DataFrame({"id": ids, "loud": X[:, 0], "high": X[:, 1], "class": WORDS})
    picture = pd.DataFrame({"id": ids, "red": X[:, 2], "size": np.where(Y, "big", "small")})
    return sound, picture.sample(frac=1.0, random_state=1)


def test_tables_of_the_same_samples_are_views_matched_by_their_identifiers(tmp_path: Path) -> None:
    sound, picture = views()
    data = read_dataset(written(tmp_path, sound_csv=sound, picture_csv=picture), target="sound: class")
    assert data.feature_names == ("sound: loud", "sound: high", "picture: red", "picture: size=small")
    assert data.groups == ((0, 1), (2, 3))
    assert np.allclose(data.X[:, :3], X)
    again = read_dataset(tmp_path)
    assert again.table.options.target == "sound: class"  # which is its name in the view
    with pytest.raises(DataError, match="different numbers of rows"):
        read_dataset(written(tmp_path, sound_csv="a,b\n1,x\n", picture_csv="c,d\n1,x\n2,y\n"))


@pytest.mark.parametrize("lacking", ["picture", "sound"])
def test_the_mean_of_other_kernels_stands_for_those_of_a_view_that_lacks_a_sample(lacking: str, tmp_path: Path) -> None:
    sound, picture = (view.set_index("id", drop=False).loc[views()[0]["id"]] for view in views())
    sound, picture = (sound, picture[5:]) if lacking == "picture" else (sound[5:], picture.assign(kind=WORDS))
    paths = written(tmp_path, sound_csv=sound, picture_csv=picture)
    target = "sound: class" if lacking == "picture" else "picture: kind"
    whole = read_dataset(paths, target=target, missing_view="average")
    apart = read_dataset(paths, target=target, missing_view="leave-out")
    assert (whole.n_samples, apart.n_samples) == (N, N - 5)
    notes = "".join(read_dataset(paths, target=target).notes)
    assert f"5 of 40 samples are missing in the view {lacking}" in notes
    assert apart.absent is None
    assert whole.absent.sum(axis=0).tolist() == ([0, 5] if lacking == "picture" else [5, 0])
    recipe = mv.Recipe.from_words("kernels=linear@views; normalize=none; train=60%").on(whole)
    prepared = recipe.prepare()
    assert (prepared.train.n_features, len(prepared.problem.bank)) == (0, 2)
    train, _ = whole.split(train=0.6)
    first, second = (train.X[:, group] @ train.X[:, group].T for group in train.groups)
    gone = train.absent.any(axis=1)
    theirs, other = (second, first) if lacking == "picture" else (first, second)
    expected = np.where(gone[:, None] | gone[None, :], other, theirs)
    assert np.allclose(prepared.train.grams[1 if lacking == "picture" else 0], expected)
    again = mv.Recipe.from_words(recipe.to_words())
    assert again == recipe
    assert again.data.missing_view == "average"


def test_a_target_that_stands_in_every_view_is_taken_once(tmp_path: Path) -> None:
    sound, picture = views()
    marked = picture.assign(**{"class": [WORDS[int(name[1:])] for name in picture["id"]]})
    paths = written(tmp_path, sound_csv=sound, picture_csv=marked[:-3])
    for given in ([*paths], [*paths][::-1]):
        for target in (None, "class"):
            data = read_dataset(given, target=target, missing="fill")
            assert not [name for name in data.feature_names if "class" in name]
            assert data.n_samples == N
    data = read_dataset(paths, target="class", missing_view="average")
    assert data.absent.sum(axis=0).tolist() == [0, 3]
    both = {f"{name}_csv": view.drop(columns="id") for name, view in zip("ab", views(), strict=True)}
    assert "The tables are joined row by row." in read_dataset(written(tmp_path, **both)).notes


def test_identifiers_that_stand_there_twice_are_the_same_in_text_and_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    first, second = (view.assign(id=[f"p{i // 2}" for i in range(N)]) for view in views())
    first.assign(**{"class": WORDS}).to_csv(tmp_path / "a.csv", index=False)
    second.to_parquet(tmp_path / "b.parquet", index=False)
    given = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    for paths in (given, given[::-1]):
        assert "The tables are joined row by row." in read_dataset(paths).notes


@pytest.mark.parametrize(
    ("name", "written_as"), [("ID", "{}"), ("id", "{}.0"), ("id", "{:04d}"), ("sample_id", "{}"), ("who", "p{}")]
)
def test_samples_are_matched_however_they_are_written(name: str, written_as: str, tmp_path: Path) -> None:
    ids = [f"p{i}" if name == "who" else str(i) for i in range(N)]
    first = pd.DataFrame({"id": ids, "a": X[:, 0], "b": X[:, 1], "class": WORDS})
    second = pd.DataFrame({name: [written_as.format(i) for i in range(N)], "c": X[:, 2], "d": X[:, 2]})[::-1]
    data = read_dataset(written(tmp_path, one_csv=first, two_csv=second))
    assert np.allclose(data.X[:, :3], X)


def test_a_view_of_one_column_is_no_target_beside_one_called_so_and_a_repeated_sample_is_named(tmp_path: Path) -> None:
    sound, picture = views()
    data = read_dataset(written(tmp_path, sound_csv=sound, picture_csv=picture[["id", "red"]]))
    assert data.classes == ("no", "yes")
    assert data.feature_names[2] == "red"
    picture.iloc[3, 0] = picture.iloc[5, 0]
    paths = written(tmp_path, sound_csv=sound, picture_csv=picture)
    with pytest.raises(DataError, match=f'picture has "{picture.iloc[5, 0]}" there more than once'):
        read_dataset(paths)


def test_a_kernel_whose_samples_are_called_takes_a_table_in_its_order(tmp_path: Path) -> None:
    sound, _ = views()
    names = sound["id"].sample(frac=1.0, random_state=3)
    order = names.index.to_numpy()
    kernel = pd.DataFrame(K, sound["id"], sound["id"]).loc[names, names].to_csv()
    for columns in (["id", "class"], ["id", "loud", "high", "class"]):
        data = read_dataset(written(tmp_path, k_csv=kernel, t_csv=sound[columns]))
        assert np.allclose(data.grams[0], K[np.ix_(order, order)])
        assert np.array_equal(np.array(data.classes)[(data.y > 0).astype(int)], WORDS[order])
        assert data.n_features == len(columns) - 2
        assert "Rows are matched by the column id." in data.notes
    data = read_dataset(written(tmp_path, k_csv=kernel, t_csv=sound[["class"]]))
    assert f"The labels name no samples, and are taken in the order of the kernel's: {listed(names)}." in data.notes
    whole = pd.DataFrame(K, sound["id"], sound["id"])
    data = read_dataset(written(tmp_path, k_csv=kernel, k2_csv=whole.to_csv(), t_csv="\n".join(WORDS)))
    assert np.array_equal(data.grams[0], data.grams[1])
    (tmp_path / "k2.csv").unlink()
    classes = pd.DataFrame(K, WORDS, WORDS).to_csv()
    data = read_dataset(written(tmp_path, k_csv=classes, t_csv="\n".join(WORDS)))
    assert np.allclose(data.grams[0], K)
    with pytest.raises(DataError, match="a kernel of 40 samples, and the table beside it has 30 rows"):
        read_dataset(written(tmp_path, k_csv=text(K), t_csv=sound[["loud", "class"]][:30]))


def test_what_people_say_of_their_data_is_no_table(tmp_path: Path) -> None:
    beside = {"README_txt": b"Two, words", "LICENSE_txt": b"CC BY", "Thumbs_db": b"\xd0\xcf", "load_py": b"import os\n"}
    beside |= {"notes_txt": b"Measured in 1999,\nby us.\n", "Index": b"02 Dec 1996 Index\n"}
    table = (HEADED + rows()).encode()
    assert is_the_table(read(zipped(t_csv=table, **beside), "t.zip"))
    written(tmp_path, t_csv=table, **beside)
    assert is_the_table(read_dataset(tmp_path))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (saved(X=X), pd.Series(WORDS, name="class").to_csv()),
        (pd.DataFrame(X, columns=[*"abc"]).to_csv(), pd.Series(WORDS, name="class").to_csv(index_label="index")),
        (pd.DataFrame(X, columns=[*"abc"]).to_csv(index=False), pd.Series(WORDS, name="class").to_csv()),
    ],
)
def test_row_numbers_beside_labels_are_no_feature(first: str | bytes, second: str, tmp_path: Path) -> None:
    assert is_the_table(read_dataset(written(tmp_path, x_dat=first, y_csv=second)))


SERIES = pd.Series(WORDS)
ONE_ROW = " ".join(map(str, Y)) + "\n"
FROM_1 = SERIES.set_axis(range(1, N + 1)).rename("grade").to_csv()


@pytest.mark.parametrize(
    "labels",
    [SERIES.to_csv(), SERIES.to_csv(index=False), ONE_ROW, FROM_1, FROM_1.removeprefix(",")],
    ids=["pandas", "pandas without numbers", "one row", "rows from 1", "R"],
)
@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("names", [("a", "b", "c"), (0, 1, 2)], ids=["names", "no names"])
def test_labels_are_those_of_the_table_beside_them_however_both_are_written(
    names: tuple[object, ...], numbered: bool, labels: str, tmp_path: Path
) -> None:
    samples = pd.DataFrame(X, columns=names).to_csv(index=numbered)
    data = read_dataset(written(tmp_path, x_csv=samples, y_csv=labels))
    assert len(data.y) == N
    assert np.allclose(data.X, X)
    assert np.array_equal(data.y > 0, np.equal(Y, max(Y)))


def test_samples_of_a_kernel_are_numbered_from_0_or_from_1(tmp_path: Path) -> None:
    numbered = pd.DataFrame(K, range(1, N + 1), [f"V{i}" for i in range(N)]).to_csv()
    data = read_dataset(written(tmp_path, k_csv=numbered, y_csv=pd.Series(Y, name="class").to_csv()))
    assert np.allclose(data.grams[0], K)
    assert np.array_equal(data.y > 0, np.equal(Y, max(Y)))


@pytest.mark.parametrize("write", [lambda grid: grid.to_csv(index=False), lambda grid: text(grid, fmt="%d")])
def test_a_grid_with_a_label_for_each_row_is_no_kernel(write: Callable[[pd.DataFrame], str], tmp_path: Path) -> None:
    grid = pd.DataFrame([(i, j, abs(i - j)) for i in range(8) for j in range(8)], columns=["row", "column", "apart"])
    labels = "\n".join(["uv"[i % 3 % 2] for i in range(64)])
    data = read_dataset(written(tmp_path, x_csv=write(grid), y_csv=labels))
    assert data.grams is None
    assert np.array_equal(data.X, grid)


def test_values_missing_in_samples_without_names_are_missing_in_a_table(tmp_path: Path) -> None:
    gaps = np.where(np.arange(3 * N).reshape(N, 3) == 7, np.nan, X)
    files = written(tmp_path, x_csv=text(gaps), y_csv=text(Y, fmt="%d"))
    assert read_dataset(files).X.shape == (N - 1, 3)
    assert read_dataset(files, missing="fill").X.shape == (N, 3)


@pytest.mark.parametrize("numbered", [True, False])
def test_parts_that_pandas_wrote_each_with_its_row_numbers_or_none_are_stacked(numbered: bool, tmp_path: Path) -> None:
    parts = {"train": slice(TRAINED), "test": slice(TRAINED, N)}
    for part, rows_of in parts.items():
        pd.DataFrame(X[rows_of]).to_csv(tmp_path / f"x_{part}.csv", index=numbered)
        pd.Series(Y[rows_of]).to_csv(tmp_path / f"y_{part}.csv", index=numbered)
    halves(read_dataset(tmp_path))


def test_a_target_is_heeded_where_objects_of_json_may_be_rows_or_columns(tmp_path: Path) -> None:
    samples = pd.DataFrame(X[:10].repeat(4, axis=1), index=[f"s{i}" for i in range(10)]).add_prefix("x")
    path = written(tmp_path, x_json=samples.assign(grade=X[:10, 0]).to_json(), more_csv=text(X[10:20]))
    data = read_dataset(path, target="grade")
    assert np.allclose(data.y, X[:10, 0])
    assert np.allclose(data.X, np.hstack([samples, X[10:20]]))


@pytest.mark.parametrize("turned", ["a", "b"])
def test_objects_of_json_with_more_columns_than_samples_are_turned_and_matched(turned: str, tmp_path: Path) -> None:
    names = [f"s{i}" for i in range(N)]
    few = pd.DataFrame(X, index=names, columns=[*"uvw"]).assign(**{"class": WORDS})
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 2 * N)).round(4), index=names).add_prefix("g")[::-1]
    files = {f"{turned}_json": wide.to_json(orient="index")}
    files[f"{'ab'.replace(turned, '')}_json"] = few.to_json(orient="index")
    paths = written(tmp_path, **files)
    for given in ([*paths], [*paths][::-1]):
        data = read_dataset(given, target="class")
        frame = pd.DataFrame(data.X, columns=[name.rpartition(": ")[2] for name in data.feature_names])
        order = slice(None, None, -1 if given[0].stem == turned else 1)
        assert np.allclose(frame[[*"uvw"]], X[order])
        assert np.allclose(frame[[*wide]], wide[::-1][order])


CITIES = pd.Series(np.array(["Bern", "Rome", "Wien"])[np.arange(N) % 3])


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("kind", [int, float, bool])
def test_a_column_for_each_class_in_its_own_file_holds_the_labels(kind: type, numbered: bool, tmp_path: Path) -> None:
    columns = pd.get_dummies(CITIES).astype(kind)
    samples = pd.DataFrame(X, columns=[*"abc"])
    paths = written(tmp_path, x_csv=samples.to_csv(index=numbered), labels_train_csv=columns.to_csv(index=numbered))
    data = read_dataset(paths)
    assert data.classes == ("Bern", "Rome", "Wien")
    assert np.array_equal(data.y, np.arange(N) % 3)
    assert np.allclose(data.X, X)
    arrays = written(tmp_path, x_csv=text(X), more_csv=text(columns, fmt="%d"))
    assert (read_dataset(arrays).classes, read_dataset(arrays).n_features) == (("1", "2", "3"), 3)
    beside = written(
        tmp_path, x_csv=samples.assign(**{"class": WORDS}).to_csv(index=numbered), more_csv=columns.to_csv()
    )
    assert read_dataset(beside).n_features == 6  # where another column is called so, it is a view
    (tmp_path / "views").mkdir()
    views = written(tmp_path / "views", area_csv=columns.to_csv(index=numbered), x_csv=samples.to_csv(index=numbered))
    assert read_dataset(views).table.options.target == "x: c"  # so it is where it isn't called as labels are


def test_a_table_without_names_and_its_rows_to_test(tmp_path: Path) -> None:
    table = np.column_stack([X, Y])
    halves(read_dataset(written(tmp_path, t_trn=text(table[:TRAINED]), t_tst=text(table[TRAINED:]))))
    np.savez(tmp_path / "one.npz", table)
    assert is_the_table(read_dataset(tmp_path / "one.npz"))
    np.savetxt(tmp_path / "one.txt", table)
    assert read_dataset(tmp_path / "one.txt").classes == ("0", "1")
    records = pd.DataFrame(table, columns=list("abcy")).to_records(index=False)
    assert is_the_table(read(saved(mine=records), "x.npz"))


def test_labels_beside_identifiers_are_the_target_of_the_other_table(tmp_path: Path) -> None:
    sound, _ = views()
    labels = sound[["id", "class"]].sample(frac=1.0, random_state=2)
    data = read_dataset(written(tmp_path, x_csv=sound[["id", "loud", "high"]], y_csv=labels))
    assert data.feature_names == ("loud", "high")
    assert np.allclose(data.X, X[:, :2])
    assert np.array_equal(np.array(data.classes)[(data.y > 0).astype(int)], WORDS)


def halves(data: Dataset) -> None:
    """Check that the last ten rows are tested, whatever the share and the seed."""
    assert data.held_out.tolist() == [False] * TRAINED + [True] * 10
    for seed in (0, 1):
        train, test = data.split(train=0.9, seed=seed, standardize=False)
        assert np.allclose(train.X, X[:TRAINED])
        assert np.allclose(test.X, X[TRAINED:])
        assert train.held_out is None
    assert data.n_train(0.9) == TRAINED


def tables() -> tuple[str, str]:
    lines = rows().splitlines(keepends=True)
    return HEADED + "".join(lines[:TRAINED]), HEADED + "".join(lines[TRAINED:])


@pytest.mark.parametrize(
    "names", [("train_csv", "test_csv"), ("t_csv", "t-test_csv"), ("t_data", "t_test"), ("test_csv", "train_csv")]
)
def test_files_called_alike_but_for_train_and_test_are_one(names: tuple[str, str], tmp_path: Path) -> None:
    texts = tables() if names[0] != "test_csv" else tables()[::-1]
    paths = written(tmp_path, **dict(zip(names, texts, strict=True)))
    data = read_dataset(paths)
    halves(data)
    assert "10 of 40 rows are tested, not trained on." in data.notes
    halves(read_dataset_bytes(zipped(**dict(zip(names, (text.encode() for text in texts), strict=True))), "t.zip"))


def test_a_second_file_holds_the_rows_to_test(tmp_path: Path) -> None:
    first, second = written(tmp_path, mine_csv=tables()[0], other_csv=tables()[1])
    for data in (read_dataset(first, test=second), read_dataset([first, second], test="other.csv")):
        halves(data)
        assert data.table.options.test == "other.csv"
    recipe = mv.Recipe().on(data)
    assert "test=other.csv" in recipe.to_words()
    assert recipe.data.source != mv.Recipe().on(replace(data, held_out=None)).data.source
    assert np.allclose(recipe.prepare().test.y, data.y[TRAINED:])
    with pytest.raises(DataError, match=r'has no column "class", which mine has.*can be predicted once'):
        read_dataset([first, *written(tmp_path, other_csv="a,b,c\n1,2,3\n2,3,4\n")], test="other.csv")
    with pytest.raises(DataError, match="Where one holds rows to test, call it mine_test, or say so: test"):
        read_dataset([first, *written(tmp_path, other_csv=tables()[1].replace("1", "2"))])
    with pytest.raises(DataError, match=r'"nowhere\.csv" is no column of it, and no file beside it'):
        read_dataset(first, test="nowhere.csv")


@pytest.mark.parametrize(
    ("name", "words"), [("set", ("train", "test")), ("is_train", ("1", "0")), ("is_test", ("no", "yes"))]
)
def test_a_column_says_which_rows_are_tested(name: str, words: tuple[str, str], tmp_path: Path) -> None:
    marked = "".join(f"{row},{words[i >= TRAINED]}\n" for i, row in enumerate(rows().splitlines()))
    data = read(f"a,b,c,class,{name}\n{marked}", "t.csv")
    halves(data)
    assert f'Column "{name}" is set aside: it says which rows are tested.' in data.notes
    assert read(f"a,b,c,class,{name}\n{marked}", "t.csv", leave_out=name).held_out is None
    with pytest.raises(DataError, match=r'some words begin with test and others do not.*"class" holds no, yes'):
        read(f"a,b,c,class,{name}\n{marked}", "t.csv", test="class", target="a")


def test_rows_to_test_of_libsvm_may_end_in_zeros_that_are_not_written(tmp_path: Path) -> None:
    made = [f"{Y[i]} " + " ".join(f"{j + 1}:{X[i, j]}" for j in range(3 if i < TRAINED else 2)) for i in range(N)]
    paths = written(tmp_path, a9a="\n".join(made[:TRAINED]), a9a_t="\n".join(made[TRAINED:]))
    for files in (paths, paths[::-1]):
        data = read_dataset(files)
        _, test = data.split(standardize=False)
        assert np.allclose(test.X, X[TRAINED:] * [1, 1, 0])
        assert data.classes == ("0", "1")


def test_arrays_and_matrices_of_numbers_are_paired_as_tables_are(tmp_path: Path) -> None:
    parts = {"X_train": X[:TRAINED], "X_test": X[TRAINED:], "y_train": Y[:TRAINED], "y_test": Y[TRAINED:]}
    halves(read(saved(**parts), "t.npz"))
    file = io.BytesIO()
    savemat(file, {name.replace("_", ""): part.reshape(len(part), -1) for name, part in parts.items()})
    halves(read(file.getvalue(), "t.mat"))
    for name, part in parts.items():
        np.savetxt(tmp_path / f"{name}.csv", part, delimiter=",", fmt="%.3f" if "X" in name else "%d")
    halves(read_dataset(tmp_path))
    halves(read(saved(xTr=X[:TRAINED], xTe=X[TRAINED:], yTr=Y[:TRAINED], yTe=Y[TRAINED:]), "t.npz"))
    assert read(saved(X=X, y=Y, latest=X), "t.npz").held_out is None
    np.savetxt(tmp_path / "y_train.csv", Y[1:TRAINED], fmt="%d")
    with pytest.raises(DataError, match="different numbers of rows: 29 to train on and 10 to test; 30 to train on"):
        read_dataset(tmp_path)


@pytest.mark.parametrize("name", ["t.npz", "t.mat", "folder"])
def test_numbers_of_rows_say_which_are_tested_where_they_are_all_there(name: str, tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(N)

    def found(numbers: np.ndarray) -> Dataset:
        parts = {"X": X, "y": Y, "train_idx": numbers[:TRAINED], "test_idx": numbers[TRAINED:]}
        if name != "folder":
            return read((matlab if name == "t.mat" else saved)(**parts), name)
        for stem, part in parts.items():
            np.savetxt(tmp_path / f"{stem}.csv", part, delimiter=",", fmt="%.3f" if stem == "X" else "%d")
        return read_dataset(tmp_path)

    for numbers in (order, order + 1):
        assert is_the_table(found(numbers))
        assert np.flatnonzero(found(numbers).held_out).tolist() == sorted(order[TRAINED:])
    data = found(2 * order)
    assert is_the_table(data)
    assert data.held_out is None
    assert [note for note in data.notes if "Not used of" in note and "train_idx" in note and "test_idx" in note]
    parts = {"X_train": X[:TRAINED], "X_test": X[TRAINED:], "y": Y}
    if name != "folder":
        assert read((matlab if name == "t.mat" else saved)(**parts), name).held_out.sum() == N - TRAINED


def test_rows_to_test_leave_every_class_to_train_on() -> None:
    lines = (f"{i},{i % 5},{'xyz'[i % 3]},{'test' if i % 3 == 2 else 'train'}\n" for i in range(30))
    with pytest.raises(DataError, match="keeps for the test leave none to train on of class 'z'"):
        read("a,b,class,set\n" + "".join(lines), "t.csv").split()


def test_files_of_one_name_in_several_folders_are_both_read(tmp_path: Path) -> None:
    for folder, last in (("one", "y"), ("two", "z")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(f"a,{last}\n" + "".join(f"w{i % 3},{i % 2}\n" for i in range(30)))
    data = read_dataset([tmp_path / "one/t.csv", tmp_path / "two/t.csv"], target="t: y")
    assert [name for name in data.feature_names if name.startswith("t (2): ")]


@pytest.mark.parametrize("name", ["metadata_csv", "columns_csv", "codebook_csv"])
def test_a_table_that_describes_another_is_left_out(name: str, tmp_path: Path) -> None:
    about = "column,meaning\na,length\nb,width\nc,height\nclass,whether it is one\n"
    data = read_dataset(written(tmp_path, t_csv=HEADED + rows(), **{name: about}))
    assert is_the_table(data)
    assert f"{name[:-4]} is left out: it describes the others." in data.notes
    parts = dict(zip(("train_csv", "test_csv"), tables(), strict=True))
    data = read_dataset(written(tmp_path, **parts, **{name: about}))  # beside rows to test, too
    halves(data)
    assert f"{name[:-4]} is left out: it describes the others." in data.notes
    with pytest.raises(DataError, match="other has no rows to test beside the others"):
        read_dataset(written(tmp_path, **parts, other_csv=HEADED + "1,2,3,yes\n" * 9))


def test_a_table_with_the_labels_does_not_describe_the_others(tmp_path: Path) -> None:
    genes = "gene," + ",".join(f"S{i}" for i in range(12)) + "\n"
    genes += "".join(f"g{k}," + ",".join(str((i * k) % 7) for i in range(12)) + "\n" for k in range(30))
    samples = "sample,age,label\n" + "".join(f"S{i},{20 + i},{'ab'[i % 2]}\n" for i in range(12))
    with pytest.raises(DataError, match="rows"):
        read_dataset(written(tmp_path, expression_csv=genes, samples_csv=samples))
