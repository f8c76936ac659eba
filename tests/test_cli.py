"""The command line says what it did in words and numbers, and what was wrong in one sentence."""

import contextlib
import csv
import io
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

import pytest
from _waits import PATIENCE, wait_for

import mklviz as mv
from mklviz.cli.arguments import keep_inputs, with_options
from mklviz.cli.commands import COMMANDS, main
from mklviz.cli.live import _fitted
from mklviz.engine import KINDS
from mklviz.errors import MklvizError
from mklviz.recipe.words import WORDS, read_solvers
from mklviz.scenarios import scenarios

SMALL = ["--data", "two_moons", "--kernels", "gauss:0.5,1,2@all poly:1@each", "--C", "10"]
COMMAND = [sys.executable, "-m", "mklviz"]


def test_a_solve_prints_one_row_with_everything_the_dashboard_shows(capsys):
    assert main(["run", *SMALL, "--solvers", "spg", "--gap", "1e-3"]) == 0
    out = capsys.readouterr().out
    header, row = (re.split(r"\s{2,}", line) for line in out.splitlines()[2:5:2])
    assert header == [
        *("solver", "status", "iterations", "SVM solves", "CPU s"),
        *("objective", "gap", "kernels", "moved", "undone", "test accuracy"),
    ]
    cells = dict(zip(header, row, strict=True))
    assert cells["solver"] == "SPG"
    assert cells["status"] == "converged"
    assert float(cells["gap"]) <= 1e-3
    assert cells["kernels"].endswith("of 5")  # three Gaussians and two polynomials
    assert "SPG: The duality gap, " in out


def test_who_names_no_solver_gets_the_recommended_one_and_a_race_the_usual_three(capsys):
    assert main(["run", *SMALL]) == 0
    alone = capsys.readouterr().out
    assert "SILP: The duality gap, " in alone
    assert main(["race", *SMALL, "--max-iter", "2"]) == 3  # too few steps for the gap
    together = capsys.readouterr().out
    for label in ("SILP", "Level", "SPG"):
        assert (f"{label}  " in alone) == (label == "SILP")
        assert f"{label}  " in together


def test_lists_name_everything_there_is_and_that_of_solvers_ends_with_which_to_take(capsys):
    known = {"datasets": mv.list_datasets(), "scenarios": scenarios(), "solvers": mv.available_solvers()}
    for command, names in known.items():
        assert main([command]) == 0
        out = capsys.readouterr().out
        assert [name for name in names if f"\n{name} " not in f"\n{out}"] == []
    table = re.sub(r"\s+", " ", out.split("Which solver")[1])
    for kind in KINDS:
        assert f"{kind.solver} {kind.what}: it {kind.why}. {kind.measured}" in table


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["--regularizer", "lp-ball:p=2"], ["Closed form", "SPG", "SpicyMKL"]),
        (["--regularizer", "block-l1:lam=1"], ["Newton", "SPG", "Closed form", "SpicyMKL"]),
        (["--regularizer", "log-det"], ["SPG", "PGD"]),
    ],
)
def test_a_race_without_solvers_leaves_out_those_that_cannot_follow_and_says_so(capsys, words, labels):
    assert main(["race", *SMALL, *words, "--max-iter", "2", "--json"]) in (0, 3)
    found = capsys.readouterr()
    assert [run["label"] for run in json.loads(found.out)["runs"]] == labels
    (note,) = [line for line in found.err.splitlines() if "left out" in line]
    assert note.startswith("mklviz: SILP is left out, and so is Level: ")
    assert note.endswith(".")
    assert main(["race", *SMALL, *words, "--solvers", "silp,spg"]) == 2  # as asked for
    assert "SILP" in capsys.readouterr().err


def test_a_race_prints_a_row_for_each_solver_and_keeps_every_step(capsys, tmp_path):
    table, archive = tmp_path / "steps.csv", tmp_path / "runs.zip"
    words = ["race", *SMALL, "--solvers", "level,spg", "--csv", str(table), "--save", str(archive)]
    assert main(words) == 0
    assert "Level  " in (out := capsys.readouterr().out)
    assert "SPG  " in out
    for label in ("Level", "SPG"):  # what the clock measured is not the test's to know
        assert re.search(rf"^  {label}: +\w+ \d+ %(, \w+ \d+ %)*$", out.split("CPU time was spent on")[1], re.M)
    with table.open() as file:
        steps = list(csv.DictReader(file))
    assert {step["solver"] for step in steps} == {"level", "spg"}
    with zipfile.ZipFile(archive) as runs:
        assert sorted(runs.namelist()) == ["level.mklrun.npz", "spg.mklrun.npz"]
        runs.extractall(tmp_path)
    trace = mv.Trace.load(tmp_path / "level.mklrun.npz")
    assert trace.solver == "level"
    assert len(trace) == sum(step["solver"] == "level" for step in steps)


