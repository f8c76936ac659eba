"""The pictures of the documentation: stills of small runs, solved when the site is built."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

import mklviz as mv
from mklviz.engine import Race, solver_classes, standard_rules
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.recorded import recorded_answers
from mklviz.views.chart.svg import drawing
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.explorer.claim_card import claim_chart, claim_height, claim_tables
from mklviz.views.look.palette import DARK, LIGHT, Theme, readable

Drawn = Callable[..., str]  # by a theme
MOST = 200  # steps
_THREE = ["silp", "level", "spg"]
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


def _race(problem: mv.Problem, solvers: list[str], x: str = "svm_solves") -> Drawn:
    race = Race(problem, solvers, standard_rules(1e-2, MOST))
    race.start()
    race.wait()
    return partial(race_still, race, 1e-2, x)


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
    "silp-level-spg": lambda: _race(_problem("ionosphere", mv.Hinge(C=100.0), mv.Simplex()), _THREE),
    "vote": lambda: _race(_problem("vote", mv.Hinge(C=100.0), mv.Simplex()), _THREE),
    "norms": lambda: _race(
        _problem("heart", mv.Hinge(C=10.0), mv.LpPenalty(p=4 / 3)), ["closed-form", "spg", "smo-mkl"], "seconds"
    ),
    "blocks": lambda: _race(
        _problem("heart", mv.Logistic(C=1.0), mv.BlockL1(lam=1.0)), ["spicymkl", "closed-form", "spg"], "seconds"
    ),
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


# -- two recorded runs side by side, as an SVG that moves: kernel weights as bars, and the gap behind them as it falls.
# One second shows as many SVM solves of the one as of the other; the shorter run stands still at its end.

PACE = 12.0  # SVM solves per second
REST = 2.5  # seconds at the end, before it begins again
BARS = 14
ROOM = 3.0  # times the largest weight of a solution; higher bars are cut
WIDTH, HEIGHT, MARGIN = 460.0, 330.0, 44.0
BAR_TOP, BAR_LOW = 56.0, 196.0
GAP_TOP, GAP_LOW = 232.0, 302.0


def recorded() -> list[mv.Trace]:
    """Return the runs of SILP and Level that README shows."""
    train, _ = mv.load_dataset("ionosphere").split(train=0.5, seed=0)
    problem = mv.Problem(mv.paper_bank(train.X, train.feature_names), train.y, mv.Hinge(C=100.0), mv.Simplex())
    return [mv.solve(problem, name, gap=1e-2, max_iter=300) for name in ("silp", "level")]


def animated(traces: Sequence[mv.Trace], theme: Theme = LIGHT) -> str:
    """Return an SVG in which runs on one problem are replayed, each in a panel."""
    shown = _heaviest(traces)
    solves = max(trace.final.svm_solves for trace in traces)
    seconds = solves / PACE + REST
    tallest = ROOM * max(float(trace.best.weights.max()) for trace in traces)
    width = WIDTH * len(traces)
    label = " beside ".join(trace.label for trace in traces)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {HEIGHT:g}" role="img" '
        f'aria-label="{html.escape(label)}: kernel weights and duality gap, step by step">',
        f"<style>text {{ font: 12px sans-serif; fill: {theme.muted} }} .name {{ font: bold 15px sans-serif }}</style>",
        f'<rect width="{width:g}" height="{HEIGHT:g}" fill="{theme.card}"/>',
    ]
    for index, trace in enumerate(traces):
        parts.append(f'<g transform="translate({index * WIDTH:g},0)">')
        parts += _panel(trace, shown, tallest, solves, seconds, theme)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _heaviest(traces: Sequence[mv.Trace]) -> list[int]:
    """Return the kernels of largest weight in the runs' solutions, in their own order."""
    weight = np.max([trace.best.weights for trace in traces], axis=0)
    return sorted(np.argsort(-weight, kind="stable")[:BARS].tolist())


