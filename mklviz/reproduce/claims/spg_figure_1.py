"""SPG-GMKL, figure 1: the objective falls fast, long before the gap is small."""

from mklviz.reproduce import MoreThan, PaperClaim, Ratio
from mklviz.reproduce.claims._spg import PAPER, SETS

CLAIMS = (
    PaperClaim(
        name="spg-figure-1",
        paper=PAPER,
        place="Figure 1",
        sentence="SPG's first steps are much quicker than PGD's, so that it comes near the optimum much earlier.",
        setup=f"{SETS}; C=100; regularizer=lp-penalty:p=1.33; solvers=pgd,spg",
        quick="data=liver,wpbc",
        certified_rule="gap=1e-1; max-iter=200",
        quantity=Ratio("time", "pgd", "spg"),
        decided_by=MoreThan(1.0),
        note="The figure shows Adult, Web and Sonar with 20,000 kernels; here the time to a gap of a tenth is measured"
        " on the small sets.",
    ),
    PaperClaim(
        name="spg-figure-1-below",
        paper=PAPER,
        place="Figure 1, Web",
        sentence="On Web the objective seems to fall below its minimum, as the SVMs are inexact.",
        untestable="Objectives here are certified upper bounds, which inexact SVMs cannot make too small.",
    ),
)
