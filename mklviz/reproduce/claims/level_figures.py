"""Level method, figures 1 and 2: the objective falls fastest with Level, and its kernel weights do not oscillate."""

from mklviz.reproduce import MoreThan, PaperClaim, Ratio, Within
from mklviz.reproduce.claims._level import level_claim

_STEPS = "Counted in steps of the weights until the stop rule: the curves are drawn over the seconds of one machine."
_MOVED = "How often all of the weight was moved from some kernels to others, until the stop rule."


def _moves(name: str, solver: str, sentence: str, more: float) -> PaperClaim:
    return level_claim(
        name=f"level-figure-2-{name}",
        place="Figure 2",
        sentence=sentence,
        quantity=Ratio("moved", solver, "level"),
        decided_by=MoreThan(more),
        note=_MOVED,
    )


CLAIMS = (
    level_claim(
        name="level-figure-1-silp",
        place="Figure 1",
        sentence="SILP has a long tail: it takes many more steps than Level to the same gap.",
        quantity=Ratio("steps", "silp", "level"),
        decided_by=MoreThan(2.0),
        note=_STEPS,
    ),
    level_claim(
        name="level-figure-1-sd",
        place="Figure 1, Section 4.2",
        sentence="SD and Level take similar numbers of steps; SD loses its time in line searches.",
        quantity=Ratio("steps", "level", "simplemkl"),
        decided_by=Within(0.5, 2.0),
        note=_STEPS,
    ),
    _moves("silp", "silp", "SILP's kernel weights oscillate, while those of Level change smoothly.", 5.0),
    _moves("sd", "simplemkl", "SD's kernel weights fluctuate more than those of Level.", 1.0),
)
