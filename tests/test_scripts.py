"""Scripts and style sheets of the page: a browser can read every one, and each is packaged and used."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

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


READ = """
import fs from "node:fs";
import vm from "node:vm";
const wrong = {};
for (const [name, text] of Object.entries(JSON.parse(fs.readFileSync(0, "utf-8")))) {
  try { new vm.SourceTextModule(text); } catch (error) { wrong[name] = String(error); }
}
console.log(JSON.stringify(wrong));
"""


def test_every_script_can_be_read(request: pytest.FixtureRequest) -> None:
    texts = dict(zip(names(SCRIPTS), map(as_module, SCRIPTS), strict=True))
    node = shutil.which("node")
    if node is not None:
        command = [node, "--experimental-vm-modules", "--input-type=module", "--eval", READ]
        for given in (texts, {"wrong": "let ;"}):
            read = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
            assert set(json.loads(read.stdout)) == given.keys() - texts.keys(), read.stdout
        return
    page = request.getfixturevalue("chromium").new_page()
    load = "text => import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))).then(() => '', String)"
    assert {name: said for name, text in texts.items() if (said := page.evaluate(load, text))} == {}


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
