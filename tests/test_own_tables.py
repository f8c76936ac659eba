"""Tables of one's own: what columns become, which is predicted, what is done where values are missing; all is said."""

import datetime
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow
import pytest
from _corpus import archive, member, zipped

import mklviz as mv
from mklviz.datasets import DataError, Dataset, TableOptions, read_dataset_bytes
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.recipe import as_python, own_data
from mklviz.views.form.inputs import _packed

PEOPLE = "id,name,born,age,smoker,region,fee\n" + "".join(
    f"{100 + i},Person {i},19{50 + i}-0{1 + i % 9}-11,{'' if i == 3 else 20 + i},{'yes' if i % 3 else 'no'},"
    f"{['north', 'south', 'east'][i % 3]},{1.5 * i}\n"
    for i in range(30)
)


def table(text: str, **options: Any) -> Dataset:
    return read_dataset_bytes(text.encode(), "mine.csv", **options)


# -- columns


def test_words_become_columns_and_what_cannot_be_learned_from_is_set_aside_with_the_reason() -> None:
    found = table(PEOPLE)
    assert found.feature_names == ("age", "smoker=yes", "region=east", "region=north", "region=south")
    assert found.X[1].tolist() == [21.0, 1.0, 0.0, 0.0, 1.0]
    assert found.task == "regression"
    assert {
        'Column "id" is set aside: it numbers the rows.',
        'Column "born" is set aside: it holds dates or times, such as "1950-01-11".',
        'Column "name" is set aside: it holds names or texts, of which most occur once, such as "Person 0".',
        'Column "smoker" holds words (no, yes): 1 stands for "yes".',
        'Column "region" holds words (east, north, south): one column for each word.',
    } < set(found.table.done)
    assert set(found.table.done) < set(found.notes)
    assert table(PEOPLE, target="smoker").classes == ("no", "yes")  # any column can be the target
    assert table(PEOPLE, target="age").n_samples == 29
    with pytest.raises(DataError, match=r'There is no column "foo"\. Columns: id, name, born, age, sm'):
        table(PEOPLE, target="foo")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["2024-01-31", "2024-02-01", "2024-03-01", "2024-03-02"], "it holds dates or times"),
        (["31/1/2024 10:15", "1/2/24", "10:15:30", "?"], "it holds dates or times"),
        (["C85", "C123", "E46", "G6"], "it holds names or texts"),
        ([f"w{i % 21}" for i in range(84)], "it holds 21 different words (w0, w1, w10, w11, w12, ...)"),
        (["1", "2", "x", "4"], 'it holds numbers, but "x" in row 4, which is not a number'),
        (["", "?", "NA", "#N/A"], "it is empty"),
        (["1", "", "", ""], "a value is missing in 3 of 4 rows"),
        (["a", "a", "a", "a"], 'it holds the same word in every row, "a"'),
        (["1", "inf", "2", "3"], 'it holds numbers, but "inf" in row 3, which is not a finite number'),
        (["inf", "-inf", "inf", "-inf"], '"inf" in row 2 is not a finite number'),
    ],
)
def test_a_column_is_set_aside_with_its_reason(cells: Sequence[str], reason: str) -> None:
    rows = "".join(f'"{cell}",{i},{i % 2}\n' for i, cell in enumerate(cells))
    found = table("odd,a,class\n" + rows)
    assert found.feature_names == ("a",)
    (said,) = found.table.done
    assert said.startswith(f'Column "odd" is set aside: {reason}')


NUMBERING = [
    *("id", "patient_id", "PassengerId", "index", "nr", "nr.", "no", "no.", "#", "row", "rownum", "case", "s.no"),
    *("sample", "sample_id", "record", "subject", "Sr.No.", "sno", "s/n", "Nummer", "lfdnr", "uid", "rowid", "line"),
    *("instance", "...1", "№", "номер", "Unnamed: 0", "Unnamed: 0.1", "S. No.", "lfd. Nr.", "rownames", "row.names"),
    *("", None),  # as pandas writes them, and where no column has a name
]


@pytest.mark.parametrize(
    ("name", "aside"), [*((name, True) for name in NUMBERING), *((name, False) for name in ("x", "X", "Z", "day"))]
)
def test_row_numbers_are_known_by_their_name(name: str | None, aside: bool) -> None:
    rows = "".join(f"{i},{i * i % 7},{'uv'[i % 2]}\n" for i in range(10))
    found = table(rows if name is None else f"{name},a,class\n{rows}")
    assert found.n_features == 2 - aside
    assert any(note.endswith("is set aside: it numbers the rows.") for note in found.notes) is aside


def test_columns_of_fixed_widths_are_read_where_blanks_stand_in_cells_or_in_place_of_them() -> None:
    cities = ("New York", "Rome", "Los Angeles")
    lines = (f"{cities[i % 3]:<14}{'' if i % 8 == 3 else i:>4} {i % 7:>3} {'uv'[i % 2]}\n" for i in range(40))
    found = table("city size age class\n" + "".join(lines))
    assert found.feature_names == ("city=Los Angeles", "city=New York", "city=Rome", "size", "age")
    assert found.classes == ("u", "v")
    assert found.table.dialect.startswith("fixed widths")


# -- how texts are written

VALUES = np.random.default_rng(0).normal(size=(60, 3)).round(3)
KINDS = (VALUES[:, 0] > 0).astype(int)
MEAN_AND_SPREAD = (*VALUES.mean(axis=0), *VALUES.std(axis=0))


def lines(separator: str = ",") -> str:
    return "".join(separator.join([*map(str, row), str(kind)]) + "\n" for row, kind in zip(VALUES, KINDS, strict=True))


def numbered(text: str) -> str:
    return "".join(f"{i},{line}\n" for i, line in enumerate(text.splitlines(), 1))


