"""UFO-MKL, section 5.4 and figure 3: times with up to 1,400 kernels of flowers."""

from mklviz.reproduce import PaperClaim
from mklviz.reproduce.claims._ufo import PAPER

CLAIMS = (
    PaperClaim(
        name="ufo-figure-3",
        paper=PAPER,
        place="Section 5.4, figure 3",
        sentence="With 1,400 kernels of Oxford Flowers UFO-MKL is 3 to 5 times faster than OBSCURE.",
        untestable="The distance matrices of Oxford Flowers are not to be had here; see ufo-figure-2-end for OBSCURE.",
    ),
)
