"""The cache of compiled functions may be damaged, unwritable or full: they are compiled all the same."""

import errno
import importlib.util
import itertools
import logging
import os
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from mklviz import compiled

SOURCE = """
from mklviz.compiled import njit

@njit(cache=True, nogil=True)
def double(x: float) -> float:
    return 2.0 * x
"""
_names = (f"doubling_{number}" for number in itertools.count())

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a function to compile, and a cache of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    compiled._say_once.cache_clear()
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def loaded(path: Path) -> Any:
    """Load the file anew, as another process would."""
    spec = importlib.util.spec_from_file_location(next(_names), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def files(path: Path, kind: str) -> list[Path]:
    return sorted((path.parent / "cache").rglob(f"*.{kind}"))


def test_a_second_process_loads_what_the_first_has_compiled(source: Path) -> None:
    assert loaded(source)(3.0) == 6.0
    assert files(source, "nbi")
    assert files(source, "nbc")
    again = loaded(source)
    assert again(3.0) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1


CALLER = """
from mklviz.compiled import njit
from called_{number} import factor_of

@njit(cache=True, nogil=True)
def double(x: float) -> float:
    return factor_of() * x
"""
CALLED = """
from mklviz.compiled import njit

@njit(cache=True, nogil=True)
def factor_of() -> float:
    return {factor}
"""


def test_a_change_of_what_it_calls_in_another_file_is_noticed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(source.parent)
    name = f"called_{os.getpid()}"
    source.write_text(CALLER.format(number=os.getpid()), encoding="utf-8")
    called = source.with_name(f"{name}.py")
    for factor in (2.0, 14.0, 14.0):  # of two lengths: Python itself looks at seconds and size
        called.write_text(CALLED.format(factor=factor), encoding="utf-8")
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        double = loaded(source)
        assert double(3.0) == factor * 3.0
    assert sum(double.stats.cache_hits.values()) == 1  # the last time nothing had changed


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"no pickle", "half"])
def test_a_damaged_cache_is_set_aside_with_one_line(
    source: Path, kind: str, content: bytes | str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded(source)(3.0)
    for path in files(source, kind):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if isinstance(content, str) else content)
    with caplog.at_level(logging.WARNING):
        assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "damaged and set aside" in caplog.text
    mended = loaded(source)
    assert mended(3.0) == 6.0
    assert sum(mended.stats.cache_hits.values()) == 1


def test_without_a_folder_to_write_to_functions_are_compiled_at_every_start(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = source.parent / "cache"
    blocked.write_text("in the way of a folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    (source.parent / "__pycache__").write_text("in the way of another", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "no folder for compiled functions" in caplog.text


def test_a_full_disk_is_said_once(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "cannot be kept" in caplog.text