QUALTRICS = ",".join(['"{""ImportId"":""Q""}"'] * 4)
HEADED = pd.DataFrame(VALUES, columns=pd.MultiIndex.from_tuples([("size", "a"), ("size", "b"), ("form", "c")]))
HEADED["class", ""] = KINDS


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,b,c,class\n" + lines(),
        ("a,b,c,class\n\n" + lines()).replace("\n", "\r\n"),
        "a\tb\tc\tclass\n" + lines("\t").rstrip("\n"),
        "a,b,c,class,\n" + lines(),
        "a,b,c,class\n" + lines().replace("\n", ",\n"),
        "a,b,c,class\n" + numbered(lines()),  # by R
        "a,b,c,class\n" + lines() + "end of file\n",
        "sep=;\na;b;c;class\n" + lines(";"),
        "# made by R\n# 2024, lab 3\na,b,c,class\n" + lines(),
        "Report of 2024,,,\n,,,\na,b,c,class\n" + lines(),
        "Report of 2024\n\na,b,c,class\n" + lines(),
        "Report of 2024\n\na,b,c,class,later\n" + lines(),
        "Source,lab 3,\n\nUpdated,2024-03-28,\n\na,b,c,class\n" + lines(),  # as the World Bank does
        "Instrument: X200\nOperator: A. Smith, lab 3\n\na,b,c,class\n" + lines(),
        "#,a,b,c,class\n" + "".join(f"#{line}\n" for line in numbered(lines()).splitlines()),
        "".join(f"#{line}\n" for line in numbered(lines()).splitlines()).replace(",", "\t"),
        "id,a,b,c,class\n" + "".join("#" * (i % 2) + f"{i},{line}\n" for i, line in enumerate(lines().splitlines())),
        "id,a,b,c,class\n" + "".join(f"{10**16 + 7 * i},{line}\n" for i, line in enumerate(lines().splitlines())),
        f"Q1,Q2,Q3,Q4\nhow,what,where,class\n{QUALTRICS}\n{lines()}",
        "a b  c class\n" + "".join(f"  {line}\n" for line in lines("   ").splitlines()),
        "# a b c class\n" + lines(" "),  # by NumPy
        "a\tb\tc\tclass\n" + lines("\t\t"),
        "a|b|c|class\n" + lines("|"),
        HEADED.to_csv(),
        "| a | b | c | class |\n|---|:-:|---|---|\n" + "".join(f"| {line} |\n" for line in lines(" | ").splitlines()),
        "a,b,a,class\n" + lines(),
        lines("::"),
        "a,b,c,class\n" + lines().replace("\n", "\n# a batch, and another, and so on\n# more\n#\n", 1),
        "a b c class\n" + lines(" ").replace("\n", "\n# the second batch\n# of the three that there are\n", 3),
        "% a b c class\n" + lines(" ").replace("\n", "\n% 9 9 9 9\n", 1),
        "a,b,c,class\n" + lines().replace("\n", "\n#9,9,9,9\n", 1),
        "a,b,c,class\n" + lines().replace("\n", "\na,b,c,class\n", 20),
        "a,b,c,class\n" + lines() + "Total,{:.2f},{:.2f},\n".format(*VALUES.sum(axis=0)[1:]),
        "a,b,c,class\n" + lines() + "Mean,{1:.3f},{2:.3f},\nSD,{4:.3f},{5:.3f},\n".format(*MEAN_AND_SPREAD),
        "a,b,c,class\n" + lines().replace(",", "','").replace("\n", "'\n'").removesuffix("'").join("''")[:-1],
        "".join(f'"{line}"\n' for line in ("a,b,c,class\n" + lines()).splitlines()),
        "".join(f'"{line}"\n' for line in ('""a"",b,c,class\n' + lines()).splitlines()),
    ],
)
def test_a_table_is_found_in_what_surrounds_it(text: str) -> None:
    found = table(text)
    assert np.array_equal(found.X, VALUES)
    assert found.classes == ("0", "1")


SPOKEN = {
    "cp1251": ("рост,цвет,класс\n", "красный", "зелёный"),
    "gb18030": ("身高,颜色,类别\n", "红色的", "绿色的"),
    "cp932": ("身長,色,クラス\n", "あかい", "みどり"),
    "utf-16-le": ("größe,farbe,klasse\n", "rötlich", "grün"),
    "cp1252": ("größe,farbe,maß\n", "größer", "grün"),
    "cp1250": ("výška,barva,třída\n", "žluťoučký", "sviští"),
    "mac-roman": ("hauteur,couleur,caractère\n", "doré", "vert"),
}


@pytest.mark.parametrize("coding", SPOKEN)
def test_letters_are_read_in_the_encodings_people_have(coding: str) -> None:
    names, *colours = SPOKEN[coding]
    text = names + "".join(f"{i},{colours[i % 3 % 2]},{i % 2}\n" for i in range(30))
    found = read_dataset_bytes(text.encode(coding), "mine.csv")
    assert found.feature_names == table(text).feature_names
    assert set(names.strip().split(",")) == {name for name, *_ in found.table.columns}
    assert read_dataset_bytes(text.encode(coding), "mine.csv", encoding=coding).feature_names == found.feature_names


@pytest.mark.parametrize(
    ("cells", "numbers", "separator"),
    [
        (["3.432", "355", "15.250", "990"], [3432, 355, 15250, 990], ";"),
        (["3.432,50", "355,00", "15.250,25", "990,5"], [3432.5, 355, 15250.25, 990.5], ";"),
        (['"3,432"', "355", '"15,250"', "990"], [3432, 355, 15250, 990], ","),
        (["3,432", "355", "15,250", "990"], [3432, 355, 15250, 990], "\t"),
        (["3.4%", "-5 %", "12%", "0%"], [3.4, -5, 12, 0], ","),
        (["$3", "-$4.5", "€ 12", "7 €"], [3, -4.5, 12, 7], ","),
        (["\N{MINUS SIGN}1.5", "2", "\N{MINUS SIGN}3", "4"], [-1.5, 2, -3, 4], ","),
        (["1 234,5", "2,5", "3,0", "4,0"], [1234.5, 2.5, 3, 4], "\t"),
        (["1,5", "-,5e1", "2", "3,25"], [1.5, -5, 2, 3.25], ";"),
        (["0,346", "0.822", "1,294", "-2.711"], [0.346, 0.822, 1.294, -2.711], ";"),
        (["1,234", "0.5", "2,000", "3,5"], [1234, 0.5, 2000, 3.5], ";"),
        (["1.234", "2.345", "3.456", "4.5"], [1.234, 2.345, 3.456, 4.5], ","),
        (["1,23,456", "12,34,567", "1,000", "2"], [123456, 1234567, 1000, 2], ";"),
        (["(3.5)", "4", "(12.25)", "0"], [-3.5, 4, -12.25, 0], ","),
        (["1.5D+01", "2.5D-01", "1.0D+00", "4.0d0"], [15, 0.25, 1, 4], ","),
        (['="12"', '="13"', "'14", "15"], [12, 13, 14, 15], ","),
        (["USD 3", "US$4.5", "Rs. 12", "R$ 7"], [3, 4.5, 12, 7], ","),
        (["3.50-", "- 4.5", "12", "1.25-"], [-3.5, -4.5, 12, -1.25], ","),
        (["12 km/h", "9.5 km/h", "1 km/h", "0 km/h"], [12, 9.5, 1, 0], ","),
        (["12°C", "9.5 °C", "1°C", "-3°C"], [12, 9.5, 1, -3], ","),
    ],
)
def test_numbers_are_read_as_people_write_them(cells: list[str], numbers: list[float], separator: str) -> None:
    other = "0,5" if separator == ";" else "2"
    rows = [separator.join([cell, other, "uv"[i % 2]]) for i, cell in enumerate(cells * 2)]
    found = table("\n".join([separator.join(["a", "b", "class"]), *rows]))
    assert found.X[:4, 0].tolist() == numbers


def test_between_semicolons_a_comma_is_decimal_unless_whole_numbers_stand_beside_it_often() -> None:
    cells = [f"{1 + i % 9},{100 + 7 * i}" for i in range(40)]
    for whole, first in ((1, 1.1), (20, 1100.0)):
        lines = [f"{cell};{i % 7};{'uv'[i % 2]}" for i, cell in enumerate(cells + [str(355 + i) for i in range(whole)])]
        found = table("\n".join(["a;b;class", *lines]))
        assert found.X[0, 0] == first
        assert table("\n".join(["a;b;class", *lines, "4,5;1;u"]), thousands=",").X[0, 0] == 1100
        assert ("Commas in numbers are read as decimal points." in found.notes) == (whole == 1)
    quoted = "a,parts,class\n" + "".join(f'{1 + i % 9}.{100 + i},"{i},{i + 1}",{i % 2}\n' for i in range(20))
    assert table(quoted).X[0, 0] == 1.1  # nor do lists in quotes make thousands of points


