"""What the tests of files have in common: samples, a kernel, and what writes them in each format."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _corpus import zipped as archive_of
from scipy.io import savemat

from mklviz.datasets import Dataset, read_dataset_bytes
from mklviz.kernels.families._family import squared_distances

RNG = np.random.default_rng(3)
N = 40
X = RNG.normal(size=(N, 3)).round(3)
Y = (X[:, 0] > 0).astype(int)
WORDS = np.where(Y, "yes", "no")
K = np.exp(-squared_distances(X, X))
KERNELS = np.stack([K, X @ X.T, np.exp(-0.1 * squared_distances(X, X))])
HEAD = (
    "@relation t\n@attribute a numeric\n@attribute 'b c' REAL\n@attribute d integer\n@attribute class {no,yes}\n@data\n"
)


def read(content: str | bytes, name: str, **options: Any) -> Dataset:
    """Return what a file holds."""
    return read_dataset_bytes(content.encode() if isinstance(content, str) else content, name, **options)


def rows(label: Callable[[int], str] = lambda i: WORDS[i], separator: str = ",") -> str:
    """Return the samples as lines."""
    return "".join(separator.join([*map(str, x), label(i)]) + "\n" for i, x in enumerate(X))


def saved(**arrays: Any) -> bytes:
    """Return an archive of arrays as NumPy writes it."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def matlab(**arrays: Any) -> bytes:
    """Return what SciPy writes for MATLAB."""
    file: Any = io.BytesIO()  # the stubs know paths only
    savemat(file, arrays, do_compression=True)
    return bytes(file.getvalue())


def text(matrix: Any, **options: Any) -> bytes:
    """Return what NumPy writes as text."""
    file = io.BytesIO()
    np.savetxt(file, matrix, **options)
    return file.getvalue()


def is_the_table(data: Dataset) -> bool:
    """Whether samples and classes are those above."""
    return np.allclose(data.X, X) and np.array_equal(data.y > 0, Y == 1) and data.task == "binary"


def zipped(**files: bytes) -> bytes:
    """Return an archive of files."""
    named = {name.replace("_", "."): content for name, content in files.items()}
    return archive_of(named | {"__MACOSX/._x": b"\0\0"})


def written(folder: Path, **files: str | bytes | pd.DataFrame) -> list[Path]:
    """Write files, whose names have _ for the point, and return their paths; tables are CSV without row numbers."""
    paths = []
    for name, content in files.items():
        paths.append(folder / name.replace("_", "."))
        content = content.to_csv(index=False) if isinstance(content, pd.DataFrame) else content
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


SAMPLES = [f"s{i}" for i in range(N)]


# -- rows to test

HEADED = "a,b,c,class\n"
TRAINED = N - 10
