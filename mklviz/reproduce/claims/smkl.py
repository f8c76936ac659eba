"""SMKL: few kernels, chosen by best responses, beside MKL on the simplex and EasyMKL."""

from functools import partial

from mklviz.reproduce import MeanDifference, MoreThan, PaperClaim

_K0 = 5
_SMKL = f"smkl:k0={_K0}"

_claim = partial(
    PaperClaim,
    paper=(
        "Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning: alternating best response and semidefinite"
        " relaxations, TMLR 2025"
    ),
    place="Abstract",
    setup=(
        "data=australian,breast,german,heart,ionosphere,liver,pima,sonar,wdbc,wpbc; split=0...19; C=100;"
        f" regularizer=simplex-ridge:lam=1000; solvers={_SMKL}"
    ),
    beside="regularizer=simplex; solvers=spg,easymkl",
    quick="data=heart,liver; split=0,1",
    paper_rule="gap=1e-3; max-iter=50",
    certified_rule="",
    decided_by=MoreThan(0.0),
    variations={"C = 10": "C=10"},
    note=(
        f"At most {_K0} kernels of those of the Level paper, where the paper has its own and chooses C, the price and"
        " the number of kernels by cross-validation; features are standardized. Does learning the kernel pay?"
        " compares SMKL with an SVM whose C and kernel are chosen."
    ),
)

CLAIMS = (
    _claim(
        name="smkl-accuracy-mkl",
        sentence="It predicts better than multiple kernel learning does, by 3 to 4 points over ten sets.",
        quantity=MeanDifference("score", _SMKL, "spg"),
    ),
    _claim(
        name="smkl-accuracy-easymkl",
        sentence="It predicts better than EasyMKL.",
        quantity=MeanDifference("score", _SMKL, "easymkl"),
    ),
)
