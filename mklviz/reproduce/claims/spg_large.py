"""The SPG-GMKL paper (KDD 2012) on large data, as far as one machine goes: growth of time, Adult, Letter, Covertype."""

from mklviz.reproduce import Alike, GrowthExponent, Mean, MoreThan, PaperClaim, Ratio, Within
from mklviz.reproduce.claims.spg import PRODUCT_RULE, parts, product_claim, spg_claim, sum_claim

# Figure 2 and section 5.5: SPG's time grows linearly with kernels, less than quadratically with samples.
_FIGURE_2 = (
    spg_claim(
        name="spg-figure-2-samples",
        place="Figure 2, Adult",
        sentence="On Adult the time grows as the 1.98th power of the number of samples.",
        setup="data=adult; split=0...4; train=0.0125,0.025,0.05,0.1,0.2; standardize=false; C=1; normalize=none;"
        " kernels=gauss:2^-4...2^5; regularizer=lp-penalty:p=1.33; solvers=spg",
        quick="train=0.0125,0.025,0.05",
        certified_rule="gap=1e-2; max-iter=200",
        quantity=GrowthExponent("seconds", "spg", "samples"),
        decided_by=Alike(0.5, of_published=True),
        published={"adult": 1.98},
        variations={"C = 100": "C=100"},
        note="Up to 6,512 people of 32,561. The published exponent is what the authors read off the figure.",
    ),
    spg_claim(
        name="spg-figure-2-kernels",
        place="Figure 2, Sonar",
        sentence="The time grows linearly with the number of kernels.",
        setup="data=sonar; split=0...4; train=0.8; C=100; regularizer=lp-penalty:p=1.33; solvers=spg;"
        " kernels=gauss@random:30|gauss@random:100|gauss@random:300|gauss@random:1000|gauss@random:3000",
        quick="split=0; kernels=gauss@random:30|gauss@random:100|gauss@random:300",
        certified_rule="gap=1e-2; max-iter=200",
        quantity=GrowthExponent("seconds", "spg", "kernels"),
        decided_by=Within(0.0, 1.1),
        published={"sonar": 1.0},
        note="Up to 30,000 kernels; the paper has a million. Growth that is slower than linear reproduces it as well:"
        " few kernels cost little beside the SVMs.",
    ),
    spg_claim(
        name="spg-figure-2-pgd",
        place="Figure 2, section 5.5",
        sentence="PGD's time grows with the number of kernels as SPG's does.",
        setup="data=sonar; split=0...4; train=0.8; C=100; regularizer=lp-penalty:p=1.33; solvers=pgd;"
        " kernels=gauss@random:30|gauss@random:100|gauss@random:300",
        quick="split=0; kernels=gauss@random:30|gauss@random:100",
        certified_rule="gap=1e-2; max-iter=200",
        quantity=GrowthExponent("seconds", "pgd", "kernels"),
        decided_by=Within(0.0, 1.1),
        published={"sonar": 1.0},
    ),
    spg_claim(
        name="spg-figure-2-web",
        place="Figure 2, Web",
        sentence="On Web the time grows as the 1.52th power of the number of samples.",
        untestable="Platt's Web pages have no licence that lets them be shipped.",
    ),
)


# Table 11: what tuning the precision of the SVMs adds to N and S on large data.
_N_AND_S = parts(True, True)
_SETUP_TABLE_11 = (
    "data=adult; split=0...4; train=0.2; standardize=false; kernels=gauss:1,2,4,8,16@random:10; C=100;"
    f" regularizer=lp-penalty:p=1.33; solvers=pgd {_N_AND_S} spg"
)
_NOTE = (
    "Adult-9 has 32,561 people in the paper; here it is a fifth of them, in the quick set 651. Tuning pays where SVMs"
    " are dear: on one split the ratio was 0.72 with 1,628 people, where it is 0.56 with 651."
)


def _claim_table_11(name: str, sentence: str, first: str, second: str, published: float) -> PaperClaim:
    return sum_claim(
        name=f"spg-table-11-{name}",
        place="Table 11, Adult-9",
        sentence=sentence,
        setup=_SETUP_TABLE_11,
        quick="split=0,1; train=0.02",
        quantity=Ratio("time", first, second),
        published={"adult": published},
        note=_NOTE,
    )


_TABLE_11 = (
    _claim_table_11("precision", "Tuning the SVM's precision nearly halves the time.", _N_AND_S, "spg", 8.33 / 4.43),
    _claim_table_11("parts", "N and S cut PGD's time to a quarter.", "pgd", _N_AND_S, 31.77 / 8.33),
    spg_claim(
        name="spg-table-11-web",
        place="Table 11, Web-8 and Sonar100K",
        sentence="On Web-8 and on Sonar with 100,000 kernels tuning the precision saves a third to a half of the time.",
        untestable="Platt's Web pages have no licence that lets them be shipped, and 100,000 kernels take hours.",
    ),
)


