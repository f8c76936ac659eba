"""Hostile input by kind: files, words of recipes, arguments, JSON. Tests read it as it is, fuzzing changes it."""

import importlib
import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.io import savemat
from scipy.sparse import csc_array

DIGITS, FAR = "9" * 5000, "9" * 400


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file.getvalue()


def archive(method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    return zipped({f"{name}.npy": content for name, content in members.items()}, method)


def member(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def declaring(shape: str, descr: str = "'<f8'") -> bytes:
    """An array's header, and nothing behind it."""
    said = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    return header(said)


def header(said: str) -> bytes:
    padded = said.encode() + b" " * 16 + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


def damaged(packed: bytes) -> bytes:
    found = bytearray(packed)
    for place in range(60, 200):
        found[place] ^= 0x55
    return bytes(found)


Y = member([1, -1, 1, -1])
TABLE = member(np.arange(800.0).reshape(4, 200))
LZMA = archive(zipfile.ZIP_LZMA, X=TABLE, y=Y)
LONG = "x" * 130_000

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(rows: str, before: str = "", size: int | None = None, sheets: int = 1) -> bytes:
    """An Excel file by hand; `before` stands before its sheet, of which `size` is said, and so many are named."""
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{LINK}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{LINK}"><sheets>'
        + "".join(f'<sheet name="s{k}" sheetId="{k}" r:id="r1"/>' for k in range(1, sheets + 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships"><Relationship Id="r1" Type="{LINK}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'{before}<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>',
    }
    packed = zipped({name: content.encode() for name, content in parts.items()})
    return packed if size is None else belied(packed, size)


def belied(packed: bytes, size: int) -> bytes:
    """Return an archive whose last member says that it has so many bytes."""
    found, place = bytearray(packed), packed.rindex(b"PK\x01\x02")
    found[place + 24 : place + 28] = size.to_bytes(4, "little")
    return bytes(found)


def columns_of(count: int) -> bytes:
    """A Parquet file of one row."""
    pyarrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({f"c{j}": [1] for j in range(count)}), file)
    return file.getvalue()


def parquet(values: list[Any], kind: str, rows: int = 1000, *words: Any, **options: Any) -> bytes:
    """A Parquet file of a column of values again and again, of a type that pyarrow calls so, and one of classes."""
    pyarrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    x = pyarrow.array(values * (rows // len(values)), getattr(pyarrow, kind)(*words))
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({"x": x, "y": ["u", "v"] * (rows // 2)}), file, compression="zstd", **options)
    return file.getvalue()


def sparse(**changed: Any) -> bytes:
    """A sparse matrix as SciPy saves it, some of its parts changed."""
    parts = {"data": np.ones(3), "indices": [0, 1, 2], "indptr": [0, 1, 2, 3], "shape": [3, 3], "format": b"csr"}
    return archive(**{name: member(part) for name, part in (parts | changed).items()})


def sparse_of_matlab(part: str, values: list[int]) -> bytes:
    """A sparse matrix as MATLAB saves it, whose index pointer or indices are others than were saved."""
    matrix = csc_array([[1.0, 0.0, 2.0], [0.0, 7.0, 0.0], [3.0, 0.0, 4.0], [0.0, 5.0, 0.0]])
    file = io.BytesIO()
    savemat(file, {"X": matrix, "y": [1, -1, 1, -1]})
    saved = getattr(matrix, part).astype("<i4").tobytes()
    assert file.getvalue().count(saved) == 1
    return file.getvalue().replace(saved, np.array(values, "<i4").tobytes())


def without_shape() -> bytes:
    """A text as MATLAB saves it, in a cell, that says to have no dimensions."""
    file = io.BytesIO()
    savemat(file, {"c": np.array([["ab"]], dtype=object)})
    shape = np.array([5, 8, 1, 2], "<i4").tobytes()
    assert file.getvalue().count(shape) == 1
    return file.getvalue().replace(shape, np.array([5, 0, 1, 2], "<i4").tobytes())


COMPLEX = b"%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 1 2\n"
ENTITY = '<!DOCTYPE s [<!ENTITY a "ha">]>'
FAR_CELL = '<row r="1"><c r="A1"><v>1</v></c></row><row r="{0}"><c r="XFD{0}"><v>1</v></c></row>'
LONG_TEXT = b"x" * 1_000_000
WIDE_ROWS = '<row><c r="XFD1"/></row>' * 2_000

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "far.svm": (lambda: b"+1 12000000:1\n-1 1:1\n", "at most 100,000 columns"),
    "flat.npz": (lambda: archive(X=member(np.zeros((10, 3_000_000), np.int8)), y=Y), "at most 100,000 columns"),
    "tall.npz": (lambda: archive(X=TABLE, y=declaring("(100000000,)", "'|i1'")), "at most [0-9,]+ (numbers|rows)"),
    "huge.npz": (lambda: archive(X=declaring("(10000000000000,)"), y=Y), "at most"),
    "grams.npz": (lambda: archive(grams=declaring("(900, 900, 900)"), y=Y), "Gram matrices of 729,000,000 numbers"),
    "text.npz": (lambda: archive(X=TABLE, y=declaring("(4,)", "'<U90000000'")), "unpacks to 1.4 GB"),
    "more.npz": (lambda: archive(X=declaring("(4, 4)"), y=Y), "Array X of more.npz cannot be read"),
    "lzma.npz": (lambda: damaged(LZMA), "cannot be read|damaged"),
    "token.npz": (lambda: archive(X=header("{'descr': ("), y=Y), "Array X of token.npz cannot be read"),
    "deep.npz": (lambda: archive(X=header("[" * 3000), y=Y), "Array X of deep.npz cannot be read"),
    "point.npy": (lambda: member(1.0), "no labels"),
    "rows.npz": (lambda: sparse(indptr=[0, 1, 2, 1_000_000_000]), "less than the size of index and data"),
    "falling.npz": (lambda: sparse(indptr=[0, 1, 2, -5]), "rows do not follow each other"),
    "complex.npz": (lambda: sparse(data=[1j, 2.0, 3.0]), "not of real numbers"),
    "complex.mtx": (lambda: COMPLEX, "complex numbers"),
    "rows.mat": (lambda: sparse_of_matlab("indptr", [0, 100_000_000, 4, 6]), "rows do not follow each other"),
    "far.mat": (lambda: sparse_of_matlab("indices", [0, 1_000_000_000, 2, 1, 0, 2]), "damaged sparse matrix"),
    "shape.mat": (without_shape, "an array has no shape"),
    "label.csv": (lambda: f"a,y\n1,{LONG}\n2,{LONG}\n".encode(), "a label of 130,000 letters"),
    "column.csv": (lambda: f"a,{LONG}\n1,2\n".encode(), "Column 2 of column.csv has a name of 130,000 letters"),
    "digits.csv": (lambda: b"a,y\n" + b"9" * 5000 + b",0\n1,1\n", "is not a finite number"),
    "digits.svm": (lambda: b"+1 1:" + b"9" * 5000 + b"\n", "is not a finite number"),
    "entity.xlsx": (lambda: workbook("<row/>", ENTITY), "defines words of its own"),
    "bomb.xlsx": (lambda: workbook("<row/>", size=2**31), "unpacks to more than"),
    "belied.xlsx": (lambda: workbook(WIDE_ROWS, size=100), "damaged Excel file"),
    "wide.xlsx": (lambda: workbook(WIDE_ROWS), "cells far from the others"),
    "far.xlsx": (lambda: workbook(FAR_CELL.format("9" * 15)), "has one column"),
    "digits.xlsx": (lambda: workbook(FAR_CELL.format(DIGITS)), "damaged Excel file"),
    "empty.xlsx": (lambda: workbook(""), "is empty"),
    "cut.xlsx": (lambda: workbook("<row><c"), "damaged Excel file"),
    "token.xlsx": (lambda: workbook("<row/>", f"<?x {LONG * 10}?>"), "more than 1,048,576 letters"),
    "attribute.xlsx": (lambda: workbook(f'<row a="{LONG * 10}"/>'), "more than 1,048,576 letters"),
    "comment.xlsx": (lambda: workbook(f"<!--{'<' * 1_200_000}-->"), "more than 1,048,576 letters"),
    "open.xlsx": (lambda: workbook("<row/>", f"<!--{'<' * 1_200_000}"), "more than 1,048,576 letters"),
    "times.xlsx": (lambda: workbook("<row/>" * 2_000_000), "unpacks to more than [34] MB"),
    "same.xlsx": (lambda: workbook("<x/>" * 1000, sheets=50), "damaged Excel file: several of its sheets are one"),
    "tags.xlsx": (lambda: workbook("<row/>", "<a>" + "<b/>" * 100_000), "has more in .* than is read"),
    "text.parquet": (lambda: parquet([LONG_TEXT.decode()], "large_string"), "nothing to predict"),
    "bytes.parquet": (lambda: parquet([LONG_TEXT], "binary"), "nothing to predict"),
    "token.parquet": (lambda: parquet([LONG_TEXT * 2], "large_binary", 10), "A cell holds 2,000,000 letters"),
    "fixed.parquet": (lambda: parquet([LONG_TEXT], "binary", 1000, 1_000_000), "unpacks to more than"),
    "lists.parquet": (
        lambda: parquet([np.zeros(100_000), np.zeros(1)], "list_", 1000, importlib.import_module("pyarrow").float64()),
        'The column "x" is left out: it holds lists',
    ),
    "prefixes.parquet": (
        lambda: parquet(
            [LONG_TEXT.decode()[:300_000]], "string", use_dictionary=False, column_encoding={"x": "DELTA_BYTE_ARRAY"}
        ),
        "unpacks to more than",
    ),
    "cut.parquet": (lambda: columns_of(3)[:-9], "damaged Parquet file"),
    "other.parquet": (lambda: columns_of(3)[:4] + b"\xff" * 200 + b"PAR1", "damaged Parquet file"),
    "field.csv": (lambda: b"a,y\n" + b"9" * 500_000 + b",0\n1,1\n", "field limit"),
}


WORDS = (
    "data=sonar; C=10; solvers=level",
    f"solvers=level:lam={DIGITS}",
    f"solvers=level:lam={FAR}; max-iter={FAR}",
    f"kernels=poly@{DIGITS}",
    f"kernels=gauss:2^{DIGITS}",
    f"kernels=poly:1...{FAR}@each",
    f"seed={FAR}; max-seconds={DIGITS}; nystrom={FAR}:x",
    f"C=2^{FAR}; gap={DIGITS}%; cache-mb={DIGITS}",
    f"combination=polynomial; degrees={FAR}",
    f"regularizer=lp-ball:p={DIGITS}; loss=hinge:C={FAR}",
    f"data={DIGITS}; positive={DIGITS}",
    'kernels=linear@"a;b",0,"c\\"d"; positive="none"',
    "kernels=gauss:0.5,1,2@all+each poly:1...3,offset=0@each; normalize=diagonal; gap=1%",
    "data=\x1b[31m\x00; C=\u0663; \u200b=1",
    "loss=epsilon-insensitive:epsilon=0.2,C=10; regularizer=elastic-net:l1=1,l2=2; by-rows=yes",
)
ARGUMENTS = (
    ("run", "--data", "sonar", "--solvers", "level", "--solver-option", f"level.lam={DIGITS}"),
    ("run", "--kernels", f"poly@{DIGITS}"),
    ("run", "--max-iter", FAR, "--seed", DIGITS, "--C", f"2^{DIGITS}"),
    ("run", "--threads", DIGITS),
    ("race", "--data", DIGITS),
    ("race", "--data", "\x1b[31m.csv"),
    ("race", "--data", "a\0b.csv", "--scenario", "silp-oscillates"),
    ("path", "--vary", f"C=1:2:{DIGITS}", "--solver", DIGITS),
    ("serve", "--port", DIGITS),
    ("bench", "--repeats", DIGITS),
    ("\x1b[31m",),
)
JSON = (
    '{"version": 1}',
    '{"version": 1, "split": {"seed": ' + FAR + "}}",
    '{"version": 1, "stop": {"gap": 1e999, "max_iter": ' + FAR + "}}",
    '{"version": 1, "stop": {"max_iter": ' + DIGITS + "}}",
    '{"version": 1, "kernels": {"families": [{"name": "gauss", "widths": [' + FAR + "]}]}}",
    '{"version": 1, "kernels": {"degrees": [' + FAR + '], "combination": "polynomial"}}',
    '{"version": 1, "solvers": [{"name": "level", "options": {"lam": ' + FAR + "}}]}",
    '{"version": 1, "solvers": [{"name": ["level"], "options": {"name": {}}}]}',
    "[" * 100_000,
    '{"version": 1, "problem": {"loss": {"name": "hinge", "C": NaN}}}',
)
