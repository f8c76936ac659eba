"""SPG-GMKL, table 7: the SVMs that PGD solves with the nonmonotone line search (N), spectral steps (S), and both."""

from mklviz.reproduce import AtLeast, MoreThan, PaperClaim, Ratio
from mklviz.reproduce.claims._spg import FOLDS, NEW_C, PAPER, RULE, parts

_SOLVES = {  # of PGD, PGD+N, PGD+S, PGD+N+S
    "australian": (3230, 116, 5980, 621),
    "sonar": (209_461, 3236, 3806, 2457),
    "breast": (109_599, 1187, 3537, 3006),
    "pima": (29_347, 2966, 1239, 695),
    "wpbc": (14_376, 9388, 340, 79),
}
_PGD, _N, _S, _BOTH = parts(False, False), parts(True, False), parts(False, True), parts(True, True)
_SETUP = f"data=australian,sonar,breast,pima,wpbc; {FOLDS}; C=100; regularizer=lp-penalty:p=1.1"
_ADULT_1 = "data=adult; split=0...4; train=0.0494; standardize=false; kernels=gauss:1,2,4,8,16@random:10"
_PARTS = f"solvers={_PGD} {_N} {_S} {_BOTH}"

CLAIMS = (
    PaperClaim(
        name="spg-table-7-both",
        paper=PAPER,
        place="Table 7",
        sentence="With N and S together PGD solves 5 to 180 times fewer SVMs.",
        setup=f"{_SETUP}; {_PARTS}",
        quick="data=liver",
        certified_rule=RULE,
        quantity=Ratio("svm_solves", _PGD, _BOTH),
        decided_by=AtLeast(0.5),
        published={data: solves[0] / solves[3] for data, solves in _SOLVES.items()},
        variations=NEW_C,
        note="Liver, of the quick set, is not in this table of the paper.",
    ),
    PaperClaim(
        name="spg-table-7-alone",
        paper=PAPER,
        place="Table 7, Australian",
        sentence="S alone can need more SVMs than PGD without any part: on Australian 5980 instead of 3230.",
        setup=f"{_SETUP}; {_PARTS}",
        quick="data=liver",
        certified_rule=RULE,
        quantity=Ratio("svm_solves", _S, _PGD),
        decided_by=MoreThan(1.0),
        published={"australian": 5980 / 3230},
        variations=NEW_C,
        note="On the four other sets S alone saves most of the SVMs in the paper, too: partly is what it says itself."
        " On Australian the claim holds at C = 1, not at 100 or 1000: the paper does not tell its C.",
    ),
    PaperClaim(
        name="spg-table-7-adult",
        paper=PAPER,
        place="Table 7, Adult-1",
        sentence="On Adult-1 PGD solves 196 SVMs, with N and S 50.",
        setup=f"{_ADULT_1}; C=100; regularizer=lp-penalty:p=1.33; {_PARTS}",
        quick="train=0.02",
        certified_rule=RULE,
        quantity=Ratio("svm_solves", _PGD, _BOTH),
        decided_by=AtLeast(0.5),
        published={"adult": 196 / 50},
        variations=NEW_C,
        note="Which 50 kernels the paper had is not told: here they are Gaussians of five widths on ten drawn sets of"
        " features, on 1,608 people drawn from all, 651 of them in the quick set.",
    ),
)
