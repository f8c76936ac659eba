"""SpicyMKL, abstract and introduction: what it claims of thousands of kernels."""

from functools import partial

from mklviz.reproduce import DigitsPerStep, GrowthExponent, Mean, MoreThan, PaperClaim, Ratio, RatioAcross, Within

spicymkl_claim = partial(
    PaperClaim,
    paper="Suzuki, Tomioka, SpicyMKL: a fast algorithm for multiple kernel learning with thousands of kernels,"
    " Machine Learning 85, 2011",
    certified_rule="gap=1e-2; max-iter=100",
)
_SMALL, _SMALL_QUICK = "data=ionosphere,heart,liver; split=0...4", "data=heart,liver; split=0,1"
_digits_claim = partial(
    spicymkl_claim, quick=_SMALL_QUICK, certified_rule="gap=1e-1,1e-3,1e-6; max-iter=100", decided_by=MoreThan(1.0)
)
_SETUP = "data=ionosphere; split=0...4; C=100"
_THOUSANDS = "kernels=gauss@random:300"
_SIZES = "kernels=gauss@random:30|gauss@random:100|gauss@random:300"
_DATA_NOTE = "The introduction does not name the data; here it is half of Ionosphere, and the simplex."


def _faster(than: str, name: str) -> PaperClaim:
    return spicymkl_claim(
        name=f"spicymkl-faster-than-{than}",
        place="Abstract",
        sentence=f"With 1,000 kernels and more it is faster than {name}.",
        setup=f"{_SETUP}; {_THOUSANDS}; solvers=spicymkl silp simplemkl",
        quick="split=0; kernels=gauss@random:100",
        quantity=Ratio("time", than, "spicymkl"),
        decided_by=MoreThan(1.0),
        variations={"C = 1": "C=1", "the logistic loss": "loss=logistic"},
        note=f"{_DATA_NOTE} Full, with 3,000 kernels, quick, with 1,000.",
    )


CLAIMS = (
    spicymkl_claim(
        name="spicymkl-ten-seconds",
        place="Introduction",
        sentence="A classifier with 3,000 kernels is trained in less than 10 seconds.",
        setup=f"{_SETUP}; {_THOUSANDS}; solvers=spicymkl",
        quick="split=0,1",
        quantity=Mean("seconds", "spicymkl"),
        decided_by=Within(0.0, 10.0),
        published={"ionosphere": 10.0},
        note=f"{_DATA_NOTE} Machines of 2009 were some ten times slower.",
    ),
    _faster("silp", "SILP"),
    _faster("simplemkl", "SimpleMKL"),
    spicymkl_claim(
        name="spicymkl-growth",
        place="Abstract",
        sentence="Its cost is that of the active kernels, so that it scales well against the number of kernels.",
        setup=f"{_SETUP}; {_SIZES}|gauss@random:1000; solvers=spicymkl",
        quick=_SIZES,
        quantity=GrowthExponent("seconds", "spicymkl", "kernels"),
        decided_by=Within(0.0, 1.1),
        note="Few kernels of many have weight: 13 to 21 of 3,000.",
    ),
    _digits_claim(
        name="spicymkl-theorem-1",
        place="Theorem 1",
        sentence="It converges faster than linearly: a step wins more digits the closer it is to the optimum.",
        setup=f"{_SMALL}; loss=logistic; C=10; solvers=spicymkl",
        quantity=DigitsPerStep("steps", "spicymkl"),
        note="Its proximity parameter grows from step to step. Digits are those of the certified gap.",
    ),
    spicymkl_claim(
        name="spicymkl-hessian-growth",
        place="Introduction",
        sentence="HessianMKL scales badly against the number of kernels, as its program is of their size.",
        setup=f"{_SETUP}; kernels=gauss@random:10|gauss@random:30|gauss@random:100; solvers=newton:safeguard=false",
        quick="split=0,1; kernels=gauss@random:10|gauss@random:30",
        quantity=GrowthExponent("seconds", "newton:safeguard=false", "kernels"),
        decided_by=MoreThan(1.1),
        note="Growth that is about linear would be the cost of the kernels themselves.",
    ),
    _digits_claim(
        name="spicymkl-hessian-order",
        place="Introduction",
        sentence="HessianMKL converges with second order: a step wins more digits the closer it is to the optimum.",
        setup=f"{_SMALL}; C=100; solvers=newton:safeguard=false",
        quantity=DigitsPerStep("steps", "newton:safeguard=false"),
    ),
    spicymkl_claim(
        name="spicymkl-elastic-net",
        place="Introduction, section 4",
        sentence="With the elastic net it is faster than with the block 1-norm.",
        setup=f"{_SMALL}; loss=logistic; C=1; solvers=spicymkl; regularizer=block-l1|elastic-net",
        quick=_SMALL_QUICK,
        quantity=RatioAcross("seconds", ("spicymkl", "block-l1"), ("spicymkl", "elastic-net")),
        decided_by=MoreThan(1.0),
        note="The paper's program for the elastic net takes a single step: it minimizes the smooth dual at once.",
    ),
)