def test_a_scenario_is_changed_by_what_else_is_said(capsys):
    words = ["run", "--scenario", "silp-oscillates", "--data", "two_moons", "--solvers", "spg", "--max-iter", "3"]
    assert main([*words, "--gap", "none"]) == 0
    out = capsys.readouterr().out
    assert "Two moons" in out
    assert "Reached the limit of 3 iterations." in out


def test_how_the_table_of_a_file_is_read_is_said_on_the_command_line(capsys, tmp_path):
    file = tmp_path / "mine.csv"
    rows = "".join(f"{i},{'yes' if i % 3 else 'no'},{'' if i % 9 == 4 else i % 7},{2.5 * i}\n" for i in range(60))
    file.write_text(f"id,smoker,a,fee\n{rows}")
    words = ["run", "--data", str(file), "--kernels", "gauss:1@all", "--json"]
    assert main([*words, "--target", "smoker", "--missing", "fill", "--header", "yes"]) == 0
    out, err = capsys.readouterr()
    read = json.loads(out)["recipe"]["data"]
    assert (read["target"], read["missing"], read["header"]) == ("smoker", "fill", True)
    assert 'mklviz: Column "id" is set aside: it numbers the rows.\n' in err
    assert main([*words, "--target", "foo"]) == 2
    assert 'There is no column "foo". Columns: id, smoker, a, fee.' in capsys.readouterr().err
    assert main([*words, "--missing", "guess"]) == 2
    assert "missing is leave-out or fill" in capsys.readouterr().err
    assert main(["run", "--data", "sonar", "--target", "smoker"]) == 2
    assert "target says how the table in a file is read" in capsys.readouterr().err


