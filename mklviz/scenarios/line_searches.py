"""What SPG-GMKL does about line searches: their SVMs, their precision, and its parts."""

from collections.abc import Iterator

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario, counted_solves, trials

_CHOICES_LINE_SEARCH = ("About one", "Two to ten", "More than ten")


def _answer_line_search(outcome: Outcome) -> Answer:
    """SVM solves of SimpleMKL over those of Level."""
    simple, level = outcome.traces["simplemkl"], outcome.traces["level"]
    searched, others = simple.final.svm_solves, level.final.svm_solves
    ratio = searched / others
    return Answer(
        _CHOICES_LINE_SEARCH[(ratio >= 2.0) + (ratio > 10.0)],
        f"SimpleMKL solved {searched:,} SVMs in {len(simple) - 1:,} steps, Level {others:,} in {len(level) - 1:,}",
        why=f"That is {trials(simple):.1f} SVMs for a step of SimpleMKL, {trials(level):.1f} for one of Level and"
        f" {trials(outcome.traces['spg']):.1f} for one of SPG.",
    )


LINE_SEARCH = Scenario(
    name="line-search",
    title="What a line search costs",
    group="Why",
    place=10,
    picture="solves",
    question=Question(
        "SimpleMKL looks for the best point along each direction. For each SVM that Level solves, it solves …",
        _CHOICES_LINE_SEARCH,
        _answer_line_search,
    ),
    look_for=(
        "Each point that a line search tries is one more SVM. The table counts steps and SVM solves side by side."
    ),
    in_short="Steps, trial points, and the SVMs that they take.",
    teaches=(
        "A direction is cheap and an SVM is not. SimpleMKL spends its SVMs on finding the exact lowest point along a"
        " direction that will be another one at the next step anyway. Level needs one to move, and SPG takes the first"
        " point that is good enough."
    ),
    source=(
        "Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, section 4.2: 1,231"
        " SVMs against 47"
    ),
    recipe=Recipe(
        data=DataChoice("heart"), solvers=(SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg"))
    ),
)


# Rough SVMs give wrong slopes (SPG-GMKL paper, section 4 and figure 1): PGD stalls on them, SPG recovers.
_ROUGH = 0.1
_OFTEN = 0.25
_WHY = (
    "A line search that insists on a lower value tries ever shorter steps, an SVM each, and none helps: the slope of a"
    " rough SVM does not belong to its value."
)
_CHOICES_NOISY_SVMS = ("None", "Up to a quarter", "More than a quarter")


def _in_vain(trace: Trace) -> int:
    """Return the steps whose line search failed."""
    return int((trace.step[1:] == 0.0).sum())


def _answer_noisy_svms(outcome: Outcome) -> Answer:
    """Which share of PGD's steps on rough SVMs leads to no lower point."""
    descents = [trace for trace in outcome.traces.values() if trace.solver == "pgd"]
    rough = next(trace for trace in descents if trace.options["svm_tolerance"] == _ROUGH)
    exact = next(trace for trace in descents if trace is not rough)
    share = _in_vain(rough) / (len(rough) - 1)
    return Answer(
        _CHOICES_NOISY_SVMS[(share > 0.0) + (share > _OFTEN)],
        f"{_in_vain(rough):,} of {len(rough) - 1:,} steps on rough SVMs found no lower point, on exact ones"
        f" {_in_vain(exact):,} of {len(exact) - 1:,}. PGD solved {rough.final.svm_solves:,} rough SVMs or"
        f" {exact.final.svm_solves:,} exact ones, SPG, which begins as roughly,"
        f" {outcome.traces['spg'].final.svm_solves:,}",
        why=_WHY if share > _OFTEN and _in_vain(exact) < _in_vain(rough) else "",
    )


NOISY_SVMS = Scenario(
    name="noisy-svms",
    title="What rough SVMs do to a line search",
    group="Why",
    place=30,
    picture="rough",
    question=Question(
        "A rough SVM (tolerance 0.1) is cheaper and gives slopes a little wrong. How many of PGD's steps on rough SVMs"
        " find no lower point?",
        _CHOICES_NOISY_SVMS,
        _answer_noisy_svms,
    ),
    look_for=(
        "The first PGD solves its SVMs to 0.1, the second to 0.000001. Where the gap of the first stays level and its"
        " step size is zero, its line search found no lower point."
    ),
    in_short="Cheaper SVMs give slopes that are a little wrong.",
    teaches=(
        "SPG begins as roughly, but lets the value rise a little, and solves its SVMs more exactly as it comes near."
        " Both are what the paper means by robust."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 4 and figure 1",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("pgd", {"svm_tolerance": _ROUGH}), SolverChoice("pgd"), SolverChoice("spg")),
    ),
)


# What each part of SPG buys (SPG-GMKL paper, table 7): the non-monotone rule, the spectral step, or both.
_PARTS = ("N: let it rise now and then", "S: step size from the last move", "Neither alone helps")
_HELPS = 0.5  # share of PGD's SVM solves
_FEW = 2.0  # trials of a step where hardly any fails


def _solves(trace: Trace) -> int:
    return trace.final.svm_solves


def _answer_spg_parts(outcome: Outcome) -> Answer:
    """The part that saves more SVM solves, if it saves half of them."""
    plain, alone = outcome.traces["pgd"], (outcome.traces["PGD+N"], outcome.traces["PGD+S"])
    better = min((0, 1), key=lambda k: _solves(alone[k]))
    helps = _solves(alone[better]) < _HELPS * _solves(plain)
    both, spg = outcome.traces["PGD+N+S"], outcome.traces["spg"]
    solves = counted_solves([plain, *alone, both, spg])
    n, s = (trials(trace) for trace in alone)
    tried = f"A step of PGD tries {trials(plain):.1f} points, an SVM each, with N {n:.1f} and with S {s:.1f}."
    why = [tried, _fits(n, s, plain), *_together(alone[1], both, spg)]
    return Answer(_PARTS[better if helps else 2], f"the SVM solves were {solves}", " ".join(filter(None, why)))


def _together(s: Trace, both: Trace, spg: Trace) -> Iterator[str]:
    """Explain what N saves beside S, and why SPG, which has both, may need more SVMs, where they do."""
    if _solves(both) < 0.75 * _solves(s):
        yield (
            f"Beside S, N saves again, {_solves(s):,} and then {_solves(both):,}: now and then a step of S raises the"
            " objective on its way to a lower one, and N lets it stand."
        )
    if _solves(spg) > 1.2 * _solves(both):
        yield (
            f"SPG has both parts and begins with loose SVMs: {_solves(spg):,}, for their slopes mislead some of its"
            " steps, and with so few samples a loose SVM costs hardly less than an exact one."
        )


def _fits(n: float, s: float, plain: Trace) -> str:
    """Say what S is for, where it does that."""
    if s >= _HELPS * min(n, trials(plain)) or s > _FEW:
        return ""
    return "S begins with a step that fits how the slope changed last, so that hardly any trial fails."


SPG_PARTS = Scenario(
    name="spg-parts",
    title="What each part of SPG buys",
    group="Why",
    place=20,
    picture="solves",
    question=Question(
        "SPG is projected gradient descent (PGD) with two parts more, N and S. Which one alone saves most SVM solves?",
        _PARTS,
        _answer_spg_parts,
    ),
    look_for=(
        "N accepts steps that raise the objective for a while, S takes its step size from the last move. SPG adds a"
        " loose SVM at the start."
    ),
    in_short="Two additions to gradient descent, one at a time.",
    teaches=(
        "PGD tries the step 1 and shortens it, an SVM each time, at every step anew. Which part pays depends on the"
        " data: in the paper's table S alone was worse than PGD on Australian."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, table 7",
    pace=50.0,
    recipe=Recipe(
        data=DataChoice("heart"),
        solvers=(
            SolverChoice("pgd"),
            SolverChoice("pgd", {"nonmonotone": True}),
            SolverChoice("pgd", {"spectral": True}),
            SolverChoice("pgd", {"nonmonotone": True, "spectral": True}),
            SolverChoice("spg"),
        ),
        stop=StopChoice(gap=1e-3, max_iter=300),
    ),
)


SCENARIO = (LINE_SEARCH, NOISY_SVMS, SPG_PARTS)
