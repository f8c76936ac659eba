"""The notebooks beside the quick start, each run as it stands in a fresh kernel; see test_notebook for that one."""

import re
from functools import cache
from typing import Any

import pytest
from _cells import PROBLEM, ROOT, executed, run_through

NAMES = sorted({path.stem for path in ROOT.glob("apps/notebooks/*.ipynb")} - {"quickstart"})

pytestmark = pytest.mark.full


@cache
def done(name: str) -> tuple[Any, str]:
    """Return a notebook with the outputs of its cells, and all that they print."""
    document = run_through(name)
    outputs = [output for cell in document.cells if cell.cell_type == "code" for output in cell.outputs]
    return document, "".join(output["text"] for output in outputs if output.get("name") == "stdout")


# those of half a minute, whose cells run in every documentation, too
LENGTHY = ("geometry", "large_banks", "own_solver", "pipeline")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.product] * (n in LENGTHY)) for n in NAMES])
def test_a_notebook_runs_draws_and_stays_small(name: str) -> None:
    import nbformat

    document, _ = done(name)
    saved = nbformat.writes(document)
    assert len(saved) < 1_000_000
    assert "data:image/svg+xml;base64," in saved  # there without a kernel
    assert document.cells[0].source.startswith("# ")


def test_level_is_silp_at_one_end_of_its_slider() -> None:
    _, printed = done("silp_and_level")
    verdicts = dict(re.findall(r"^λ = ([\d.]+): .*: (\w+)$", printed, re.MULTILINE))
    assert (verdicts["0.8"], verdicts["0.0"]) == ("stable", "oscillates")
    solves = [int(count) for count in re.findall(r"^(?:SILP|Level) +(\d+) SVM solves", printed, re.MULTILINE)]
    assert solves[0] > 3 * solves[1]


@pytest.mark.product
def test_a_solver_of_one_cell_races_and_says_what_it_cannot_do() -> None:
    document, printed = done("own_solver")
    assert "Race(finished: frank-wolfe, level, spg)" in str(document.cells)
    assert printed.startswith("Frank-Wolfe moves between the corners of the simplex")


@pytest.mark.product
def test_the_pipeline_learns_from_measurements_and_categories() -> None:
    _, printed = done("pipeline")
    mixed, alike = (float(number) for number in re.findall(r"^accuracy ([\d.]+)$", printed, re.MULTILINE))
    assert min(mixed, alike) > 0.7  # the larger class has a share of 0.56
    groups = {line.split()[1] for line in re.findall(r"^0\.\d\d  .*$", printed, re.MULTILINE)}
    assert "measurements:" in groups
    assert len(groups) > 2


@pytest.mark.product
def test_sparse_weights_keep_few_kernels_of_a_large_bank_and_norms_most() -> None:
    _, printed = done("large_banks")
    sparse, dense = (int(count) for count in re.findall(r"(\d+) of [\d,]+ kernels in use", printed))
    assert sparse < 100 < dense
    assert printed.count("The duality gap, ") == 3


@pytest.mark.product
def test_on_a_segment_silp_moves_in_vain_and_level_does_not() -> None:
    document, printed = done("geometry")
    in_vain = dict(re.findall(r"^(SILP|Level) .* full moves, ([\d.]+) undone$", printed, re.MULTILINE))
    assert float(in_vain["SILP"]) > 0.5 > 0.1 > float(in_vain["Level"])
    assert str(document.cells).count(":Overlay") >= 10  # three steps of three runs, and the triangle


def check_five_races(words: str = "", **options: Any) -> None:
    """Check that a notebook of five races is small, and that each race keeps a page."""
    import nbformat

    race = f"race = mv.race(problem, ['silp', 'level', 'spg']{words})"
    document = executed(PROBLEM, *[race, "assert race.wait(240)"] * 5, **options)
    races = [cell.outputs[-1]["data"]["text/html"] for cell in document.cells[1::2]]
    assert all(race.count("<iframe") == 1 for race in races)
    assert len(nbformat.writes(document).encode()) <= 2_000_000


def test_five_races_are_saved_in_two_megabytes_with_their_recordings_and_the_state_of_their_widgets() -> None:
    check_five_races()


@pytest.mark.product
def test_so_are_five_races_of_as_many_steps_as_there_may_be_without_the_state_of_their_widgets() -> None:
    check_five_races(", gap=None", store_widget_state=False)  # as JupyterLab and Notebook 7 save them by default