def _panel(
    trace: mv.Trace, shown: list[int], tallest: float, solves: int, seconds: float, theme: Theme
) -> Iterator[str]:
    colour = readable(solver_classes()[trace.solver].colour, theme.card)
    summary = f"{trace.final.svm_solves} SVM solves, weights: {trace.motion.verdict}"
    yield f'<text class="name" x="{MARGIN:g}" y="24" style="fill:{colour}">{html.escape(trace.label)}</text>'
    yield f'<text x="{WIDTH - 12:g}" y="24" text-anchor="end">{summary}</text>'
    yield f'<text x="{MARGIN:g}" y="44">Kernel weights, the {len(shown)} largest</text>'
    yield from _bars(trace, shown, tallest, colour, seconds, theme)
    yield f'<text x="{MARGIN:g}" y="{GAP_TOP - 10:g}">Duality gap over SVM solves</text>'
    yield from _gap(trace, solves, colour, seconds, theme)


def _times(trace: mv.Trace, seconds: float) -> str:
    """Return when each step is shown, as shares of the whole."""
    return ";".join(f"{(count - 1) / PACE / seconds:.4f}" for count in trace.svm_solves) + ";1"


def _bars(
    trace: mv.Trace, shown: list[int], tallest: float, colour: str, seconds: float, theme: Theme
) -> Iterator[str]:
    across = (WIDTH - MARGIN - 12.0) / len(shown)
    times = _times(trace, seconds)
    yield f'<line x1="{MARGIN:g}" x2="{WIDTH - 12:g}" y1="{BAR_LOW:g}" y2="{BAR_LOW:g}" stroke="{theme.axis}"/>'
    yield f'<text x="{MARGIN - 6:g}" y="{BAR_TOP + 10:g}" text-anchor="end">{tallest:.2g}</text>'
    yield f'<text x="{MARGIN - 6:g}" y="{BAR_LOW:g}" text-anchor="end">0</text>'
    yield f'<g transform="translate({MARGIN:g},{BAR_LOW:g}) scale(1,-1)" fill="{colour}">'
    for index, kernel in enumerate(shown):
        shares = np.minimum(trace.weights[:, kernel] / tallest, 1.0)
        heights = [f"{(BAR_LOW - BAR_TOP) * share:.1f}" for share in shares]
        name = html.escape(trace.kernel_names[kernel])
        yield (
            f'<rect x="{index * across + 2:.1f}" width="{across - 4:.1f}" height="{heights[-1]}"><title>{name}</title>'
            f'<animate attributeName="height" dur="{seconds:.2f}s" repeatCount="indefinite" '
            f'keyTimes="{times}" values="{";".join([*heights, heights[-1]])}"/></rect>'
        )
    yield "</g>"


def _gap(trace: mv.Trace, solves: int, colour: str, seconds: float, theme: Theme) -> Iterator[str]:
    """Draw the run's gap on a log scale, uncovered from left to right."""
    left, right = MARGIN, WIDTH - 12.0
    low, high = math.log10(0.008), 1.0

    def point(count: float, gap: float) -> str:
        height = min(max((math.log10(gap) - low) / (high - low), 0.0), 1.0)
        return f"{left + (right - left) * count / solves:.1f},{GAP_LOW - (GAP_LOW - GAP_TOP) * height:.1f}"

    for gap, words in ((1.0, "100 %"), (0.01, "1 %")):
        height = point(0.0, gap).split(",")[1]
        yield f'<line x1="{left:g}" x2="{right:g}" y1="{height}" y2="{height}" stroke="{theme.grid}"/>'
        yield f'<text x="{left - 6:g}" y="{float(height) + 4:g}" text-anchor="end">{words}</text>'
    points = " ".join(point(count, gap) for count, gap in zip(trace.svm_solves, trace.gap, strict=True))
    run, width = (solves - 1) / PACE / seconds, right - left + 4
    yield (
        f'<clipPath id="{trace.solver}"><rect x="{left:g}" y="{GAP_TOP - 4:g}" width="{width:g}" height="90">'
        f'<animate attributeName="width" dur="{seconds:.2f}s" repeatCount="indefinite" keyTimes="0;{run:.4f};1" '
        f'values="4;{width:g};{width:g}"/></rect></clipPath>'
    )
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"'
    yield f'{line} clip-path="url(#{trace.solver})"/>'
    yield f'<text x="{right:g}" y="{GAP_LOW + 18:g}" text-anchor="end">{solves}</text>'
