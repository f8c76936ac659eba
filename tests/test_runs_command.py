"""``mklviz runs``: what a killed process has left, and all that can be done with the runs that are kept."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _stores import growing
from _waits import wait_for

import mklviz as mv
from mklviz.cli import main
from mklviz.cli.arguments import ACTIONS as NAMED
from mklviz.cli.runs import ACTIONS
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.history import texts_of
from mklviz.record.store import RunHead, Store, open_store

SMALL = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1,2@all poly:1@each", "--C", "10"]
LOST_SECONDS = 1.0  # what may be lost of a run that is killed
BEYOND = (  # factors stand on disk
    "import dataclasses, sys; from mklviz import limits;"
    "limits.LIMITS = dataclasses.replace(limits.LIMITS, nystrom_bytes=200_000);"
    "from mklviz.cli import main; sys.exit(main(sys.argv[1:]))"
)
Said = Callable[..., tuple[int, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def ask(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        return code, capsys.readouterr().out

    return ask


def told(said: Said, *words: str) -> dict[str, Any]:
    code, out = said(*words, "--json")
    assert code == 0
    return dict(json.loads(out))


def test_a_run_is_listed_and_shown_by_the_key_that_it_prints(store: Store, said: Said) -> None:
    assert set(ACTIONS) == set(NAMED)
    code, out = said(*SMALL, "--solvers", "spg,level")
    assert code == 0
    code, shown = said("runs", "show", out.rsplit("mklviz runs show ", 1)[1].strip())
    assert code == 0
    assert [word for word in ("SPG", "Level", "test accuracy") if word not in shown] == []
    code, out = said("runs", "list")
    assert code == 0
    header, rule, *rows = out.splitlines()
    assert header.split()[:3] == ["run", "when", "solver"]
    assert set(rule) == {"-", " "}
    assert {row.split()[3] for row in rows} == {"SPG", "Level"}
    (spg,) = told(said, "runs", "list", "--where", "solver:spg")["runs"]
    assert (spg["status"], spg["made_by"]) == ("converged", "command line")
    assert spg["recipe"]["data"]["source"] == "two_moons"
    assert told(said, "runs", "show", spg["short"])["runs"][0]["id"] == spg["id"]


@pytest.mark.full
def test_json_gives_all_runs_or_says_how_many_are_left_out(store: Store, said: Said) -> None:
    for number in range(61):
        store.record({"level": growing()}, RunHead(words=f"{number}"))
    assert len(told(said, "runs", "list")["runs"]) == 61
    assert told(said, "runs", "list", "--limit", "7")["left_out"] == 54
    out = said("runs", "list")[1]
    assert len(out.splitlines()) == 2 + 50 + 2
    assert out.splitlines()[-1] == "11 more: --limit 0 lists all."
    assert said("runs", "list", "--where", "\udcff")[0] == 0
    with pytest.raises(MklvizError, match="whole number of runs"):
        store.runs(limit=10**23)


def test_a_store_can_be_named_or_done_without(store: Store, said: Said, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    code, out = said(*SMALL, "--solvers", "spg", "--store", other)
    assert code == 0
    assert "Kept:" in out
    code, out = said(*SMALL, "--solvers", "spg", "--no-store")
    assert code == 0
    assert "Kept:" not in out
    assert told(said, "runs", "list")["runs"] == []
    assert len(told(said, "runs", "list", "--store", other)["runs"]) == 1
    assert told(said, "runs", "merge", other)["merged"][0]["added"] == 1
    assert told(said, "runs", "merge", other)["merged"][0]["added"] == 0
    assert len(told(said, "runs", "list")["runs"]) == 1


@pytest.mark.full
def test_races_are_described_deleted_restored_and_cleaned_away(store: Store, said: Said) -> None:
    said(*SMALL, "--solvers", "spg")
    (run,) = told(said, "runs", "list")["runs"]
    assert said("runs", "describe", run["short"], "--name", "first try", "--tag", "thesis", "--pin")[0] == 0
    (named,) = told(said, "runs", "list", "--where", "tag:thesis first")["runs"]
    assert (named["name"], named["tags"], named["pinned"]) == ("first try", ["thesis"], True)
    assert "first try" in said("runs", "list")[1]
    told(said, "runs", "delete", run["short"])
    assert told(said, "runs", "list")["runs"] == []
    assert len(told(said, "runs", "list", "--deleted")["runs"]) == 1
    told(said, "runs", "restore", run["short"])
    assert len(told(said, "runs", "list")["runs"]) == 1
    told(said, "runs", "delete", "--where", "tag:thesis")
    assert told(said, "runs", "clean")["runs"] == 1
    assert told(said, "runs", "list", "--deleted")["runs"] == []


STEERS = "\x1b[2J\x07\r\nrow\t\u202etxt.exe\u2066\x9b"  # clears the screen, rings, breaks lines, turns letters round


def test_what_people_and_files_say_steers_no_terminal(store: Store, said: Said) -> None:
    trace = growing(Trace(f"level{STEERS}", f"LEVEL{STEERS}", kernel_names=["a", "b", "c"], problem=f"p{STEERS}"))
    race = open_store().record({f"key{STEERS}": trace}, RunHead(name=f"name{STEERS}", data=f"data{STEERS}", words="w"))
    open_store().describe(race.race, note=f"note{STEERS}", tags=[f"tag{STEERS}"])
    (run,) = mv.runs()
    key = run.id.split("-")[1]
    _, listed = said("runs", "list")
    _, shown = said("runs", "show", key)
    page = " ".join(texts_of(run))
    for text in (listed, shown, page, json.dumps(told(said, "runs", "list"), ensure_ascii=False)):
        assert "txt.exe" in text
        assert all(line.isprintable() for line in text.splitlines())
    assert len(listed.splitlines()) == 3
    assert run.name == "name\ufffd[2J\ufffd row \ufffdtxt.exe\ufffd\ufffd"
    race.close()


def test_runs_travel_in_a_file(store: Store, said: Said, tmp_path: Path) -> None:
    said(*SMALL, "--solvers", "spg,level")
    before = told(said, "runs", "list")["runs"]
    file = str(tmp_path / "mine.zip")
    told(said, "runs", "export", file, "--where", "two_moons")
    other = str(tmp_path / "other")
    assert len(told(said, "runs", "import", file, "--store", other)["races"]) == 1
    after = told(said, "runs", "list", "--store", other)["runs"]
    assert {run["solver"]: run["steps"] for run in after} == {run["solver"]: run["steps"] for run in before}
    assert {run["results"]["score"] for run in after} == {run["results"]["score"] for run in before}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "nothing"), "There is no run"),
        (("delete",), "Which runs?"),
        (("list", "--where", "gap<small"), "is no number"),
        (("describe", "x"), "Describe the race"),
        (("export", "here.zip"), "Which runs?"),
        (("merge", "no-such-folder"), "There is no store"),
        (("clean", "--limit-mb", "-1"), "number of megabytes"),
        (("clean", "--limit-mb", "abc"), "number of megabytes"),
        (("export", "no-such-folder/out.zip", "x"), "There is no folder"),
        (("import", "nothing.zip"), "nothing.zip could not be read: No such file"),
        (("import", __file__, "--store", "none"), "The store is switched off"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    words: tuple[str, ...], sentence: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error
    assert error.count("\n") == 1


def test_a_run_on_an_own_file_asks_for_it_and_tells_how_it_had_ended(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(60)))
    assert main(["run", "--data", str(file), "--solvers", "level", "--max-iter", "2", "--gap", "1e-9"]) == 3
    (run,) = mv.runs()
    assert main(["runs", "resume", run.id, "--store", ""]) == 2
    assert "give it with --data FILE" in capsys.readouterr().err
    assert main(["runs", "resume", run.id, "--data", str(file)]) == 3
    assert "which a limit ended: " in capsys.readouterr().err


def test_a_working_folder_that_is_gone_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["run", "--data", "heart", "--no-store", "--csv", "steps.csv"]) == 2
    assert "folder that this command was called in is gone" in capsys.readouterr().err


def killed_after_three_frames(store: Store, *words: str) -> float:
    """Kill a run that has written three frames; return when."""
    process = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(list(store.folder.glob("runs/*/*.frame"))) >= 3, "three frames", patience=240.0)
    finally:
        process.send_signal(signal.SIGKILL)
        killed = time.time()
        process.wait()
    return killed


@pytest.mark.full
def test_a_killed_run_on_factors_on_disk_goes_on_by_its_words_to_the_same_optimum(store: Store, said: Said) -> None:
    words = ["run", "--data", "sonar", "--kernels", "gauss:0.5,1,2,4@all+each", "--nystrom", "20", "--solvers", "spg"]
    killed_after_three_frames(store, "-c", BEYOND, *words, "--gap", "none", "--max-iter", "none")
    (run,) = told(said, "runs", "list")["runs"]
    words += ["--gap", "1e-5", "--json"]
    resumed = subprocess.run([sys.executable, "-c", BEYOND, *words, "--resume"], capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    trace = open_store().trace(run["id"])
    assert f"Going on from step {trace.best_index:,} of SPG ({run['short']}), which was cut off" in resumed.stderr
    assert "are repeated" in resumed.stderr
    _, out = said(*words, "--no-store")
    whole, (end,) = json.loads(out)["runs"][0], json.loads(resumed.stdout)["runs"]
    assert end["gap"] <= 1e-5
    assert end["objective"] == pytest.approx(whole["objective"], rel=2e-5)
    assert end["svm_solves"] >= trace[trace.best_index].svm_solves
    assert {each["race"] for each in told(said, "runs", "list")["runs"]} == {run["race"]}


@pytest.mark.full
def test_a_killed_run_is_cut_off_has_lost_a_second_at_most_and_is_gone_on_from(store: Store, said: Said) -> None:
    asked = ["run", "--data", "sonar", "--solvers", "silp", "--gap", "1e-9", "--max-iter", "none"]
    killed = killed_after_three_frames(store, "-m", "mklviz", *asked)
    (folder,) = (store.folder / "runs").iterdir()
    newest = max(path.stat().st_mtime for path in folder.glob("*.frame"))
    assert killed - newest <= 2 * LOST_SECONDS  # a frame a second, on a machine that does other things as well
    code, out = said("runs", "list")
    assert code == 0
    assert "cut off" in out
    (run,) = told(said, "runs", "list", "--where", 'status:"cut off"')["runs"]
    assert run["steps"] > 0
    trace = open_store().trace(run["id"])
    assert trace.status == "stopped"
    code, out = said("runs", "resume", run["short"], "--solver", "newton")
    assert code == 0
    assert f"Newton from step {trace.best_index:,} of SILP" in out
    (again,) = told(said, "runs", "list", "--where", "solver:newton")["runs"]
    assert again["race"] == run["race"]
    assert again["status"] in ("converged", "precision")