def test_one_odd_word_costs_a_cell_and_not_the_column() -> None:
    found = table("a,class\n" + "".join(f"{'bad' if i == 7 else i},{i % 2}\n" for i in range(40)))
    assert found.n_samples == 39
    assert 'Column "a" holds numbers; "bad" there counts as missing.' in found.notes
    rows = "".join(f"{'None' if i % 3 else i},{['None', 'left', 'right'][i % 3]},{i},{i % 2}\n" for i in range(40))
    found = table("a,bags,b,class\n" + rows.replace("None,l", "7,l"))
    assert found.feature_names == ("a", "bags=None", "bags=left", "bags=right", "b")


@pytest.mark.parametrize(
    ("cells", "features"),
    [
        (["5", "5-", "4", "3", "4+", "2"], ("a=2", "a=3", "a=4", "a=4+", "a=5", "a=5-")),
        (["1920x1080", "800x600", "640x480"], ("a=1920x1080", "a=640x480", "a=800x600")),
        (["12 kg", "9 kg", "1,250 kg", "355 kg"], ("a",)),
        (["12kg", "9 kg", "1,250kg", "355kg"], ("a",)),
        (["12 kg", "9 lb", "7 kg"], ("a=12 kg", "a=7 kg", "a=9 lb")),
        (["NA", "EU"], ("a=NA",)),
        (["NA", "EU", "EU", "US"], ("a=US",)),
    ],
)
def test_grades_sizes_units_and_regions_are_what_they_are(cells: list[str], features: tuple[str, ...]) -> None:
    found = table("a;b;class\n" + "".join(f"{cells[i % len(cells)]};{i % 7};{'uv'[i % 2]}\n" for i in range(40)))
    assert found.feature_names == (*features, "b")
    if features == ("a",):
        assert found.X[:4, 0].tolist() == [12, 9, 1250, 355]


def test_many_numbered_classes_are_classes_and_counts_can_be_numbers() -> None:
    for classes in (27, 102):
        text = "x,y\n" + "".join(f"{i * i % 1009},{i % classes + 1}\n" for i in range(classes * 6))
        assert len(table(text).classes) == classes
        assert table(text, task="numbers").task == "regression"
    few = "x,y\n" + "".join(f"{i},{i % 4}\n" for i in range(40))
    assert (table(few).task, table(few, task="numbers").task) == ("multiclass", "regression")
    assert table("a;y\n1;0,5\n2;1,5\n3;2,5\n").y.tolist() == [0.5, 1.5, 2.5]
    assert len(table("x,y\n" + "".join(f"{i},{i % 30 * 7}\n" for i in range(90)), task="classes").classes) == 30


def test_what_was_found_out_can_be_chosen() -> None:
    text = "x;y\n1,5;2\n3,5;4\n" * 3
    assert table("a:b:class\n" + "1:2:u\n3:1:v\n" * 3, sep=":").feature_names == ("a", "b")
    assert table("a,b,class\n" + "1,2,u\n-9,2,v\n3,1,v\n" * 2, na="-9", missing="fill").X.min() == 1
    sizes = pd.DataFrame([[-999.0, 1.0], [2.0, -1.0], [3.0, 1.0], [4.0, -1.0]], columns=["size", "y"])
    assert Dataset.from_frame(sizes, na=["-999"]).table.gaps == 1
    assert table("a,b,class\n1,2,u\n3,1,v\n", leave_out=["b"]).feature_names == ("a",)
    named = table("name,2019,2020,kind\n" + "x,1,2,u\ny,2,1,v\n" * 2, header=True)
    assert named.feature_names == ("name=y", "2019", "2020")
    assert not any("The first row" in note for note in named.notes)
    without = table("a,class\nb,u\nb,v\na,v\n", header=False)
    assert (without.table.options, without.n_samples) == (TableOptions(target="column 2", header=False), 4)
    assert table("Title\nnow\na,b,class\n1,2,u\n3,1,v\n", header=3).feature_names == ("a", "b")
    assert table("a,b,class\nkg,m,\n1,2,u\n3,1,v\n", header=(1, 2)).feature_names == ("a kg", "b m")
    assert table("a;class\n1.234;u\n2.345;v\n", decimal=",").X.ravel().tolist() == [1234, 2345]
    book = workbook(["a", "class"], *[[1.001, "u"], ["2.345,5", "v"]] * 3)  # the signs are those of texts
    for options in ({}, {"decimal": ","}, {"thousands": "."}):
        assert read_dataset_bytes(book, "x.xlsx", **options).X.ravel().tolist() == [1.001, 2345.5] * 3
    for option, value in {"sep": "abc", "encoding": "klingon", "decimal": ";", "task": "guess", "header": 0}.items():
        with pytest.raises(DataError):
            table(text, **{option: value})
    with pytest.raises(DataError, match='There is no column "q"'):
        table(text, leave_out="q")


def sheets(**rows: Sequence[Sequence[Any]]) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, lines in rows.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(file)
    return file.getvalue()


def test_another_sheet_can_be_chosen_and_one_that_explains_the_table_is_not_read_in_its_place() -> None:
    data, more = ([["a", "class"], *([i, f"{name}{i % 2}"] for i in range(9))] for name in "dm")
    book = sheets(Sheet=[["Read me first"]], data=data, more=more)
    assert read_dataset_bytes(book, "x.xlsx").classes == ("d0", "d1")
    assert read_dataset_bytes(book, "x.xlsx", sheet="more").classes == ("m0", "m1")
    with pytest.raises(DataError, match=r'no sheet "none" in x.xlsx. Sheets: Sheet, data, more'):
        read_dataset_bytes(book, "x.xlsx", sheet="none")
    legend = [["colour", "meaning"], ["red", "warm"], ["blue", "cold"]]
    table = [["colour", "class"], *([["red", "blue"][i % 3 % 2], "uv"[i % 2]] for i in range(40))]
    for book in (sheets(legend=legend, data=table), sheets(data=table, legend=legend)):
        assert read_dataset_bytes(book, "x.xlsx").classes == ("u", "v")


def test_a_frame_of_pandas_or_polars_is_read_as_the_table_is() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0] * 5, "w": pd.Categorical(list("uvuv") * 5), "class": [0, 1] * 10})
    for given in (frame, pl.DataFrame({name: frame[name].tolist() for name in frame}, nan_to_null=True, strict=False)):
        found = Dataset.from_frame(given, target="class", missing="fill")
        assert found.feature_names == ("a", "w=v")
        assert np.array_equal(found.X, table(frame.to_csv(index=False), missing="fill").X)
    with pytest.raises(DataError, match="df must be a DataFrame"):
        Dataset.from_frame([[1, 2]])


# -- missing values