@pytest.mark.full
def test_a_table_is_read_from_the_standard_input():
    table = "a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(60))
    words = [*COMMAND, "run", "--data", "-", "--solvers", "level", "--no-store"]
    done = subprocess.run(words, input=table, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'The target is column "kind"' in done.stderr
    empty = subprocess.run(words, input="", capture_output=True, text=True, check=False)
    assert (empty.returncode, empty.stderr.count("\n")) == (2, 1)


def test_options_go_to_the_solver_they_name():
    first, second = with_options(read_solvers("level,pgd"), ["level.lam=0.5", "pgd.spectral=true"])
    assert (first.name, dict(first.options)) == ("level", {"lam": 0.5})
    assert (second.name, dict(second.options)) == ("pgd", {"spectral": True})


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--solvers", "levle", "--json"], "did you mean level?"),
        (["--solvers", ""], "No solver is chosen"),
        (["--solvers", "spg", "--solver-option", "level.lam=0.5"], "not among --solvers"),
        (["--solvers", "spg", "--solver-option", "spg.nope=1"], "no option 'nope'"),
        (["--data", "nope.csv"], "nope.csv cannot be read"),
        (["--data", "iris"], "more than two classes, and the hinge loss tells two apart: choose the multiclass hinge"),
        (["--data", "iris", "--positive", "rose"], "no class 'rose'; there are setosa, versicolor, virginica"),
        (["--kernels", "gauss:1@99"], "column 99"),
        (["--kernels", " "], "No kernels are given"),
        (["--data", "diabetes"], "choose the ε-insensitive or the squared loss"),
        (["--loss", "logistic", "--solvers", "newton", "--data", "two_moons"], "needs the hinge loss"),
        (["--C", "-1"], "C must be a positive number"),
        (["--C", "1e308"], "C must lie between 1e-30 and 1e+30"),
        (["--gap", "0", "--solvers", "spg"], "must be a positive number"),
        (["--csv", "no/such/folder/steps.csv"], "There is no folder"),
        (["--save", "."], ". is a folder: name the file to write"),
        (["--solver", "levle"], "did you mean level?"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, part, capsys):
    assert main(["run", *words]) == 2
    captured = capsys.readouterr()
    (said,) = (line for line in captured.err.splitlines() if not line.startswith("building"))  # where that takes long
    assert part in said
    assert captured.out == ""


@pytest.mark.parametrize(
    "words",
    [
        *("run --data mine.csv --csv", "race --data mine.csv --html", "run --data other.csv,mine.csv --save"),
        *("sweep data=mine.csv;C=1 --csv", "fit mine.csv --out", "predict m.skops mine.csv --out"),
        *("path --data=mine.csv --vary C --output", "run --data mine.csv --test mine.csv --picture ./sub/../"),
    ],
)
def test_a_file_that_is_read_is_not_written_over(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "mine.csv").write_text("a,class\n1,p\n2,q\n")
    assert main([*f"{words} mine.csv".replace("/ ", "/").split()]) == 2
    assert "mine.csv is a file to read here, and would be written over" in capsys.readouterr().err
    assert (tmp_path / "mine.csv").read_text().startswith("a,class")


def test_only_what_is_read_is_kept_also_in_a_folder_or_beside_the_name_of_an_archive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fold").mkdir()
    for name in ("sonar", "mine.zip", "fold/a.csv"):
        (tmp_path / name).write_text("")
    keep_inputs(Namespace(data="sonar", save=Path("sonar")))  # a data set of that name is read, and no file
    keep_inputs(Namespace(data="heart", save=Path("mine"), csv=Path("fold/a.csv")))
    for data, file in (("mine.zip", "mine"), ("fold", "fold/a.csv")):
        with pytest.raises(MklvizError, match="would be written over"):
            keep_inputs(Namespace(data=data, save=Path(file)))


@pytest.mark.parametrize(
    "words", [["fly"], [], ["run", "--gap"], ["race", "--threads", "1.5"], ["fit", "t.csv", "m.skops"]]
)
def test_words_it_does_not_know_are_one_sentence_and_exit_code_2(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith(f"(see: {' '.join(['mklviz', *words[: len(words) - 1]][:2])} --help)\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples_and_can_say_what_a_recipe_can(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    said, examples = capsys.readouterr().out.split("examples:\n")
    assert f"  mklviz {command}" in examples
    if command in ("run", "race", "path", "lab"):
        missing = {key for key in WORDS if f"--{key}" not in said}
        assert missing <= ({"solvers"} if command == "path" else set())  # a path has one solver


def ended_by(sign: signal.Signals, *more: str) -> str:
    """Return the output of an endless run that gets a signal once it counts its steps on a terminal."""
    words = [*COMMAND, "run", "--data", "sonar", "--solvers", "silp", "--gap", "none", "--max-iter", "none", *more]
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=follower, text=True, env=environment)
    os.close(follower)
    drawn = bytearray()

    def read() -> None:  # all the time: a terminal that nobody reads from takes 4 kB, and then holds the writer
        with suppress(OSError):  # the other side is closed
            while part := os.read(leader, 10_000):
                drawn.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    wait_for(lambda: b" steps " in drawn, "the steps that are counted")
    process.send_signal(sign)
    out, _ = process.communicate(timeout=PATIENCE)
    reader.join(PATIENCE)
    os.close(leader)
    assert process.returncode == 130
    assert b"Traceback" not in drawn
    return str(out)


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="there is no such terminal")
def test_whoever_ends_a_run_gets_what_it_has_found(tmp_path):
    table = tmp_path / "steps.csv"
    assert "\nSILP    stopped" in ended_by(signal.SIGTERM, "--csv", str(table))
    assert table.read_text().count("\n") > 2
    document = json.loads(ended_by(signal.SIGINT, "--json"))
    (run,) = document["runs"]
    assert (document["complete"], run["status"]) == (False, "stopped")
    assert run["iterations"] >= 0


@pytest.mark.full
def test_a_terminal_gets_lines_redrawn_in_place():
    leader, follower = pty.openpty()
    words = [*COMMAND, "run", *SMALL, "--solvers", "level,spg"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=follower, text=True, env=environment, check=True)
    os.close(follower)
    drawn = os.read(leader, 100_000).decode()
    os.close(leader)
    assert "\x1b[2K" in drawn
    assert drawn.rstrip().splitlines()[-1].startswith("\x1b[2KSPG")
    assert "  gap 0.0" in drawn.rstrip().splitlines()[-1][: 80 + len("\x1b[2K")]  # on a terminal of the usual width
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("width", "shown"), [(9, "SPG"), (12, "SPG  3 steps"), (20, "SPG  3 steps"), (21, "SPG  3 steps  gap 0.1")]
)
def test_a_narrow_terminal_loses_whole_parts_of_a_line(width, shown):
    assert _fitted("SPG  3 steps  gap 0.1", width) == shown


def test_serve_says_when_its_port_is_taken_and_the_module_runs_as_a_program(capsys):
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--no-show", "--port", str(port)]) == 2
    assert f"Port {port} cannot be used" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", "--port", "99999"])
    assert "from 1 to 65,535" in capsys.readouterr().err
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mklviz {mv.__version__}\n"