# Tables 3, 6, 8 and 10: large data, on the scale of one machine.
_LETTER = "data=letter; split=0...4; train=0.1; combination=product; C=10; solvers=pgd,spg; regularizer="
_SIZES = {
    "adult": "Adult-9 has 32,561 people in the paper; here it is a fifth of them, in the quick set 651.",
    "letter": "The paper has all 20,000 letters; here it is a tenth of them, in the quick set 400.",
}


def _large(table: int, data: str, setup: str, sentence: str, published: float) -> PaperClaim:
    return (sum_claim if data == "adult" else product_claim)(
        name=f"spg-table-{table}",
        place=f"Table {table}, {data.title()}",
        sentence=sentence,
        setup=setup,
        quick=f"split={'0' if data == 'adult' else '0,1'}; train=0.02",
        published={data: published},
        note=_SIZES[data],
    )


_L1_ADULT = _SETUP_TABLE_11.replace("lp-penalty:p=1.33", "l1-penalty")
_LARGE = (
    _large(3, "adult", _SETUP_TABLE_11, "On Adult-9 SPG is 7 times faster than PGD.", 31.77 / 4.42),
    _large(6, "adult", _L1_ADULT, "With the l1 norm SPG is 8 times faster than PGD on Adult-9.", 35.84 / 4.55),
    _large(8, "letter", f"{_LETTER}lp-penalty:p=1.33", "On Letter SPG is 29 times faster than PGD.", 18.89 / 0.66),
    _large(10, "letter", f"{_LETTER}l1-penalty", "On Letter SPG is 28 times faster than PGD.", 18.66 / 0.67),
    spg_claim(
        name="spg-table-3-sonar",
        place="Table 3, Sonar1M",
        sentence="SPG converges on a million kernels.",
        setup="data=sonar; split=0...4; train=0.8; C=100; regularizer=lp-penalty:p=1.33; solvers=spg;"
        " kernels=gauss@random:100000",
        quick="split=0; kernels=gauss@random:1000",
        certified_rule="gap=1e-2; max-iter=200",
        quantity=Mean("gap", "spg"),
        decided_by=Within(0.0, 1e-2),
        note="The quick set has 10,000 kernels, not a million.",
    ),
    spg_claim(
        name="spg-table-3-others",
        place="Tables 3, 6, 8 and 10",
        sentence="On six other sets and on a million kernels of Sonar PGD is slower or fails.",
        untestable="Cod-RNA, KDDCup04, Real-Sim, Poker, Web and RCV1 are not shipped, and PGD, which fails there, would"
        " take hours on a million kernels.",
    ),
)


# Sections 4 and 5.1.
def _covertype(name: str, sentence: str, measure: str, published: float) -> PaperClaim:
    return sum_claim(
        name=f"spg-text-covertype-{name}",
        place="Section 5.1, Covertype",
        sentence=sentence,
        setup="data=covertype_like; split=0...4; train=0.005; C=100; kernels=gauss:1,2,4,8,16@all;"
        " regularizer=lp-penalty:p=1.33; solvers=spg",
        quick="split=0; train=0.001",
        quantity=Mean(measure, "spg"),
        decided_by=Within(0.0, published),  # no more than the paper says
        published={"covertype_like": published},
        note="Synthetic data in Covertype's shape, of which 2,905 samples are learned from, in the quick set 581; the"
        " paper takes all 581,012. A fit is an SVM with the mean kernel, that kernel included.",
    )


_TEXTS = (
    _covertype("svms", "SPG converges on Covertype with 26 SVMs.", "svm_solves", 26.0),
    _covertype("time", "They take 64 hours, and the first of them alone 44.", "fits", 64.46 / 44.0),
    sum_claim(
        name="spg-text-projected-gradient",
        place="Section 4",
        sentence="On large data the norm of the projected gradient becomes small while the gap is large.",
        setup=_SETUP_TABLE_11.replace(f"pgd {_N_AND_S} spg", "spg"),
        quick="split=0; train=0.02",
        paper_rule=PRODUCT_RULE,
        certified_rule="",
        quantity=Mean("gap", "spg"),
        decided_by=MoreThan(1e-3),
        note=f"A gap is large that exceeds the 1e-3 at which the paper's program ends. {_SIZES['adult']}",
    ),
)


CLAIMS = (*_FIGURE_2, *_TABLE_11, *_LARGE, *_TEXTS)