def gappy(rows: int, missing: int) -> str:
    cells = (f"{'NA' if i < missing else i},{'' if i == rows - 1 else 'uv'[i % 4 == 0]},{i % 2}\n" for i in range(rows))
    return "a,b,class\n" + "".join(cells)


def test_few_rows_with_missing_values_are_left_out_and_many_filled_in_unless_chosen() -> None:
    few, many = table(gappy(100, 8)), table(gappy(100, 30))
    assert (few.table.gaps, few.table.options.missing, few.n_samples) == (9, "leave-out", 91)
    assert "9 rows are left out, where a value is missing." in few.notes
    assert (many.table.gaps, many.table.options.missing, many.n_samples) == (31, "fill", 100)
    assert '30 missing values of column "a" are filled in by its median.' in many.notes
    assert '1 missing value of column "b" is filled in by "u".' in many.notes
    assert many.X[[0, 99]].tolist() == [[np.median(np.arange(30, 100)), 1.0], [99.0, 0.0]]
    assert table(gappy(100, 30), missing="leave-out").n_samples == 69
    assert table(gappy(100, 8), missing="fill").n_samples == 100
    with pytest.raises(DataError, match="missing is leave-out or fill, not 'guess'"):
        table(gappy(100, 3), missing="guess")
    with pytest.raises(DataError, match="A value is missing in every row: fill in"):
        table("a,b,c,class\n" + "1,,2,u\n,2,3,v\n" * 4, missing="leave-out")


def test_rows_without_a_target_are_left_out_whatever_is_filled_in() -> None:
    found = table("a,class\n1,u\n2,\n3,v\n?,u\n", missing="fill")
    assert found.X.ravel().tolist() == [1.0, 3.0, 2.0]
    assert '1 row is left out, where column "class" is empty.' in found.notes
    cells = "".join(f"{'' if i < 5 else i},{i % 5},{'uv'[i % 2] if i < 5 else ''}\n" for i in range(100))
    assert table(f"a,b,class\n{cells}" + "1,,u\n" * 3, target="class").n_samples == 8  # as few are labelled
    with pytest.raises(DataError, match='Column "class" is empty: choose another target'):
        table("a,b,class\n1,2,\n2,1,\n", target="class")


# -- the first row


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,class\n1,u\n2,v\n", True),
        ("5.1,3.5,u\n4.9,3.0,v\n4.7,3.2,u\n", False),
        ("1,2\n3,4\n5,9\n", False),
        ("2024-01-01,3,u\n2024-01-02,4,v\n2024-01-02,4,u\n", False),
        ("colour,size,kind\n" + "red,big,u\nblue,small,v\n" * 3, True),
        ("red,big,u\n" + "red,big,u\nblue,small,v\n" * 3, False),
        ("name,2019,2020,kind\n" + "x,1,2,u\nx,2,1,v\n" * 2, True),  # years above others than years
        ("w,1819,1880,u\n" + "x,1821,1902,u\nx,1833,1921,v\n" * 2, False),
        ("a;class\n1,5;u\n2,5;v\n", True),
        ("a,class\n?,u\n2,v\n3,v\n", True),
        ("0,1,2,y\n" + "5,7,1,0\n6,8,2,1\n" * 2, True),  # as pandas writes columns without names
        ("1,2,3,yes\n" + "5,7,1,no\n6,8,2,yes\n" * 2, False),
        ("0,1,2\n" + "5.5,7.1,1\n6.2,8.0,0\n" * 2, True),
        ("0,1\n" + "5.5,1\n6.2,0\n" * 2, True),
        ("0,1,2,3\n" + "5,7,9,2\n6,5,8,1\n5,7,7,3\n", True),
        ("0,1,2,3\n" + "1,2,3,4\n2,3,4,5\n3,4,5,6\n4,5,6,7\n", False),  # a window that moves on
        ("0,1,2,3\n" + "0,1,3,2\n0,2,1,3\n0,2,3,1\n", False),
    ],
)
def test_whether_the_first_row_holds_names_is_guessed_and_said(text: str, header: bool) -> None:
    found = table(text)
    assert found.table.options.header is header
    said = "names of columns" if header else "values, as the others do"
    assert f"The first row is taken to hold {said}." in found.notes


# -- the target


@pytest.mark.parametrize(
    ("header", "row", "targets"),
    [
        ("a,b,class", "{i},{j},{w}", ("class", "a", "b")),
        ("a,target,b", "{i},{w},{j}", ("target", "a", "b")),
        ("y,a,b", "{w},{i},{j}", ("y", "a", "b")),
        ("label,a,b", "{j},{i},{i}", ("label", "a", "b")),
        ("y,x,class", "{i},{i},{j}", ("class", "y", "x")),
        ("x,y,z", "{i},{j},{j}", ("z", "x", "y")),
        ("kind,a,b", "{w},{i},{j}", ("kind", "a", "b")),
        ("a,b,day", "{i},{j},2024-01-1{j}", ("b", "a")),
    ],
)
def test_the_target_is_guessed_and_all_that_may_be_one_offered(header: str, row: str, targets: tuple[str, ...]) -> None:
    rows = "\n".join(row.format(i=i, j=i % 5, w="uv"[i % 2]) for i in range(40))
    assert table(f"{header}\n{rows}\n").table.targets == targets


# -- files


def workbook(*rows: Sequence[object]) -> bytes:
    return sheets(Sheet=rows)


ROWS = [
    ["day", "dose", "ward", "outcome"],
    *([datetime.date(2024, 1, 1 + i), None if i == 2 else i / 2, "AB"[i % 2], i % 3 > 0] for i in range(20)),
]


def test_an_excel_file_is_read_as_the_same_table_in_text_is() -> None:
    found = read_dataset_bytes(sheets(Empty=[], Sheet=ROWS), "mine.xlsx")
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in ROWS)
    same = table(text)
    for read in (found, same):
        assert (read.feature_names, read.classes) == (("dose", "ward=B"), ("False", "True"))
    assert np.array_equal(found.X, same.X)
    assert 'The sheet "Sheet" is read, of 2.' in found.notes
    formulas = workbook(*ROWS, [None, "=B2", "A", True])
    notes = " ".join(read_dataset_bytes(formulas, "x.xlsx").notes)
    assert "formulas without kept values, which are read as missing" in notes
    assert "formulas" not in " ".join(found.notes)


def rewritten(change: Callable[[str, bytes], bytes], **others: bytes) -> bytes:
    """Return the workbook with its parts changed, and others beside them."""
    with zipfile.ZipFile(io.BytesIO(workbook(*ROWS))) as book:
        return zipped({name: change(name, book.read(name)) for name in book.namelist()} | others)


def as_other_programs_begin(name: str, part: bytes) -> bytes:
    longer = part.replace(b"</sheetData>", b"<row/>" * 150_000 + b"</sheetData>")
    return (b"\xef\xbb\xbf" if "sheet1" in name else b"") + longer


