"""What the experiments of the first SimpleMKL paper have in common: data, splits, C, and the stop rule."""

from functools import partial

from mklviz.reproduce.claim import PaperClaim

__all__ = ["OURS", "SETUP", "simplemkl_claim"]

OURS = "simplemkl:variant=armijo"  # what the paper calls “our”
SETUP = f"data=liver,pima,australian,ionosphere,sonar; split=0...19; solvers=silp,{OURS}; C=100"

simplemkl_claim = partial(
    PaperClaim,
    paper="Rakotomamonjy, Bach, Canu, Grandvalet, More efficiency in multiple kernel learning, ICML 2007",
    setup=SETUP,
    quick="data=liver,pima; split=0...4",
    paper_rule="gap=none; weight-change=0.01; max-iter=500",
)
