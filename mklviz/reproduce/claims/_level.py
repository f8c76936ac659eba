"""What the experiments of the Level paper have in common: data, splits, kernels, C, and the stop rule."""

from functools import partial

from mklviz.reproduce.claim import PaperClaim

__all__ = ["level_claim"]

level_claim = partial(
    PaperClaim,
    paper="Xu, Jin, King, Lyu, An extended level method for efficient multiple kernel learning, NIPS 2008",
    setup="data=ionosphere,breast,pima,sonar,wpbc,heart,vote,wdbc; split=0...19; solvers=silp,level,simplemkl; C=100",
    quick="data=heart,vote; split=0...4",
    paper_rule="gap=none; iterate-gap=1e-2; max-iter=500",  # relative: an absolute 0.01 would be 3e-6 of the objective
)
