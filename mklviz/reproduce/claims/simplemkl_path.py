"""SimpleMKL, table 2 and figures 2 and 3: along a path of 100 values of C with warm starts, from 100 down to 0.1."""

from functools import partial

from mklviz.reproduce import AtLeast, BetweenSettings, FirstOverRest, MoreThan, PathExponent, Ratio, WholePath, Within
from mklviz.reproduce.claims._simplemkl import OURS, simplemkl_claim

_VALUES = [*(100.0 - 90.0 * k / 49 for k in range(50)), *(10.0 - 9.9 * k / 50 for k in range(1, 51))]
_SECONDS = {  # of SILP and of theirs
    "liver": (612, 116),
    "pima": (4496, 754),
    "australian": (4830, 753),
    "ionosphere": (5000, 221),
    "sonar": (11_234, 170),
}
_LINEAR = 3.4  # times the mean of the other values is the first one

_path_claim = partial(
    simplemkl_claim,
    setup=(
        f"data=liver,pima,australian,ionosphere,sonar; split=0...4; solvers=silp,{OURS};"
        f" C={','.join(f'{value:.4g}' for value in _VALUES)}; path=C"
    ),
    quick="data=liver; C=100,50,0.1",
)
_SHORT = " The quick set has three values of C."
_AT_ONCE = (
    "Among hundreds of kernels no weight moves by 0.01 in a short step, so that the paper's rule may end the first run,"
    " which begins at equal weights, with nearly all of them."
)

CLAIMS = (
    _path_claim(
        name="simplemkl-table-2",
        place="Table 2",
        sentence="Along 100 values of C the gradient method takes 5.3 to 66 times less time than SILP.",
        quantity=WholePath(Ratio("time", "silp", OURS)),
        decided_by=AtLeast(0.5),
        published={data: silp / ours for data, (silp, ours) in _SECONDS.items()},
        note=(
            "SILP's weights jump from step to step, so that the paper's rule, which waits until they stand still, ends"
            f" it late even where it begins near an optimum; a gap of 1 % is often there at once.{_SHORT}"
        ),
    ),
    _path_claim(
        name="simplemkl-figure-2",
        place="Figure 2",
        sentence="More kernels are kept where C is large, and few or a single one where it is small.",
        quantity=BetweenSettings("kernels", OURS, "C", 100.0, 0.1),
        decided_by=MoreThan(0.0),
        note=_AT_ONCE,
    ),
    _path_claim(
        name="simplemkl-figure-3",
        place="Figure 3",
        sentence="Below the first C the gradient method's time falls at once, to a small one.",
        quantity=FirstOverRest("time", OURS),
        decided_by=MoreThan(_LINEAR),
        note=(
            f"Of a time proportional to C the first value takes {_LINEAR} times the mean of the others."
            f" {_AT_ONCE}{_SHORT}"
        ),
    ),
    _path_claim(
        name="simplemkl-figure-3-silp",
        place="Figure 3",
        sentence="SILP's time is about proportional to C.",
        quantity=PathExponent("time", "silp"),
        decided_by=Within(0.7, 1.3),
        note=(
            "Where the solution at the C before satisfies the stop rule at once, the time is that of one SVM solve,"
            f" whatever C is. Runs that ended at a limit, on sonar at large C, do not count.{_SHORT}"
        ),
    ),
)
