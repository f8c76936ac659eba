"""A window of its own: which one opens, how large it was, what it opens with, and that its server ends with it."""

import os
from collections.abc import Callable
from pathlib import Path
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


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remember nothing of, and for, the person who runs the tests."""
    monkeypatch.setattr(desktop.platformdirs, "user_config_path", lambda *_, **__: tmp_path / "config")


@pytest.fixture
def browsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses at which a browser was opened."""
    opened: list[str] = []
    monkeypatch.setattr(desktop.webbrowser, "open", opened.append)
    return opened


def installed(folder: Path, start: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for pywebview where processes import it; return where it writes what it was asked to show.

    `start`: what it does, where `hear` is told of sizes.
    """
    package, asked = folder / "packages" / "webview", folder / "asked"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import os, time\nfrom types import SimpleNamespace\n"
        "heard = []\n"
        "class Event:\n    def __iadd__(self, hear): heard.append(hear)\n"
        f"def create_window(title, address, width, height):\n"
        f"    open({str(asked)!r}, 'a').write(f'{{title}} {{address}} {{width}} {{height}}\\n')\n"
        "    return SimpleNamespace(events=SimpleNamespace(resized=Event()))\n"
        f"def start(icon):\n    [hear] = heard\n    assert os.path.isfile(icon)\n    {start}\n"
    )
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return asked


@pytest.mark.parametrize("ended", [False, True])
def test_a_native_window_is_preferred_and_is_closed_when_its_server_has_ended(
    ended: bool, tmp_path: Path, browsed: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    installed(tmp_path, "time.sleep(600)" if ended else "pass", monkeypatch)
    desktop.show_window(ADDRESS, lambda: not ended)
    assert (capfd.readouterr().err, browsed) == ("", [])


@pytest.mark.parametrize("kept", ["", "[1, 2]", "{", "[900]", '["a", 3]', "[true, 1e99]"])
def test_a_native_window_opens_as_large_as_the_last_one_and_a_size_that_no_window_has_is_forgotten(
    kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = installed(tmp_path, "hear(900.0, 700.0)", monkeypatch)
    if kept:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "window.json").write_text(kept)
    for _ in range(2):
        desktop.show_window(ADDRESS, lambda: True)
    assert asked.read_text().splitlines() == [f"mklviz {ADDRESS} 1280 860", f"mklviz {ADDRESS} 900 700"]


@pytest.mark.parametrize("start", ["", "raise OSError", "os.abort()"])
def test_without_a_window_of_its_own_a_sentence_says_why_and_the_browser_opens(
    start: str,
    tmp_path: Path,
    browsed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    without: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if start:  # pywebview is installed, but the system lacks what it draws with: then Qt ends its process
        installed(tmp_path, start, monkeypatch)
    else:
        without("webview")
    desktop.show_window(ADDRESS, lambda: not browsed)
    assert browsed == [ADDRESS]
    why = "pywebview cannot open a window" if start else 'pip install "mklviz[desktop]"'
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

    def show(address: str, served: desktop.Served) -> None:
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


def test_a_table_is_chosen_runs_are_opened_once_and_a_file_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    assert main(["desktop", "nowhere.zip"]) == 2
    assert "There is no file" in capsys.readouterr().err
