"""What is built is complete: sources to archive, archive to wheel, wheel into a folder far from the sources."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).resolve().parents[1]


def run(*words: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command and return what it printed, or fail with it."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env={**clean, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the source archive, as for a release. The CI script has built it already."""
    folder = Path(os.environ.get("MKLVIZ_DIST") or tmp_path_factory.mktemp("dist"))
    if not any(folder.iterdir()):
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    assert len(list(folder.glob("mklviz-*.tar.gz"))) == 1
    return next(folder.glob("mklviz-*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked far from the sources."""
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(next(wheel.parent.glob("mklviz-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel in it and nothing else."""
    target = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--target", target, wheel, cwd=target)
    return target


def test_the_wheel_holds_everything_under_one_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"mklviz"}  # a top-level "datasets" would overwrite somebody else's package
    sources = {
        f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, package in (
            ("mklviz", "mklviz"),
            ("solvers", "mklviz/solvers"),
            ("datasets", "mklviz/datasets"),
            ("apps", "mklviz/apps"),
        )
        for pattern in (
            "**/*.py",
            "scenarios/*.md",
            "tables/*.csv",
            "tables/*.csv.gz",
            "notebooks/*.ipynb",
            "py.typed",
            "__init__.pyi",
            "catalogues/*.po",
            "record/races/**/*.zip",
        )
        for file in (ROOT / folder).glob(pattern)
        if not (folder == "mklviz" and file.relative_to(ROOT / folder).parts[0] in ("solvers", "datasets", "apps"))
        and ".ipynb_checkpoints" not in file.parts
    }
    assert sources - set(names) == set()
    assert len(sources) > 80


@pytest.mark.product
def test_the_source_archive_tests_itself(unpacked: Path) -> None:
    tests = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
    here = run(*tests, "--collect-only", "-m", "", cwd=ROOT).splitlines()[-1]
    there = run(*tests, "--collect-only", "-m", "", cwd=unpacked, PYTHONPATH=str(unpacked)).splitlines()[-1]
    assert there.split(" in ")[0] == here.split(" in ")[0]
    files = [f"tests/test_{name}.py" for name in ("architecture", "documents", "datasets_files")]
    run(*tests, *files, cwd=unpacked, PYTHONPATH=str(unpacked))


@pytest.mark.product  # .ci/installed lets it solve and serve each time
def test_the_wheel_solves_far_from_the_sources(installed: Path, tmp_path: Path) -> None:
    code = (
        "import mklviz as mv, mklviz.apps\n"
        "train, test = mv.load_dataset('heart').split()\n"
        "problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))\n"
        "print(mv.__file__, mklviz.apps.__file__, mv.solve(problem, 'level').status, sep='\\n')"
    )
    out = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed), PYTHONSAFEPATH="1")
    package, apps, status = out.splitlines()
    assert Path(package).is_relative_to(installed)
    assert Path(apps).with_name("explorer.py").is_file()
    assert status == "converged"


SCRIPT = """
import mklviz as mv
from mklviz.engine import path, replay, solve

train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
race = mv.race(problem, ["level", "spg"], gap=1e-2)
trace: mv.Trace = race.traces["level"]
print(path(problem, "spg", C=[10.0, 1.0]).active, replay(solve(problem, "spg"), mv.Gap(0.1)))
model = mv.MKLClassifier("gauss:1").fit(train.X, train.y)
print(model.predict(test.X), model.weights_.sum(), trace.best.active)
mv.plot.save(mv.plot.gap(race.traces), "race.html")
"""


def test_scripts_of_users_are_typed_as_strictly_as_they_like(installed: Path, tmp_path: Path) -> None:
    """The blocks of Python on each page are one program, as they are when the pages are made."""
    (tmp_path / "script.py").write_text(SCRIPT)
    for page in (ROOT / "README.md", *(ROOT / "apps/docs").rglob("*.md")):
        blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if blocks:
            (tmp_path / f"{page.stem.replace('-', '_')}.py").write_text("\n".join(blocks))
    assert len([*tmp_path.glob("*.py")]) > 12
    strictly = (sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "--cache-dir=c")
    strictly = (*strictly, "--disable-error-code=import-untyped")  # scikit-learn has no types
    run(*strictly, *sorted(tmp_path.glob("*.py")), cwd=tmp_path, MYPYPATH=str(installed))
    for name, line, said in (
        ("call", "mv.solve(3)", 'incompatible type "int"; expected "Problem"'),
        ("module", "mv.nonsense", 'Module has no attribute "nonsense"'),
        ("value", "mv.runs()[0].nonsense", '"KeptRun" has no attribute "nonsense"'),
    ):
        wrong = tmp_path / f"{name}.py"  # mypy takes a file of the same second and size for the same
        wrong.write_text(f"import mklviz as mv\n{line}\n")  # the types are seen
        with pytest.raises(AssertionError, match=said):
            run(*strictly, wrong, cwd=tmp_path, MYPYPATH=str(installed))


def test_the_command_line_comes_with_the_wheel(installed: Path, tmp_path: Path) -> None:
    out = run(sys.executable, "-m", "mklviz", "datasets", cwd=tmp_path, PYTHONPATH=str(installed), PYTHONSAFEPATH="1")
    assert "ionosphere" in out
    assert (installed / "bin" / "mklviz").is_file()