BESIDE = ("pivotCache/pivotCacheRecords1", "calcChain", "charts/chart1")  # copies of sources, lists of cells
ODD_BOOKS: dict[str, Callable[[], bytes]] = {
    "further down and to the right": lambda: workbook([], [], *([None, None, *row] for row in ROWS)),
    "blank rows and more below": lambda: workbook(*ROWS, *([[]] * 10_010), ["far", "below", "x", "y"]),
    "long parts beside the cells": lambda: rewritten(
        lambda _, part: part, **{f"xl/{name}.xml": b"<parts>" + b"<x/>" * 150_000 + b"</parts>" for name in BESIDE}
    ),
    "a byte order mark": lambda: rewritten(as_other_programs_begin),
}


@pytest.mark.parametrize("kind", ODD_BOOKS)
def test_a_table_is_found_in_a_workbook_with(kind: str) -> None:
    found = read_dataset_bytes(ODD_BOOKS[kind](), "mine.xlsx")
    assert np.array_equal(found.X, read_dataset_bytes(workbook(*ROWS), "mine.xlsx").X)
    ended = "Nothing is read below row 21, under which 10,000 rows are blank." in found.notes
    assert ended is kind.startswith("blank")


def test_a_parquet_file_is_read_with_its_names_and_content_says_what_a_file_is_whatever_it_is_called() -> None:
    file = io.BytesIO()
    frame = pd.DataFrame(ROWS[1:], columns=["2019", "2020", "ward", "outcome"])
    frame.to_parquet(file)
    found = read_dataset_bytes(file.getvalue(), "mine.parquet", header=True)
    assert (found.feature_names, found.n_samples) == (("2020", "ward=B"), 19)
    assert found.table.named
    arrays = archive(X=member(np.eye(4)), y=member(np.arange(4) % 2))
    assert read_dataset_bytes(arrays, "arrays.csv").n_features == 4
    assert read_dataset_bytes(workbook(*ROWS), "mine.csv").n_features == 2


@pytest.mark.parametrize(
    ("name", "package", "said"),
    [
        ("mine.xlsx", "openpyxl", r"This is an Excel file. Save it as CSV, or install mklviz\[excel\]."),
        ("mine.parquet", "pyarrow", r"This is a Parquet file. Save it as CSV, or install mklviz\[parquet\]."),
    ],
)
def test_what_is_not_installed_is_said(name: str, package: str, said: str, without: Callable[[str], None]) -> None:
    content = workbook(*ROWS) if package == "openpyxl" else b"PAR1" + b"\x00" * 20
    without(package)
    with pytest.raises(DataError, match=said):
        read_dataset_bytes(content, name)


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xff\xd8\xff\xe0" + b"\x00" * 50, "a photo"),
        (b"\x00\x00\x00\x18ftypheic" + b"\x00" * 50, "a photo"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "a picture"),
        (b"%PDF-1.7\n", "a PDF"),
        (zipped({"report.txt": b"x", "letter.txt": b"x"}), "made of 2 files without a table"),
        (zipped({"[Content_Types].xml": b"x", "word/document.xml": b"x"}), "a Word document"),
        (zipped({"mimetype": b"x", "content.xml": b"x"}), "an OpenDocument file"),
        (OLE + "Workbook".encode("utf-16-le"), r"an old Excel file \(.xls\). Save it as CSV"),
        (OLE + "WordDocument".encode("utf-16-le"), "an old Word document"),
        (b"\x1f\x8b\x08\x00" + b"\x00" * 20, "a gzip archive"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 50, "a video"),
        (b"<stata_dta><header>", r"a Stata file. Save it as CSV"),
        (b"\x72\x02\x01\x00" + b"\x00" * 50, "a Stata file"),
        (b"$FL2@(#) SPSS DATA FILE", "an SPSS file"),
        (b"RDX3\nX\n\x00\x00\x00\x03", "an R workspace"),
        (b"ARROW1\x00\x00", "a Feather file"),
        (b"<?xml version='1.0'?><rows/>", "an XML file"),
        (b"INSERT INTO t VALUES (1, 2, 'a');\n", "SQL. Save it as CSV"),
        (b"<table><tr><td>1</td></tr></table>", "a web page"),
        (b"(\xb5/\xfd" + b"\x00" * 50, "a Zstandard archive"),
        (zipped({}), "an empty zip archive"),
    ],
)
@pytest.mark.parametrize("name", ["mine.csv", "mine.xlsx", "mine"])
def test_a_file_that_is_no_table_is_named_for_what_it_is(content: bytes, what: str, name: str) -> None:
    with pytest.raises(DataError, match=f"{name} is {what}"):
        read_dataset_bytes(content, name)


# -- progress


class Enough(Exception):
    pass


@pytest.mark.parametrize("make", [lambda: PEOPLE.encode(), lambda: workbook(*ROWS), lambda: b"+1 1:2\n-1 1:3\n"])
def test_reading_tells_its_progress_and_can_be_stopped(make: Callable[[], bytes]) -> None:
    content, told = make(), []
    read_dataset_bytes(content, "mine", progress=told.append)
    assert all(0.0 <= fraction <= 1.0 for fraction in told)
    for last in range(len(told)):
        seen: list[float] = []

        def stop(fraction: float, seen: list[float] = seen, last: int = last) -> None:
            seen.append(fraction)
            if len(seen) > last:
                raise Enough

        with pytest.raises(Enough):
            read_dataset_bytes(content, "mine", progress=stop)


# -- in recipes and programs


def test_how_a_table_was_read_is_in_the_recipe_its_words_and_its_json() -> None:
    recipe = Recipe().on(table(PEOPLE, target="smoker"))
    words = recipe.to_words()
    assert words.endswith("; target=smoker; missing=leave-out; header=true")
    assert Recipe.from_words(words) == recipe == Recipe.from_json(recipe.to_json())
    assert recipe.bank_key == Recipe.from_words(words.partition(";")[0]).bank_key
    assert recipe.changed(source="sonar").to_words() == "data=sonar"
    assert Recipe().on(table(PEOPLE)).data.source != recipe.data.source
    for name in ("target=x", "missing=fill", "header=no"):
        with pytest.raises(MklvizError, match="says how the table in a file is read, and the data are sonar"):
            Recipe.from_words(f"data=sonar; {name}")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["people, all.csv"], "'people, all.csv'"),
        (["a.csv", "b.csv"], "['a.csv', 'b.csv']"),
        (["a,1.csv", "b.csv"], "['a,1.csv', 'b.csv']"),
    ],
)
def test_the_program_names_each_file_also_with_a_comma_in_its_name(
    names: list[str], shown: str, tmp_path: Path
) -> None:
    files = [(name, f"key,{'uv'[k]},y\np,1,0\nq,2,1\nr,3,1\n".encode()) for k, name in enumerate(names)]
    content, filename, _ = _packed(files)
    data = read_dataset_bytes(content, filename)
    assert f"data = mv.read_dataset({shown}, " in as_python(Recipe().on(data), data.source)
    for name, text in files:
        (tmp_path / name).write_bytes(text)
    quoted = ", ".join(f'"{tmp_path / name}"' for name in names)
    assert len(names) == 1 or own_data(quoted).feature_names == ("u", "v")


