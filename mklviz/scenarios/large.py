"""Large data and many kernels: what is exact or approximate there, and what a step costs."""

from mklviz.kernels import Gaussian, Nystrom
from mklviz.problem import Hinge, LpBall, LpPenalty, Simplex
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario, best_of, counted_solves

_MEASURED, _INDICATORS = range(10), range(14, 54)

HALF_A_MILLION = Scenario(
    name="half-a-million",
    title="Half a million points",
    place=70,
    look_for=(
        "Five kernels on 522,910 points would be five matrices of 2,000 GB. Here 200 landmarks stand for the points, so"
        " the problem solved is an approximate one: its gap is exact, and the error of the kernels is shown beside it."
        " After some twenty seconds of building, a step takes about a second."
    ),
    recipe=Recipe(
        data=DataChoice("covertype_like"),
        split=Split(train=0.9),
        kernels=KernelChoice(
            families=(
                Gaussian(widths=(1.0,), on=[0, 1, 2, 3]),
                Gaussian(widths=(4.0,), on=list(_MEASURED)),
                Gaussian(widths=(2.0,), on=[0, *_INDICATORS]),
                Gaussian(widths=(8.0,), on="all"),
                Gaussian(widths=(1.0,), on=[5, 9]),
            ),
            approximation=Nystrom(landmarks=200),
        ),
        problem=ProblemChoice(loss=Hinge(10_000.0)),
        solvers=(SolverChoice("closed-form"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
)


# SPG-GMKL's product of kernels on a large data set (KDD 2012, table 8): letter, 0.66 hours in the paper.
LETTER_PRODUCT = Scenario(
    name="letter-product",
    title="16,000 letters, one product of kernels",
    place=61,
    look_for=(
        "Exact, although the kernel matrix is never formed: its rows are computed when they are needed. One Gaussian"
        " kernel per feature, multiplied, with p = 4/3. Each step takes a second or two: an SVM on 16,000 letters."
    ),
    recipe=Recipe(
        data=DataChoice("letter"),
        split=Split(train=0.8),
        kernels=KernelChoice(combination="product"),
        problem=ProblemChoice(loss=Hinge(10.0), regularizer=LpPenalty(p=4.0 / 3.0, sigma=30.0)),
        solvers=(SolverChoice("spg"),),
        stop=StopChoice(projected_gradient=1e-4),
    ),
)


# A sum of kernels on a large data set: letter, one Gaussian kernel per feature (SPG-GMKL, KDD 2012, section 5.1).
LETTER_SUM = Scenario(
    name="letter-sum",
    title="16,000 letters, a sum of kernels",
    place=60,
    look_for=(
        "Exact, although no kernel matrix is ever formed. One Gaussian kernel per feature, added, with p = 4/3: every"
        " kernel keeps some weight. The product of the same kernels tells letters apart far better."
    ),
    recipe=Recipe(
        data=DataChoice("letter"),
        split=Split(train=0.8),
        kernels=KernelChoice(families=(Gaussian(widths=(0.5,), on="each"),), normalize="none"),
        problem=ProblemChoice(loss=Hinge(1.0), regularizer=LpPenalty(p=4.0 / 3.0, sigma=1.0)),
        solvers=(SolverChoice("closed-form"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
)


# The headline of SPG-GMKL: a million kernels, on Sonar, of which none is ever stored.
SONAR_MILLION = Scenario(
    name="sonar-million",
    title="A million kernels",
    place=21,
    look_for=(
        "Gaussians of ten widths on 100,000 random subsets of the features: none is stored, each is computed when it is"
        " needed, some seconds per step. With p = 4/3 every kernel keeps a little weight."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:100000"),)),
        problem=ProblemChoice(regularizer=LpBall(p=4.0 / 3.0)),
        solvers=(SolverChoice("closed-form"),),
        stop=StopChoice(gap=1e-3),
    ),
)


# A million kernels of which fifty are kept: the simplex on the kernels of SPG-GMKL's headline.
SONAR_MILLION_L1 = Scenario(
    name="sonar-million-l1",
    title="Fifty out of a million kernels",
    place=22,
    look_for=(
        "The same million Gaussians, but weights on the simplex keep only about fifty of them. Newton works on the few"
        " hundred that matter and looks at all of them, some seconds a time, to find others and to certify the gap."
        " Add SPG to see it need five times the seconds."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:100000"),)),
        problem=ProblemChoice(regularizer=Simplex()),
        solvers=(SolverChoice("newton"),),
        stop=StopChoice(gap=1e-3),
    ),
)


# Ten thousand kernels on a hundred samples: more kernels cost time in proportion, and few of them get weight.
_CHOICES = ("Fewer than 100", "Some 1,000", "Nearly all")


def _answer(outcome: Outcome) -> Answer:
    """Kernels in use at the least objective of all runs."""
    best, problem = best_of(outcome.traces.values()).best, outcome.prepared.problem
    m, n = problem.m, len(problem.y)
    counts = counted_solves(list(outcome.traces.values()))
    return Answer(
        _CHOICES[(best.active >= 100) + (best.active > m / 2)],
        f"{best.active} of {m:,} kernels have weight; the SVM solves were {counts}",
        why=f"{n} samples never need more than {n} kernels.",
    )


THOUSANDS = Scenario(
    name="thousands",
    title="Thousands of kernels",
    group="Beyond",
    place=20,
    picture="few",
    question=Question(
        "Gaussians of ten widths on 1,000 random sets of features are 10,000 kernels. How many get weight?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "In the tab Race, see where the time goes, in the bars below the table: how much the slopes of so many kernels"
        " cost beside the SVMs."
    ),
    in_short="Ten thousand kernels on a hundred samples.",
    teaches=(
        "No more kernels can have weight than the SVM has free support vectors, roughly. All others are only looked at,"
        " once per step, and that time grows in proportion to their number."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 5.5, figure 2",
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:1000"),)),
        solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg")),
    ),
)


SCENARIO = (HALF_A_MILLION, LETTER_PRODUCT, LETTER_SUM, SONAR_MILLION, SONAR_MILLION_L1, THOUSANDS)
