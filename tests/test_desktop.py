"""A window of its own: which one opens, what it opens with, and that its server ends with it."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _problems import ran
from _waits import wait_for

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.server import desktop
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.links import GIVEN
from mklviz.views.start.front_page import open_given

ADDRESS = "http://localhost:5999/explorer?code=abc"


@pytest.fixture
def browsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses at which a browser was opened."""
    opened: list[str] = []
    monkeypatch.setattr(desktop.webbrowser, "open", opened.append)
    return opened


def ended() -> subprocess.Popen[bytes]:
    """Return a server that has ended."""
    return subprocess.Popen([sys.executable, "-c", ""])


@pytest.mark.parametrize("closed", [False, True])
def test_a_native_window_is_preferred_and_is_closed_when_its_server_has_ended(
    closed: bool, browsed: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[object] = []
    shut = threading.Event()
    if closed:
        shut.set()
    window = SimpleNamespace(events=SimpleNamespace(closed=shut), destroy=lambda: seen.append("closed"))

    def create_window(title: str, address: str, width: int, height: int) -> SimpleNamespace:
        seen.append((title, address))
        return window

    def start(begun: Callable[..., None], given: tuple[object, ...], icon: str) -> None:
        assert os.path.isfile(icon)
        begun(*given)

    monkeypatch.setitem(sys.modules, "webview", SimpleNamespace(create_window=create_window, start=start))
    desktop.show_window(ADDRESS, ended())
    assert seen == [("mklviz", ADDRESS), *([] if closed else ["closed"])]
    assert (capfd.readouterr().err, browsed) == ("", [])


@pytest.mark.parametrize("installed", [False, True])
def test_without_a_window_of_its_own_a_sentence_says_why_and_the_browser_opens(
    installed: bool,
    browsed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    without: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if installed:  # pywebview is there, but nothing that it could draw with

        def create_window(*_: object, **__: object) -> None:
            raise OSError

        monkeypatch.setitem(sys.modules, "webview", SimpleNamespace(create_window=create_window))
    else:
        without("webview")
    desktop.show_window(ADDRESS, ended())
    assert browsed == [ADDRESS]
    why = "pywebview cannot open a window" if installed else 'pip install "mklviz[desktop]"'
    assert why in capsys.readouterr().err


@pytest.mark.full
def test_the_server_of_a_window_asks_for_a_code_and_ends_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from urllib.error import HTTPError
    from urllib.request import urlopen

    table = tmp_path / "mine.csv"
    table.write_text("a,b\n1,2\n")
    seen: dict[str, Any] = {}

    def show(address: str, server: subprocess.Popen[bytes]) -> None:
        seen.update(address=address, server=server, there=server.poll() is None)
        with pytest.raises(HTTPError) as refused:
            urlopen(address.partition("?")[0], timeout=60)
        seen["status"] = refused.value.code

    monkeypatch.setattr(desktop, "show_window", show)
    assert main(["desktop", str(table)]) == 0
    assert "code=" in seen["address"]
    assert seen["address"].endswith("&page=explore")
    assert (seen["there"], seen["status"]) == (True, 403)
    assert seen["server"].poll() is not None


def test_a_file_that_is_not_there_is_refused_before_anything_opens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["desktop", "nowhere.zip"]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_a_table_is_chosen_and_runs_are_opened_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table, runs = tmp_path / "mine.csv", tmp_path / "run.npz"
    table.write_text("a,b,c\n" + "\n".join(f"{k},{k % 3},{k % 2}" for k in range(20)))
    monkeypatch.setenv(GIVEN, str(table))
    explorer = Explorer()
    open_given(explorer)
    wait_for(lambda: explorer.sidebar.data.card.title == "mine")
    assert GIVEN not in os.environ
    recipe = mv.Recipe.from_words("data=two_moons; kernels=gauss:1,2@all; solvers=level; max-iter=3")
    race = ran(recipe.race(recipe.prepare()))
    next(iter(race.traces.values())).save(runs)
    monkeypatch.setenv(GIVEN, str(runs))
    open_given(explorer)
    assert explorer.state == "preparing"
    assert explorer.sidebar.recipe.data.source == "two_moons"
    explorer.close()