def test_the_program_reads_the_table_in_the_same_way_and_names_the_file_that_was_read() -> None:
    data = table(PEOPLE, target="smoker", missing="fill")
    program = as_python(Recipe().on(data), "mine.csv")
    (line,) = (line for line in program.splitlines() if line.startswith("data = "))
    assert line == "data = mv.read_dataset('mine.csv', target='smoker', missing='fill', header=True)"
    read = line.removeprefix("data = ").replace("'mine.csv'", "content")
    again = eval(read, {"mv": mv, "content": PEOPLE.encode()})
    assert Recipe().on(again) == Recipe().on(data)
    assert read_dataset_bytes(PEOPLE.encode(), "people.csv").source == "people.csv"
    assert read_dataset_bytes(PEOPLE.encode(), "people\x07.csv").source == ""  # no name to be written as it is
    assert mv.read_dataset(PEOPLE.encode(), name="people").source == ""  # bytes, which no file is known to hold


# -- what other programs write


def test_names_are_moved_as_r_writes_them_only_where_a_column_of_values_has_none() -> None:
    shifted = "a,b,class,\n" + "".join(f"r{i},{i},{i % 5},{'xy'[i % 2]}\n" for i in range(20))
    found = table(shifted)
    assert (found.feature_names, found.classes) == (("a", "b"), ("x", "y"))
    assert any("one column too far to the left, as R writes them" in note for note in found.notes)
    remark = "a,b,class,\n" + "".join(f"{i / 4},{i % 5},{'xy'[i % 2]},{'see below' * (i == 3)}\n" for i in range(20))
    assert table(remark).table.options.target == "class"
    assert table(remark).feature_names == ("a", "b")


def test_names_behind_a_sign_of_remarks_and_kinds_below_names_are_known() -> None:
    rows = "".join(f"L{i}\tAC{i}\t{['gut', 'palm'][i % 2]}\t{i % 7}\tsubject-{i % 3}\n" for i in range(20))
    found = table(f"#SampleID\tBarcode\tBodySite\tDays\tSubject\n{rows}")
    assert [name for name, _, _ in found.table.columns] == ["SampleID", "Barcode", "BodySite", "Days", "Subject"]
    orange = "size\tkind\tcolour\nc\tp q\td\n\t\tclass\n"
    found = table(orange + "".join(f"{i}\t{'pq'[i % 2]}\t{['red', 'blue'][i % 3 == 0]}\n" for i in range(20)))
    assert (len(found.y), found.feature_names, found.classes) == (20, ("size", "kind=q"), ("blue", "red"))
    assert "The names are Orange's, and say what columns are." in found.notes


OF_ORANGE = {
    "three rows": "who\tlegs\tcolour\tage\tafter\nstring\td\td\tc\tc\nmeta\t\tclass\t\ti\n",
    "one row": "mS#who\tD#legs\tcD#colour\tage\tiC#after\n",
    "one row without numbers": "mS#who\tD#legs\tcD#colour\tage\tiD#after\n",
    "two classes": "who\tlegs\tcolour\tage\tafter\ns\td\td\tc\tc\nmeta\t\tclass\t\tclass\n",
}


@pytest.mark.parametrize("names", OF_ORANGE.values(), ids=OF_ORANGE)
def test_what_orange_says_of_columns_is_heeded(names: str) -> None:
    found = table(names + "".join(f"n{i % 4}\t{i % 3}\t{['red', 'blue'][i % 2]}\t{i}.5\t{i % 2}\n" for i in range(20)))
    assert (found.feature_names, found.classes) == (("legs=0", "legs=1", "legs=2", "age"), ("blue", "red"))
    assert 'The target is column "colour", as the file says.' in found.notes
    for name in ("who", "after"):
        why = "the file says that it is no feature: to use it, take that out of the file."
        assert f'Column "{name}" is set aside: {why}' in found.notes


WORDS_OF = {"three": ["0.5", "1.5", "2.5"], "thirty": [str(word) for word in range(100, 130)]}
NOMINAL = pd.DataFrame({"a": VALUES[:, 0], "size": list("012") * 20})


@pytest.mark.parametrize("words", WORDS_OF.values(), ids=WORDS_OF)
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "parquet", "arff", "arff to test", "orange"])
def test_what_is_declared_to_be_words_is_no_number(kind: str, words: list[str]) -> None:
    frame = NOMINAL.assign(colour=(words * 20)[:60])
    lines = frame.to_csv(index=False, header=False)
    if kind.startswith("arff"):
        head = f"@attribute a real\n@attribute size {{0,1,2}}\n@attribute colour {{{','.join(words)}}}\n@data\n"
        file = f"@relation r\n{head}{lines}".encode()
        pair = zipped(dict.fromkeys(["t_TRAIN.arff", "t_TEST.arff"], file))
        found = read_dataset_bytes(*(pair, "t.zip") if kind == "arff to test" else (file, "t.arff"))
    elif kind == "orange":
        found = table(f"a,D#size,cD#colour\n{lines}")
    elif kind == "polars":
        sizes = pl.Enum(["0", "1", "2"])
        found = Dataset.from_frame(pl.from_pandas(frame).cast({"size": sizes, "colour": pl.Categorical}))
    else:
        frame, file = frame.astype({"size": "category", "colour": "category"}), io.BytesIO()
        frame.to_parquet(file)
        content = file.getvalue()
        given = {"pandas": frame, "pyarrow": pyarrow.Table.from_pandas(frame)}
        found = Dataset.from_frame(given[kind]) if kind in given else read_dataset_bytes(content, "t.parquet")
    assert (found.task, found.classes) == ("multiclass", tuple(words))
    assert found.feature_names == ("a", "size=0", "size=1", "size=2")
    assert f'The labels in column "colour" are read as {len(words)} classes.' in found.notes


def test_letters_and_names_that_orange_uses_too_stay_what_they_are() -> None:
    lines = "".join(f"{i}.5\t{i % 3}\t{['red', 'blue'][i % 2]}\n" for i in range(20))
    found = table(f"age\tlegs\tcolour\nc\td\td\n\t\t\n{lines}")  # kinds without roles
    assert (len(found.y), found.feature_names) == (20, ("age", "legs=0", "legs=1", "legs=2"))
    letters = "".join(f"{'cdst'[i % 4]},{'mci'[i % 3]},{'ab'[i % 2]}\n" for i in range(24))
    assert len(table(f"first,second,class\n{letters}").y) == 24
    for first in ("c,t,c\nc,c,c\n", "d,t,t\nc,c,c\n"):
        genome = first + "".join(f"{'ct'[i % 3 % 2]},{'dt'[i % 2]},{'ct'[i % 2]}\n" for i in range(22))
        assert len(table(f"p1,p2,class\n{genome}").y) == 24
    for names in (["S#1", "S#2", "S#3"], ["C#4", "D#4", "D#5"], ["iS#1", "b", "class"]):
        lines = "".join(f"{i}.5\t{i % 3}\t{'uv'[i % 2]}\n" for i in range(20))
        assert [name for name, _, _ in table("\t".join(names) + f"\n{lines}").table.columns] == names


