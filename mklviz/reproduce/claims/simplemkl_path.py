"""SimpleMKL, table 2 and figures 2 and 3: along a path of C more kernels come in, and warm starts save time."""

from mklviz.reproduce import BetweenSettings, MoreThan
from mklviz.reproduce.claims._simplemkl import OURS, SETUP, simplemkl_claim

_PATH = (
    "Each run of a path begins where the one before ended, while runs of a sweep all begin alike, and the verdicts here"
    " are those of sweeps. Counted once along 20 values of C from 100 to 0.1, on five splits of Liver and of Pima, to a"
    " gap of 1 %: warm starts save the gradient method 44 to 73 % of its SVMs on nine of the ten splits (on the tenth"
    " two runs met the limit of 500 steps, and it solved six times as many), and SILP up to 30 %. {}For one split,"
    " mklviz path --data liver --solver simplemkl:variant=armijo --vary C=100:0.1:20, with --cold and with silp, counts"
    " all of them."
)
_TIMES = "With them it took 0.9 to 3.4 times the CPU time of SILP on Liver, 1.1 to 8.3 times on Pima. "

CLAIMS = (
    simplemkl_claim(
        name="simplemkl-table-2",
        place="Table 2",
        sentence="Along 100 values of C the gradient method takes 5.3 to 66 times less time than SILP.",
        untestable=_PATH.format(_TIMES),
    ),
    simplemkl_claim(
        name="simplemkl-figure-2",
        place="Figure 2",
        sentence="More kernels are kept where C is large, and few or a single one where it is small.",
        setup=SETUP.replace("C=100", "C=100,0.1"),
        quantity=BetweenSettings("kernels", OURS, "C", 100.0, 0.1),
        decided_by=MoreThan(0.0),
        variations={"a gap of 0.01 %": "gap=1e-4; weight-change=none"},
        note=(
            "Where C is small, equal weights are within 1 % of the optimum, and a run that begins there ends there with"
            " all kernels. The paper's path comes from large C, with few of them."
        ),
    ),
    simplemkl_claim(
        name="simplemkl-figure-3",
        place="Figure 3",
        sentence="From one C to the next SILP's time falls with C, and that of the gradient method at once.",
        untestable=_PATH.format(""),
    ),
)
