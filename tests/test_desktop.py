"""A window of its own: which one opens, how large it was, what it opens with, and that its server ends with it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from _waits import wait_for

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.server import desktop, window
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.start.given_file import GIVEN, open_given

ADDRESS = "http://localhost:5999/explorer?code=abc"


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remember nothing of, and for, the person who runs the tests."""
    for kind in ("cache", "config"):
        monkeypatch.setattr(window.platformdirs, f"user_{kind}_path", lambda *_, kind=kind, **__: tmp_path / kind)


def native(monkeypatch: pytest.MonkeyPatch, ends: Any = None) -> list[dict[str, Any]]:
    """Put a stand-in in the place of pywebview, whose windows are made 900 by 700 before they are closed."""
    made: list[dict[str, Any]] = []
    resized: list[Any] = []

    class Resized:
        def __iadd__(self, hear: Any) -> Resized:
            resized.append(hear)
            return self

    def create_window(title: str, address: str, **size: int) -> Any:
        made.append({"title": title, "address": address, **size})
        return SimpleNamespace(events=SimpleNamespace(resized=Resized()))

    def start(icon: str) -> None:
        assert Path(icon).is_file()
        if ends is not None:
            raise ends
        resized[-1](900, 700)

    webview, errors = ModuleType("webview"), ModuleType("webview.errors")
    errors.WebViewException = type("WebViewException", (Exception,), {})  # type: ignore[attr-defined]
    webview.create_window, webview.start = create_window, start  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "webview", webview)
    monkeypatch.setitem(sys.modules, "webview.errors", errors)
    return made


def program(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program on the path, which is all there is on it; return where it writes how it was called."""
    path, called = folder / name, folder / "called"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\n{script}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    return called


def test_a_native_window_is_preferred_and_opens_as_large_as_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = native(monkeypatch)
    for _ in range(2):
        window.show_window(ADDRESS, lambda: True)
    assert made[0] == {"title": "mklviz", "address": ADDRESS, "width": 1280, "height": 860}
    assert (made[1]["width"], made[1]["height"]) == (900, 700)


@pytest.mark.parametrize("kept", ["[1, 2]", "{", "[900]", '["a", 3]', "[true, 1e99]"])
def test_a_size_that_no_window_has_is_forgotten(kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = native(monkeypatch)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "window.json").write_text(kept)
    window.show_window(ADDRESS, lambda: True)
    assert (made[0]["width"], made[0]["height"]) == window.SIZE


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for a browser is a shell script")
@pytest.mark.parametrize("installed", [False, True])
def test_a_browser_without_bars_takes_its_place_and_has_a_profile_of_its_own(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "webview", None)
    if installed:  # but the system has nothing that it could draw with
        native(monkeypatch)
        error = sys.modules["webview.errors"].WebViewException
        native(monkeypatch, error())
        sys.modules["webview.errors"].WebViewException = error
    left = 'd="${2#--user-data-dir=}/Default"; mkdir -p "$d"; echo app_window_placement > "$d/Preferences"'
    called = program(tmp_path, "google-chrome", left, monkeypatch)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(window, "BROWSERS", ("google-chrome",))
    window.show_window(ADDRESS, lambda: True)
    words = called.read_text().split()
    assert f"--app={ADDRESS}" in words
    assert f"--user-data-dir={tmp_path / 'cache' / 'window'}" in words
    assert "--window-size=1280,860" in words
    window.show_window(ADDRESS, lambda: True)
    assert "--window-size" not in called.read_text()  # the browser remembers its own


def test_without_either_a_sentence_says_so_and_the_usual_browser_opens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "webview", None)
    monkeypatch.setattr(window, "BROWSERS", ())
    opened: list[str] = []
    monkeypatch.setattr(window.webbrowser, "open", opened.append)
    window.show_window(ADDRESS, lambda: False)
    assert opened == [ADDRESS]
    assert 'pip install "mklviz[desktop]"' in capsys.readouterr().err


def test_the_server_of_a_window_asks_for_a_code_and_ends_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from urllib.error import HTTPError
    from urllib.request import urlopen

    table = tmp_path / "mine.csv"
    table.write_text("a,b\n1,2\n")
    seen: dict[str, Any] = {}

    def show(address: str, served: window.Served) -> None:
        seen.update(address=address, served=served, there=served())
        with pytest.raises(HTTPError) as refused:
            urlopen(address.partition("?")[0], timeout=60)
        seen["status"] = refused.value.code

    monkeypatch.setattr(desktop, "show_window", show)
    assert main(["desktop", str(table)]) == 0
    assert "code=" in seen["address"]
    assert seen["address"].endswith("&page=explore")
    assert (seen["there"], seen["status"]) == (True, 403)
    assert not seen["served"]()


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
    race = recipe.race(recipe.prepare())
    race.start()
    race.wait()
    next(iter(race.traces.values())).save(runs)
    monkeypatch.setenv(GIVEN, str(runs))
    open_given(explorer)
    assert explorer.state == "preparing"
    assert explorer.sidebar.recipe.data.source == "two_moons"
    explorer.close()
