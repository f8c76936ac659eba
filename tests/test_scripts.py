"""Scripts and style sheets of the page: a browser can read every one, and each is packaged and used."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from _browser import chromium  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
VIEWS = ROOT / "mklviz" / "views"
SCRIPTS = sorted(VIEWS.rglob("*.js"))
SHEETS = sorted(VIEWS.rglob("*.css"))


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(VIEWS)) for path in paths]


def as_module(script: Path) -> str:
    """Return a script as a module; Bokeh wraps callbacks, which export nothing, into a function."""
    text = script.read_text(encoding="utf-8")
    return text if "export " in text else f"export function callback(cb_obj, cb_data) {{\n{text}\n}}"


@pytest.mark.parametrize("script", SCRIPTS, ids=names(SCRIPTS))
def test_a_script_can_be_read(script: Path, request: pytest.FixtureRequest) -> None:
    node = shutil.which("node")
    if node is not None:
        command = [node, "--input-type=module", "--check", "-"]
        read = subprocess.run(command, input=as_module(script), capture_output=True, text=True)
        assert read.returncode == 0, read.stderr
        return
    page = request.getfixturevalue("chromium").new_page()
    load = "text => import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))).then(() => '', String)"
    assert page.evaluate(load, as_module(script)) == ""


@pytest.mark.parametrize("sheet", SHEETS, ids=names(SHEETS))
def test_a_style_sheet_is_made_of_rules(sheet: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert text.count("{") == text.count("}") > 0
    for block in re.findall(r"\{([^{}]*)\}", text):
        for declaration in filter(None, map(str.strip, block.split(";"))):
            assert re.fullmatch(r"[\w-]+:\s*\S[^:]*(:[^:]*)?", declaration), declaration


@pytest.mark.parametrize("path", [*SCRIPTS, *SHEETS], ids=names([*SCRIPTS, *SHEETS]))
def test_whatever_a_page_needs_is_used_beside_it_and_packaged(path: Path) -> None:
    modules = [module.read_text(encoding="utf-8") for module in path.parent.glob("*.py")]
    assert any("beside(__file__" in text and re.search(f"[\"']{re.escape(path.name)}[\"']", text) for text in modules)
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert f"*/*{path.suffix}" in setup["package-data"]["mklviz.views"]