@pytest.mark.parametrize("index", [None, "sample"])
def test_row_numbers_below_what_rows_of_names_are_called_are_no_feature(index: str | None) -> None:
    frame = pd.DataFrame(np.arange(24.0).reshape(8, 3) % 7, columns=pd.MultiIndex.from_product([["size"], [*"abc"]]))
    frame["class", ""] = [*"uv"] * 4
    found = table(frame.rename_axis(columns=["group", "part"], index=index).to_csv())
    assert (found.feature_names, found.classes) == (("a", "b", "c"), ("u", "v"))


def test_row_numbers_of_r_beside_one_column_are_no_feature() -> None:
    with pytest.raises(DataError, match="it numbers the rows"):
        table("x\n" + "".join(f"{i} {i * i % 7}.5\n" for i in range(1, 20)))


CODES = ("candidate", "updates", "validated", "stillborn", "code")
DAYS = ("birth_date", "dateOfBirth", "Geburtsdatum", "DOB")
IN_A_ROW = [f"{day:%Y%m%d}" for day in pd.date_range("2010-01-31", periods=30, freq="37D")]
WRITTEN = (
    *("2020-01-{:02d}T10:00:00+02:00", "2020-01-{:02d} 10:00 UTC", "{} Jan 2020", '"January {}, 2020"'),
    *("1/{}/2020 9:30 AM", '"Wed, {:02d} Jan 2020 10:00:00 GMT"'),
)


@pytest.mark.parametrize(
    ("name", "cells", "date"),
    [
        *(("when", [date.format(1 + i % 9) for i in range(40)], True) for date in WRITTEN),
        ("day", IN_A_ROW, True),
        ("place", [f"{int(day) + 7_000_000}" for day in IN_A_ROW], False),
        ("when", [f"{2019 + i // 12}{i % 12 + 1:02d}" for i in range(40)], True),
        ("month", [f"{2019 + i}{i % 3 + 1:02d}" for i in range(40)], True),
        ("born", [f"{1 + i % 28:02d}{i % 12 + 1:02d}{1950 + i}" for i in range(40)], True),
        *((name, [f"{i % 12 + 1}{1 + i % 28:02d}{1950 + i}" for i in range(40)], True) for name in DAYS),
        *((name, [f"{1 + i % 28:02d}{i % 12 + 1:02d}{1950 + i}" for i in range(40)], False) for name in CODES),
        *((name, [f"{start + i}" for i in range(12)], False) for name in CODES for start in (200001, 201001)),
        ("school", [f"{2000 + i}{i % 5 + 1:02d}" for i in range(40)], False),  # a year and a code
        ("school", [f"{101 + i % 9}{1990 + i}" for i in range(40)], False),
        ("price", [str(199_000 + 137 * i) for i in range(40)], False),
        ("count", [str(1_902_000 + 7 * i) for i in range(40)], False),
    ],
)
def test_dates_are_known_however_they_are_written_and_counts_and_codes_are_none(name, cells, date) -> None:
    rows = "".join(f"{cell},{i % 7},{'uv'[i % 2]}\n" for i, cell in enumerate(cells))
    found = table(f"{name},x2,class\n{rows}")
    assert found.feature_names == (("x2",) if date else (name, "x2"))
    assert any(note.startswith(f'Column "{name}" is set aside: it holds dates') for note in found.notes) is date


@pytest.mark.parametrize(
    ("name", "zeros", "target"),
    [
        ("density", "e19", "class"),
        ("Hz", "000000000.0", "class"),
        ("revenue", "000000000", None),
        ("target", "000000000", None),
        ("revenue", "000000000", "revenue"),
    ],
)
def test_long_numbers_that_are_measured_or_predicted_are_used(name: str, zeros: str, target: str | None) -> None:
    rows = [f"{i * 7 % 5}.5,{100 + i}{zeros}" + f",{i % 2}" * (target is not None) for i in range(40)]
    found = table("\n".join([f"x,{name}" + ",class" * (target is not None), *rows]), target=target)
    predicted = name in found.table.targets and found.table.options.target == name
    assert predicted or name in found.feature_names


def test_edges_of_a_graph_are_named_for_what_they_are_also_without_names() -> None:
    edges = "".join(f"{i} {(i + k * k) % 30}\n" for i in range(30) for k in (1, 2, 3))
    counts = "".join(f"{i} {i * 7 % 3}\n" for i in range(30) for _ in range(3))
    assert [any("look like edges" in note for note in table(each).notes) for each in (edges, counts)] == [True, False]


def test_tables_of_genes_say_how_they_are_taken_and_a_file_of_geo_is_refused_with_what_to_do() -> None:
    for above in ("", "\n\n"):
        with pytest.raises(DataError, match="whose rows are genes and whose columns are samples: turn its table"):
            table(f'{above}!Series_title\t"x"\n\n"ID_REF"\t"GSM1"\t"GSM2"\n"p1"\t1.5\t2.5\n')
    rows = "".join(f"g{i},{i / 4},{i % 5},{i % 7}.5\n" for i in range(20))
    said = "Each row is a sample: where the columns are, as in tables of genes, turn the table first."
    assert said in table(f"Gene_ID,S1,S2,S3\n{rows}").notes
    assert said in table(f",S1,S2,S3\n{rows.replace('g', 'ENSG0000')}").notes
    assert said not in table(f"Gene_ID,S1,S2,S3\n{rows}", target="S3").notes


def test_units_of_a_target_and_of_a_column_alone() -> None:
    found = table("a,dose\n" + "".join(f"{i % 7},{1.5 * i} mg\n" for i in range(30)))
    assert "The target is in mg." in found.notes
    assert found.y[2] == 3.0
    with pytest.raises(DataError, match="has one column"):
        table("weight\n" + "".join(f"{100 + i} g\n" for i in range(30)))


def test_commas_that_may_be_either_sign_are_said() -> None:
    rows = "".join(f"{309 if i == 4 else f'{i % 9 + 1},{201 + i}'};{'xy'[i % 2]}\n" for i in range(30))
    said = 'Column "a": "1,201" beside "309" is read as 1.201, which may be wrong: the decimal sign can be chosen.'
    assert said in table(f"a;class\n{rows}").notes
    assert said not in table(f"a;class\n{rows}", decimal=",").notes
    assert table(f"a;class\n{rows}", decimal=".").X[0, 0] == 1201.0


@pytest.mark.parametrize(("orient", "years"), [("columns", 4), ("index", 30)])
def test_years_in_json_are_columns_where_more_rows_have_names(orient: str, years: int) -> None:
    named = [f"r{i}" for i in range(12)]
    frame = pd.DataFrame(np.arange(12.0 * years).reshape(12, -1), named, [*range(1990, 1990 + years)])
    content = (frame if orient == "columns" else frame.T).to_json(orient=orient)
    found = read_dataset_bytes(content.encode(), "t.json")
    assert found.X.shape == ((12, 3) if orient == "columns" else (30, 11))