def test_a_path_prints_a_row_per_value_and_what_it_took(capsys, tmp_path):
    table = tmp_path / "path.csv"
    words = ["path", *SMALL, "--solver", "newton", "--vary", "C=100:1:5", "--output", str(table)]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("5 values of C from 100 to 1")
    header = re.split(r"\s{2,}", lines[2])
    assert header == [*("C", "status", "steps", "SVM solves", "CPU s", "objective", "gap", "kernels", "test accuracy")]
    rows = [re.split(r"\s{2,}", line) for line in lines[4:9]]
    assert [row[0] for row in rows] == ["100", "31.62", "10", "3.162", "1"]
    assert lines[-1].startswith("Newton, warm starts: 5 values, ")
    with table.open() as file:
        kept = list(csv.DictReader(file))
    assert [float(row["C"]) for row in kept] == pytest.approx([100.0, 31.6228, 10.0, 3.16228, 1.0], rel=1e-5)
    assert all(
        abs(sum(float(row[name]) for name in row if "gauss" in name or "poly" in name) - 1) < 1e-9 for row in kept
    )


@pytest.mark.full
def test_a_path_may_begin_anew_at_every_value_and_take_its_range_from_the_problem(capsys):
    words = ["path", *SMALL, "--regularizer", "block-l1:lam=1", "--solver", "newton", "--vary", "lam", "--cold"]
    assert main([*words, "--gap", "0.9"]) == 0
    out = capsys.readouterr().out
    assert "100 values of lam from " in out
    assert "cold starts: 100 values" in out


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ([], "SILP"),
        (["--solver-option", "level.lam=0.5"], "Level"),
        (["--scenario", "silp-oscillates"], "SILP"),
        (["--combination", "polynomial"], "SPG"),
    ],
)
def test_a_path_without_a_solver_takes_the_recommended_one(capsys, words, label):
    small = SMALL[:2] if label == "SPG" else SMALL  # a polynomial takes no families
    assert main(["path", *small, *words, "--vary", "C=1:10:3"]) == 0
    assert f"\n{label}, warm starts: 3 values, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "C=1:0:3"], "write NAME=FROM:TO:COUNT"),
        (["--vary", "C=1:2"], "write NAME=FROM:TO:COUNT"),
        (["--vary", "C=much"], "write NAME=FROM:TO:COUNT"),
        (["--vary", "lam=1,2"], "a path can vary C"),
        (["--vary", "Q"], "has no parameter 'Q': a path can vary C"),
        (["--vary", "C=-1,2"], "C"),
        (["--vary", "p", "--regularizer", "lp-ball:p=2"], "no natural range of p"),
        (["--vary", "C=1", "--solver", "level,spg"], "one solver"),
        (["--vary", "C=1,10", "--solver-option", "level=1"], "SOLVER.OPTION=VALUE"),
        (["--vary", "C=1", "--output", "/no/such/folder/path.csv"], "no folder /no/such/folder"),
    ],
)
def test_a_path_that_cannot_be_is_one_sentence(capsys, monkeypatch, words, said):
    monkeypatch.setattr("mklviz.recipe.Recipe.prepare", None)  # what would be computed before it is refused
    assert main(["path", *SMALL, *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.full
@pytest.mark.parametrize(("closed", "said"), [("2>&-", True), (">&-", False), (">&- 2>&-", False)])
def test_what_goes_to_a_closed_stream_goes_nowhere_else(closed, said):
    words = " ".join([*COMMAND, "run", "--json", "--data", "two_moons", "--solvers", "spg"])
    done = subprocess.run(["sh", "-c", f"{words} {closed}"], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert (done.stdout != b"") == said
    if said:
        json.loads(done.stdout)
        refused = subprocess.run(["sh", "-c", f"{words} --C 1e308 {closed}"], capture_output=True, timeout=300)
        assert (refused.returncode, refused.stdout) == (2, b"")


@pytest.mark.each_value
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
@pytest.mark.parametrize(
    "words", [["solvers"], ["losses", "--json"], ["run", *SMALL, "--solvers", "level", "--gap", "0.1"]]
)
def test_what_a_terminals_encoding_lacks_is_written_in_plain_signs(encoding, words):
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    with contextlib.redirect_stdout(stream):
        assert main(words) == 0
    stream.flush()
    text = stream.buffer.getvalue().decode(encoding)
    if "--json" in words:  # which keeps every sign
        assert json.loads(text)
    print("λ₁ ≥ 2⁻³ … é, 類", file=stream, flush=True)
    assert stream.buffer.getvalue().decode(encoding).replace("é", "e")[len(text) :].startswith("lambda1 >= 2")
