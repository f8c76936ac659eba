"""What the tests share."""

import gc
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from _linked import LINKED  # noqa: F401  # isort: skip  # before anything of mklviz is imported
from _browser import chromium, open_app, pages, raced, server  # noqa: F401
from _cover import leave_the_rest
from _plugins import none_left_out, save  # noqa: F401
from _stores import store  # noqa: F401
from _waits import LEFT_OPEN, Clock, compile_nothing_ahead

from mklviz.context import meter
from mklviz.engine.scheduler import Scheduler

_STORE = tempfile.TemporaryDirectory(prefix="mklviz-tests-", ignore_cleanup_errors=True)  # one for each worker
os.environ["MKLVIZ_STORE"] = _STORE.name  # programs that tests start have it, too: none touches the user's own runs
gc.disable()  # while modules are loaded, whose objects stay


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell the quick tests from the others."""
    leave_the_rest(items)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, and not again and again among all that was loaded for them."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_compiled_ahead() -> None:
    compile_nothing_ahead()


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    """Close what a test has left open, such as tabs."""
    yield
    with ExitStack() as closing:
        while LEFT_OPEN:
            closing.callback(LEFT_OPEN.pop().close)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock of the CPU seconds that solvers are said to take."""
    made = Clock()
    monkeypatch.setattr(meter, "cpu_time", made)
    return made


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scheduler]:
    """Let the runs of a test share one worker, which serves no run that other tests have left."""
    shared = Scheduler(workers=1)
    monkeypatch.setattr("mklviz.engine.run.SCHEDULER", shared)
    yield shared
    shared.idle_seconds = 0.0
    shared.hurry(None)  # type: ignore[arg-type]  # nobody's job: workers look round, and end


@pytest.fixture
def streamed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels computed on the fly be computed in as many pieces as there can be."""
    for name in ("PIECE", "FEWEST"):
        monkeypatch.setattr(f"mklviz.kernels.storage.streamed.{name}", 1)


@pytest.fixture
def fifty_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let estimators approximate kernels on more than fifty samples."""
    monkeypatch.setattr("mklviz.learn._banks.MOST_EXACT", 50)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a package be missing, as far as `import` and `find_spec` can tell."""
    return lambda name: monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def no_log() -> Iterator[None]:
    """Silence the log of a test that breaks something on purpose."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
