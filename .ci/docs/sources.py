"""The pages of the site, put together in a folder for Sphinx: those that are written, with what the library says in
them and what their Python shows, and those that are made.

A line ``<!-- made: NAME WORDS -->`` of a page is replaced by what `facts.MADE` makes of it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

import facts
import outputs
import pictures

import mklviz
from mklviz.cli.commands import main
from mklviz.engine import solver_classes
from mklviz.views.export.gallery import gallery_pages

ROOT = Path(__file__).resolve().parents[2]
DOCS, NOTEBOOKS = ROOT / "apps" / "docs", ROOT / "apps" / "notebooks"
MARK = re.compile(r"^<!-- made: ([\w-]+) ?(.*?) -->$", re.MULTILINE)
READ = {  # as code hosts show it: as Sphinx reads it
    r"^(#+ .*) \{#([\w-]+)\}$": r"(\2)=\n\1",
    r"\]\((?:\.\./)+notebooks/(\w+)\.ipynb\)": r"](../notebooks/\1.md)",
    r"\]\(((?:\.\./)*pages/[\w-]+\.html)\)": r"](\1){.external}",
}
FILES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
PAGE_OF = {file: page for page, file in FILES.items()}
LINK = re.compile(r"\[([^\[\]]+)\]\((?![a-z]+:)([\w./-]+)(#[\w-]+)?\)")
HOWTO = (
    "choosing scikit-learn paths own-data own-kernel own-solver plugin-package large-banks notebooks classroom lessons"
    " pages"
)
HOME = {  # the pages in their order
    "": ("install", "tutorial", "formulations"),
    "How to": [f"howto/{page}" for page in HOWTO.split()],
    "Mathematics": ("mathematics", "losses", "regularizers", "kernels", "Solvers <solvers/index>"),
    "Runs": ("runs", "sweeps", "commands"),
    "To see": ("gallery", "plot", "claims", "statements", "learning_kernels", "comparison"),
    "Developing": (
        "contributing",
        *(f"developing/{page}" for page in ("map", "extensions", "charts", "defences", "tests", "tried", "releases")),
    ),
    "Reference": ("reference/index", "glossary", "security", "cite", "changelog"),
}


def gather(folder: Path, ready: Path) -> None:
    """Write what Sphinx makes pages of into one folder, and pages that are ready into another, both made anew."""
    for made in (folder, ready):
        shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.md"))
    for name, drawn in pictures.drawings().items():
        _write(folder / "pictures" / f"{name}.svg", drawn)
    for name, html in gallery_pages("none").items():
        _write(ready / "pages" / name, html)
    for name, text in _texts():
        _write(folder / name, _finished(text, name, folder))


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted(DOCS.rglob("*.md")):
        yield path.relative_to(DOCS).as_posix(), path.read_text(encoding="utf-8")
    yield from root_pages().items()
    yield "reference/index.md", reference_index()
    yield from ((f"reference/{name}.md", text) for name, text in reference_pages().items())
    yield from ((f"{name}.md", text) for name, text in notebook_pages().items())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _finished(text: str, name: str, folder: Path) -> str:
    """Return the text of a page as Sphinx reads it."""
    text = MARK.sub(lambda mark: _made(mark, name), text)
    try:
        text = outputs.with_outputs(text, folder / name)
    except Exception as error:
        raise RuntimeError(f"{name}: its Python fails: {type(error).__name__}: {error}") from error
    text = pictures.for_both_themes(text, folder / name)
    for written, read in READ.items():
        text = re.sub(written, read, text, flags=re.MULTILINE)
    return text + below(name)


def _made(mark: re.Match[str], page: str) -> str:
    maker = facts.MADE.get(mark[1])
    if maker is None:
        known = ", ".join(sorted(facts.MADE))
        raise LookupError(f"{page}: nothing is made under the name {mark[1]!r}, only {known}.")
    return maker(*mark[2].split())


# -- those that stand elsewhere: at the root, for code hosts, and as notebooks, whose cells are run like other Python


def root_pages() -> dict[str, str]:
    """Return the text of each page of the root by its place in the site, with links that lead to pages of the site."""
    return {page: led((ROOT / file).read_text(encoding="utf-8")) for page, file in FILES.items()}


def led(text: str) -> str:
    """Return a text of the root whose links lead to pages, or are words where the site has no such page."""

    def there(link: re.Match[str]) -> str:
        words, file, anchor = link.groups()
        page = PAGE_OF.get(file, file.removeprefix("apps/docs/"))
        return words if page == file else f"[{words}]({page}{anchor or ''})"

    return LINK.sub(there, text)


def notebook_pages() -> dict[str, str]:
    """Return the text of each page by its name, with its Python and the marks of outputs."""
    made = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        parts = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            parts.append(f"```python\n{source}\n```\n{outputs.MARK}" if cell["cell_type"] == "code" else source)
        made[f"notebooks/{path.stem}"] = "\n\n".join(parts) + "\n"
    return made


# -- their order, as Sphinx asks for it at the end of the page they stand under


def below(page: str) -> str:
    """Return what a page ends with: the list of those below it, which stands at the side of every page."""
    parts: dict[str, Mapping[str, Iterable[str]]] = {
        "index.md": HOME,
        "solvers/index.md": {"": solver_classes()},
        "howto/notebooks.md": {"": (f"../{name}" for name in notebook_pages())},
        "reference/index.md": {"": reference_pages()},
    }
    return "\n".join(_toctree(caption, entries) for caption, entries in parts.get(page, {}).items())


def _toctree(caption: str, entries: Iterable[str]) -> str:
    named = f":caption: {caption}\n" if caption else ""
    return "\n".join(["", "```{toctree}", f":hidden:\n{named}", *entries, "```", ""])


# -- the reference: every public name of ``import mklviz as mv``, and the command line's own help

HEADINGS = {
    "datasets": "Data",
    "kernels": "Kernels and banks",
    "problem": "Problems, losses and regularizers",
    "contract": "The contract of a solver",
    "engine": "Solving, racing and stopping",
    "record": "Traces",
    "recipe": "Recipes",
    "learn": "Estimators for scikit-learn",
    "views": "Pictures and the dashboard",
    "show_race": "Races on screen",
}


def homes() -> dict[str, list[str]]:
    """Return the public names by the module each is imported from, as the package's stub says."""
    stub = ast.parse(Path(mklviz.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    names_by_home: dict[str, list[str]] = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names_by_home.setdefault(f"mklviz.{node.module or names[0]}", []).extend(names)
    return dict(sorted(names_by_home.items()))


def reference_pages() -> dict[str, str]:
    """Return the text of every page, by name."""
    made = {}
    for home, names in homes().items():
        entries = [entry for name in sorted(names) for entry in _entries(import_module(home), name, f"mklviz.{name}")]
        made[_page(home)] = "\n".join([f"# {_heading(home)}\n", *entries])
    return {**made, "command-line": _commands()}


def reference_index() -> str:
    """Return the page above them, which names what each describes."""
    rows = [
        f"- [{_heading(home)}]({_page(home)}.md): {', '.join(f'`mv.{name}`' for name in sorted(names))}"
        for home, names in homes().items()
    ]
    return "\n".join(["# Reference\n", *rows, "- [Command line](command-line.md)", ""])


def _page(home: str) -> str:
    return home.rpartition(".")[2]


def _heading(home: str) -> str:
    return HEADINGS.get(_page(home), _page(home).capitalize())


def _entries(home: ModuleType, name: str, shown: str) -> Iterator[str]:
    """Yield the directive of a name, or of each name in it."""
    entry = home if home.__name__.endswith(f".{name}") else getattr(home, name)
    if isinstance(entry, ModuleType):
        for inner in entry.__all__:
            yield from _entries(entry, inner, f"{shown}.{inner}")
    else:
        kind = "class" if isinstance(entry, type) else "function"
        yield f"```{{eval-rst}}\n.. auto{kind}:: {shown}\n```\n"


def _commands() -> str:
    """Return the help of every command that the general help names."""
    os.environ["COLUMNS"] = "88"  # for argparse, which would ask the terminal
    commands = re.findall(r"^    ([a-z-]+)(?:  |$)", _help(), re.MULTILINE)
    parts = ["# Command line\n\nEach command explains itself with `--help`; this is what they say.\n"]
    return "\n".join([*parts, *(f"## mklviz {name}\n\n```text\n{_help(name)}\n```\n" for name in commands)])


def _help(*words: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return output.getvalue().strip()