def test_what_is_a_mark_of_remarks_elsewhere_may_begin_a_cell() -> None:
    colours = "colour,a,class\n" + "".join(f"{['#f00', 'red'][i % 2]},{i},{'ab'[i % 3 % 2]}\n" for i in range(20))
    assert (len(table(colours).y), table(colours).feature_names) == (20, ("colour=red", "a"))
    for words in (("red", "#000", "blue"), ("%5", "x", "y"), ("n1", "#7", "n2")):
        few = "name,a,class\n" + "".join(f"{words[i % 3]},{i},{'ab'[i % 2]}\n" for i in range(20))
        names = tuple(f"name={word}" for word in sorted(words))
        assert (len(table(few).y), table(few).feature_names[:-1]) == (20, names)
    shorter = "k,a,class,\n" + "".join(f"#a,{i},u\n" if i % 4 == 0 else f"b,{i},v,\n" for i in range(20))
    assert len(table(shorter).y) == 20
    texts = "a,text,class\n" + "".join(f'{i},"of {i}\n# in\nit",{"ab"[i % 2]}\n' for i in range(20))
    assert table(texts).table.first[0][1] == "of 0 # in it"
    assert not any("Remarks" in note for note in table(texts).notes)


@pytest.mark.parametrize("first", ["#{}.5", "%{}.5", "%{}", "#7"])
def test_many_rows_behind_a_mark_are_remarks_unless_identifiers_tell_them_apart(first: str) -> None:
    cells = [first.format(i) if i % 4 == 1 else f"{i}" for i in range(40)]
    found = table("a,b,class\n" + "".join(f"{cell},{i % 7},{'uv'[i % 2]}\n" for i, cell in enumerate(cells)))
    assert found.n_samples == 30
    assert any(note.startswith("Remarks between the rows are left out (10)") for note in found.notes)


def test_what_may_be_meant_otherwise_is_said() -> None:
    lines = "".join(f"{-99 if i == 3 else i},{i % 5 - 2},0{i % 3}1,{['yes', 'no', 'Yes'][i % 3]}\n" for i in range(20))
    notes = table(f"age,grade,zip,class\n{lines}").notes
    far = "far from its other numbers: where a value is missing there, add it to the missing words (na)."
    assert [note for note in notes if far in note] == [f'Column "age" holds -99, {far}']
    assert 'Column "zip": "001" is read as 1, and others likewise.' in notes
    assert 'Column "class" tells "Yes", "yes" apart, which differ by capitals alone.' in notes
    assert not any(far in note for note in table(f"age,grade,zip,class\n{lines}", na=["-99"]).notes)
    assert table("a,b,c\n" + "".join(f"{x},{i},{i}\n" for i, x in enumerate(4 * ["0", "-0", "0.0"]))).n_samples == 12


STATES = ("AL", "AK", "AZ", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "ND", "SD")
POOLING = ("max", "min", "first", "last", "sum", "mean")

LANDS = "country,q,price\n" + "".join(f"Land {i},{i * i % 7},{i * 2.5}\n" for i in range(15))
GROUPED = ",men,,women,,\n,age,score,age,score,class\n" + "".join(
    f"r{i},{i},{i % 5},{3 * i},{i % 4},{'xy'[i % 2]}\n" for i in range(20)
)
ORDINARY = {
    "a first column of words": ("kind,size,age\n" + "u,1.5,2\nv,2.5,3\n" * 5, "kind", ("size", "age"), 10),
    "two columns of words": ("kind,ward,age\n" + "u,a,2\nv,b,3\n" * 5, "age", ("kind=v", "ward=b"), 10),
    "names of rows": (LANDS, "price", ("q",), 15),
    "groups above names": (GROUPED, "class", ("men age", "men score", "women age", "women score"), 20),
    "a class called NA": ("a,class\n" + "1,NA\n2,EU\n3,NA\n4,EU\n" * 10, "class", ("a",), 40),
    "the null of databases": ("1.5\t\\N\ta\n2\t3\tb\n3.5\t1\tb\n" * 9, "column 3", ("column 1", "column 2"), 27),
    "a word for nothing in the first row": (
        "city,age,class\nBern,n.a.,u\n"
        + "".join(f"{'Rome' if i % 2 else 'Bern'},{i},{'uv'[i % 2]}\n" for i in range(1, 30)),
        "class",
        ("city=Rome", "age"),
        29,
    ),
    "apostrophes beside words in single quotes": (
        "note,b,height,class\n"
        + "".join(f"{('n', chr(39) + '90s')[i % 2]},'v{i % 3}',{i}',{i % 2}\n" for i in range(12)),
        "class",
        ("note=n", "b=v0", "b=v1", "b=v2"),
        12,
    ),
    "a last sample called like a sum": (
        "state,a,class\n" + "".join(f"{state},{i * i % 7},{i % 2}\n" for i, state in enumerate(STATES)),
        "class",
        ("a",),
        14,
    ),
    "two last samples called like sums": (
        "pooling,a,b\n" + "".join(f"{how},{i * i % 7},{i * 1.5}\n" for i, how in enumerate(POOLING)),
        "b",
        ("a",),
        6,
    ),
    "a remark of as many words as there are names": (
        "#Exported by\tTool X\tv1a\nclass\tweight\tsize\n" + "".join(f"{i % 2}\t{i}\t{i / 7}\n" for i in range(30)),
        "class",
        ("weight", "size"),
        30,
    ),
    "a class below a group": (
        "Group A,,,,Group B,,\nclass,x,y,z,x,y,z\n"
        + "".join(f"{i % 2},{i},2,{i * i},{i + 3},4,5\n" for i in range(30)),
        "class",
        ("Group A x", "Group A y", "Group A z", "Group B x", "Group B y", "Group B z"),
        30,
    ),
    "a number below the names, and a word that is a role": (
        "x,y,z\n1,2,b\n,,class\n" + "".join(f"{i},{i * i},{'ab'[i % 2]}\n" for i in range(30)),
        "z",
        ("x", "y"),
        31,
    ),
    "two columns between blanks": ("dose kind\n" + "1 cat\n2 cat\n" * 800 + "3 dog\n" * 500, "kind", ("dose",), 2100),
    "two columns between blanks without names": (
        "".join(f"{i % 7} {'mf'[i % 2]}\n" for i in range(30)),
        "column 2",
        ("column 1",),
        30,
    ),
}


@pytest.mark.parametrize("kind", ORDINARY)
def test_an_ordinary_table_is_not_taken_for_what_it_looks_like(kind: str) -> None:
    content, *expected = ORDINARY[kind]
    found = read_dataset_bytes(content.encode(), "mine.txt")
    assert [found.table.options.target, found.feature_names, len(found.y)] == expected


def test_notes_on_units_commas_genes_and_edges_are_of_what_they_name_alone() -> None:
    rows = range(30)
    told = [
        table("x,class\n" + "".join(f"{i},{1 + i % 3}a\n" for i in rows)),
        table("t;b\n" + "".join(f"{200 + i};{'ab'[i % 2]}\n" for i in rows) + "n,a;a\n"),
        table("protein,fat,class\n" + "".join(f"{i / 3},{i * i},{'ab'[i % 2]}\n" for i in rows)),
        table("u,v,class\n" + "".join(f"{i / 70},{i / 90},{'ab'[i % 2]}\n" for i in rows)),
    ]
    notes = " ".join(note for data in told for note in data.notes)
    assert "which may be wrong" not in notes
    assert "turn the table" not in notes
    assert "edges of a graph" not in notes
    assert "The target is in a." not in notes
