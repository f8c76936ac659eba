"""The pictures of the documentation: stills of small runs, solved when the site is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import mklviz as mv
from mklviz.engine import Race, solver_classes, standard_rules
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.recorded import recorded_answers
from mklviz.views.chart.claim_chart import claim_chart, claim_height, claim_tables
from mklviz.views.chart.svg import drawing
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.look.palette import DARK, LIGHT, Theme

__all__ = ["drawings", "example", "for_both_themes"]

Drawn = Callable[..., str]  # by a theme
MOST = 200  # steps
CLAIM_WIDTH = 640  # pixels
PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w./-]+)\.(svg|png)\)")
THEMES = {"": LIGHT, "-dark": DARK}


@cache
def _bank(name: str) -> tuple[mv.KernelBank, mv.Dataset]:
    train, _ = mv.load_dataset(name).split(train=0.5, seed=0)
    return mv.paper_bank(train.X, train.feature_names), train


def _problem(name: str, loss: object, regularizer: object) -> mv.Problem:
    bank, train = _bank(name)
    return mv.Problem(bank, train.y, loss, regularizer)


@cache
def _examples() -> tuple[tuple[str, mv.Problem], ...]:
    """The problems that a solver's page may show it on, in the order of preference."""
    return (
        ("Ionosphere, hinge loss with C = 100, simplex", _problem("ionosphere", mv.Hinge(C=100.0), mv.Simplex())),
        ("Heart, hinge loss with C = 10, squared ℓp norm", _problem("heart", mv.Hinge(C=10.0), mv.LpPenalty(p=4 / 3))),
        (
            "Heart, hinge loss with C = 0.1 and no intercept, squared group norm",
            _problem("heart", mv.Hinge(C=0.1, bias=False), mv.GroupSquaredPlusL1(lam=1.0)),
        ),
        (
            "Ionosphere, hinge loss with C = 100, simplex with ridge",
            _problem("ionosphere", mv.Hinge(C=100.0), mv.SimplexRidge(lam=1e4)),
        ),
    )


@cache
def example(solver: str) -> tuple[str, mv.Trace]:
    """Return what a solver's page shows it on, and its run to a gap of 1 %, of `MOST` steps at most."""
    for words, problem in _examples():
        if solver in mv.available_solvers(problem):
            return words, mv.solve(problem, solver, gap=1e-2, max_iter=MOST)
    raise LookupError(f"No example of the documentation is a problem that {solver} can follow: add one to _examples.")


def _race(problem: mv.Problem, solvers: list[str], x: str = "svm_solves", most: int = MOST) -> Drawn:
    race = Race(problem, solvers, standard_rules(1e-2, most))
    race.start()
    race.wait()
    return partial(race_still, race, 1e-2, x)


def _oscillation() -> Drawn:
    return _race(_problem("ionosphere", mv.Hinge(C=100.0), mv.Simplex()), ["silp", "level", "spg"])


def _vote() -> Drawn:
    return _race(_problem("vote", mv.Hinge(C=100.0), mv.Simplex()), ["silp", "level", "spg"])


def _norms() -> Drawn:
    return _race(
        _problem("heart", mv.Hinge(C=10.0), mv.LpPenalty(p=4 / 3)), ["closed-form", "spg", "smo-mkl"], "seconds"
    )


def _blocks() -> Drawn:
    return _race(
        _problem("heart", mv.Logistic(C=1.0), mv.BlockL1(lam=1.0)), ["spicymkl", "closed-form", "spg"], "seconds"
    )


def _classes() -> Drawn:
    train, _ = mv.load_dataset("iris").split(train=0.5, seed=0)
    problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.MulticlassHinge(C=10.0), mv.LpBall(p=1.5))
    return _race(problem, ["closed-form", "spg"], "iteration")


def _path() -> Drawn:
    problem = _problem("liver", mv.Logistic(C=1.0), mv.BlockL1(lam=1.0))
    return partial(path_still, mv.path(problem, "spicymkl", lam=mv.path_values(problem, "lam", count=20)))


def _claim(answer: ClaimAnswer, theme: Theme) -> str:
    chart, words = claim_chart(answer, theme), f"{answer.claim.sentence} The paper's values and ours"
    return drawing([([chart], claim_height(answer))], claim_tables(answer), words, theme, CLAIM_WIDTH)


GALLERY: dict[str, Callable[[], Drawn]] = {
    "silp-level-spg": _oscillation,
    "vote": _vote,
    "norms": _norms,
    "blocks": _blocks,
    "classes": _classes,
    "path": _path,
}


@cache
def drawings() -> dict[str, str]:
    """Return every picture as SVG for light pages and for dark ones, by the name of its file."""
    made = {f"solver-{name}": partial(trace_still, example(name)[1]) for name in solver_classes()}
    made |= {name: make() for name, make in GALLERY.items()}
    answers = recorded_answers().answers.values()
    made |= {f"claim-{answer.claim.name}": partial(_claim, answer) for answer in answers if answer.rows}
    return {f"{name}{ending}": draw(theme=theme) for name, draw in made.items() for ending, theme in THEMES.items()}


def for_both_themes(markdown: str, page: Path) -> str:
    """Return the text of a page with a picture that has a dark form beside it in both."""

    def both(shown: re.Match[str]) -> str:
        words, name, ending = shown.groups()
        if not (page.parent / f"{name}-dark.{ending}").exists():
            return shown[0]
        return f"![{words}]({name}.{ending}){{.only-light}}![{words}]({name}-dark.{ending}){{.only-dark}}"

    return PICTURE.sub(both, markdown)
