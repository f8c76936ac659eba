"""A trace as a compressed NumPy archive, for ``numpy.load`` too. Weights are written and read row by row."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mklviz.context import PARTS
from mklviz.contract import Array, End, Facts, Iterate
from mklviz.errors import MklvizError
from mklviz.quoting import message_of, one_line
from mklviz.record.run_facts import FINAL, MOST_VALUES, Origin, plain_values
from mklviz.unpacking import ArchiveMember, declared, read_array


def write_archive(
    file: IO[bytes], header: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], name: str, rows: Iterable[Array]
) -> None:
    """Write a header, columns and, as the array `name`, as many rows as the columns are long."""
    length = len(next(iter(columns.values())))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, values in {"header": as_text(header), **columns}.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(values), allow_pickle=False)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            shape: tuple[int, ...] = (0,)
            for t, row in enumerate(rows):
                if t == 0:
                    shape = (length, len(row))
                    npy.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": shape})
                member.write(np.ascontiguousarray(row, dtype="<f8").data)
            if shape == (0,):
                npy.write_array(member, np.empty(0), allow_pickle=False)


def as_text(header: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Return a header as the array of that name."""
    return np.frombuffer(json.dumps(header).encode(), np.uint8)  # an array of letters would take four times the memory


class Arrays:
    """The arrays of an archive, by name, each read when it is asked for."""

    def __init__(self, file: str | Path | IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._zip.namelist()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return read_array(self._zip, f"{name}.npy")

    def rows(self, name: str) -> Iterator[Array]:
        """Yield the rows of one array."""
        with ArchiveMember(self._zip, f"{name}.npy") as member:
            shape, fortran, dtype = declared(member)
            if fortran or len(shape) != 2 or dtype.kind != "f":
                raise ValueError(f"the array {name} is not made of rows")
            for _ in range(shape[0]):
                yield np.frombuffer(member.read(shape[1] * dtype.itemsize), dtype, shape[1]).astype(np.float64)

    def sizes(self) -> dict[str, int]:
        """Return how many bytes each array takes, by name, at eight bytes per number, as its header declares."""
        sizes: dict[str, int] = {}
        for info in self._zip.infolist():
            with ArchiveMember(self._zip, info) as member:
                numbers = abs(math.prod(declared(member)[0]))
            name = info.filename.removesuffix(".npy")
            sizes[name] = sizes.get(name, 0) + max(8 * numbers, info.file_size)
        return sizes

    def close(self) -> None:
        """Read no more."""
        self._zip.close()


def read_header(archive: Arrays) -> dict[str, Any]:
    """Return the header of an open archive, whichever way it was written."""
    if "header" not in archive:
        raise ValueError("it has no header")
    text = archive["header"]
    header: dict[str, Any] = json.loads(text.tobytes().decode() if text.dtype == np.uint8 else str(text))
    return header


# -- files are replaced whole or not at all: a full disk leaves what was there before
#
# A new file is written beside the old one, brought to the disk, and only then given its name.


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that becomes `path` when the block ends; an error leaves `path` as it was."""
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not target.is_file():  # a pipe or a device has nothing to lose, and cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    beside = target.with_name(f".{secrets.token_hex(8)}.part")  # an own name may be too long with more added to it
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


# A trace's file: a header in words, one column per quantity, and every step's weights as a row.
#
# A file may be cut, damaged or written by another program. Every part is checked: a trace that loads can be drawn,
# framed and saved again.


Step = tuple[Iterate, float, "dict[str, float] | None"]  # with the CPU seconds so far, in all and by part

FORMAT = 1
_SCALARS = ("objective", "lower_bound", "step")
_SPLIT = {part: f"split_{part}" for part in PARTS}  # saved under these names; files from before have none of them
_CERTIFICATES = ("dual_bound", "certified", "certificate")  # nor these
_END = "end"  # how the last step's facts in a file say why the method ended
_WORDS = ("solver", "label", "problem", "status", "reason", "recipe")


def write_run(
    file: IO[bytes], header: Mapping[str, Any], iterates: Sequence[Iterate], seconds: Array, split: Mapping[str, Array]
) -> None:
    """Write a run; `header` is what its trace says of itself in words."""
    whole, columns = columns_of(header, iterates, seconds, split)
    write_archive(file, whole, columns, "weights", (iterate.weights for iterate in iterates))


def columns_of(
    header: Mapping[str, Any], iterates: Sequence[Iterate], seconds: Array, split: Mapping[str, Array]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the columns of a file, all but the weights."""
    columns: dict[str, NDArray[Any]] = {
        name: np.array([getattr(iterate, name) for iterate in iterates], dtype=np.float64) for name in _SCALARS
    }
    columns["svm_solves"] = np.array([iterate.svm_solves for iterate in iterates], dtype=np.int64)
    columns |= {"dual": np.array([iterate.dual for iterate in iterates]), "seconds": seconds}
    columns |= _certificates(iterates) | {_SPLIT[part]: spent for part, spent in split.items()}
    ends: list[dict[str, float | str]] = [{} if each.end is None else {_END: each.end.reason} for each in iterates]
    facts = [iterate.facts.known() | end for iterate, end in zip(iterates, ends, strict=True)]
    return {"format": FORMAT, **header, "facts": facts}, columns


@contextmanager
def opened_run(
    path: str | Path | IO[bytes], kind: type[Arrays] = Arrays
) -> Iterator[tuple[dict[str, Any], Iterator[Step]]]:
    """Open a file that `write_run` wrote: its header, and its steps, read by `kind` as they are asked for."""
    try:
        with closing(kind(path)) as archive:
            stored = read_header(archive)
            if stored.get("format") != FORMAT:
                raise MklvizError(f"{path} was written by another version of mklviz and cannot be read.")
            header, facts = _header(stored), [_facts(stated) for stated in _typed(stored["facts"], list, "facts")]
            yield header, _steps(archive, facts, len(header["kernel_names"]))
    except MklvizError:
        raise
    except FileNotFoundError:
        raise MklvizError(f"There is no file {path}.") from None
    except Exception as error:
        called = path if isinstance(path, (str, Path)) else "The file"
        raise MklvizError(f"{called} is not a run saved by mklviz ({message_of(error)}).") from error


def _header(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a trace says of itself in words; files from before lack some."""
    stored = {"recipe": "", "versions": {}, "origin": None, "descends": None, **stored}
    header: dict[str, Any] = {word: _typed(stored[word], str, word) for word in _WORDS}
    header |= {word: one_line(header[word]) for word in _WORDS if word != "recipe"}
    header["options"] = plain_values(_typed(stored["options"], dict, "options"))
    names, versions = _typed(stored["kernel_names"], list, "names"), _typed(stored["versions"], dict, "versions")
    header["kernel_names"] = [one_line(_typed(name, str, "name of a kernel")) for name in names]
    header["versions"] = {one_line(name): one_line(_typed(text, str, "version")) for name, text in versions.items()}
    header["origin"] = Origin.read(stored["origin"])
    header["descends"] = None if stored["descends"] is None else _typed(stored["descends"], bool, "descends")
    if header["status"] not in ("running", *FINAL):
        raise ValueError(f"no run ends as {header['status']!r:.40}")
    return header


def _facts(facts: Any) -> dict[str, float | str]:
    stated = _typed(facts, dict, "facts")
    if len(stated) > MOST_VALUES:
        raise ValueError(f"a step has {len(stated):,} facts")
    return {one_line(name): one_line(fact) if isinstance(fact, str) else float(fact) for name, fact in stated.items()}


@dataclass(frozen=True, kw_only=True)
class SavedFacts(Facts):
    """Facts read from a file, which need no solver to be read."""

    # what the solver knew beside the facts that all solvers may have
    others: Mapping[str, float | str] = field(default_factory=dict)

    @classmethod
    def read(cls, facts: Mapping[str, float | str]) -> SavedFacts:
        """Return the facts that a file tells by name."""
        common = {each.name: facts.get(each.name) for each in fields(Facts)}
        numbers = {name: value for name, value in common.items() if isinstance(value, float)}
        return cls(**numbers, others={name: value for name, value in facts.items() if name not in numbers})

    def known(self) -> dict[str, float | str]:
        common = super().known()
        del common["others"]
        return common | dict(self.others)


def _typed(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"its {what} is {value!r:.40}")
    return value


def _steps(archive: Any, facts: Sequence[Mapping[str, float | str]], names: int) -> Iterator[Step]:
    length = len(facts)
    if length == 0:
        return
    columns = {name: _column(archive, name, length) for name in (*_SCALARS, "seconds")}
    solves = _column(archive, "svm_solves", length, whole=True)
    dual = _rows_of(archive, "dual", length)
    split = {part: _column(archive, name, length) for part, name in _SPLIT.items() if name in archive}
    certificates = _read_certificates(archive, length, dual.shape[1:])
    if not (np.isfinite(columns["seconds"]).all() and (columns["seconds"] >= 0.0).all() and (solves >= 0).all()):
        raise ValueError("its seconds or SVM solves are no counts")
    rows = archive.rows("weights")
    for t, stated in enumerate(facts):
        row = next(rows, None)
        if row is None or (names and len(row) != names):
            raise ValueError("its weights are not those of its steps and kernels")
        scalars: dict[str, Any] = {name: float(columns[name][t]) for name in _SCALARS}
        iterate = Iterate(
            weights=row,
            dual=dual[t],
            svm_solves=int(solves[t]),
            facts=SavedFacts.read({name: fact for name, fact in stated.items() if name != _END}),
            end=End(str(stated[_END])) if _END in stated else None,
            **scalars,
            **certificates.get(t, {}),
        )
        spent = {part: float(column[t]) for part, column in split.items()}
        yield iterate, float(columns["seconds"][t]), spent if len(spent) == len(PARTS) else None


def _column(archive: Any, name: str, length: int, whole: bool = False) -> NDArray[Any]:
    """Return a column of numbers, one for each step."""
    values = archive[name]
    if values.shape != (length,) or values.dtype.kind not in ("iu" if whole else "fiu"):
        raise ValueError(f"its {name} is not one number for each of {length} steps")
    return np.asarray(values, dtype=np.int64 if whole else np.float64)


def _rows_of(archive: Any, name: str, length: int) -> Array:
    """Return arrays of numbers, one for each step."""
    rows = archive[name]
    if rows.ndim < 2 or len(rows) != length or rows.dtype.kind not in "fiu":
        raise ValueError(f"its {name} is not one array for each of {length} steps")
    return np.asarray(rows, dtype=np.float64)


def _certificates(iterates: Sequence[Iterate]) -> dict[str, NDArray[Any]]:
    """Return the columns that say what proves the lower bounds: which steps have a certificate, and those."""
    bounds = [math.nan if iterate.dual_bound is None else iterate.dual_bound for iterate in iterates]
    certified = [t for t, iterate in enumerate(iterates) if iterate.certificate is not None]
    return {
        "dual_bound": np.array(bounds),
        "certified": np.array(certified, dtype=np.int64),
        "certificate": np.array([iterates[t].certificate for t in certified]),
    }


def _read_certificates(archive: Any, length: int, shape: tuple[int, ...]) -> dict[int, dict[str, Any]]:
    """Return what proves the lower bound of each step, as fields of an iterate."""
    if not all(name in archive for name in _CERTIFICATES):
        return {}
    bounds = _column(archive, "dual_bound", length)
    steps = archive["certified"]
    certified = _column(archive, "certified", steps.size, whole=True).tolist()
    if sorted({*certified} & {*range(length)}) != certified:
        raise ValueError("its certificates are not those of its steps")
    proofs: Sequence[Array] = _rows_of(archive, "certificate", len(certified)) if certified else ()  # type: ignore[assignment]
    if any(proof.shape != shape for proof in proofs):
        raise ValueError("its certificates are no dual variables")
    proven: dict[int, dict[str, Any]] = {
        t: {"dual_bound": None if math.isnan(bound) else float(bound)} for t, bound in enumerate(bounds)
    }
    for t, proof in zip(certified, proofs, strict=True):
        proven[t]["certificate"] = proof
    return proven
