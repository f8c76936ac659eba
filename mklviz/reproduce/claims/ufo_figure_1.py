"""UFO-MKL, section 5.2 and figure 1: three classes at once need one of four kernels, one class against the rest two."""

from mklviz.reproduce import Alike, Mean, PaperClaim
from mklviz.reproduce.claims._ufo import PAPER

_DATA = "data=three_groups; split=0...4; kernels=gauss:1@0,1 gauss:1@2,3 gauss:1@4,5 gauss:1@6,7; C=100"
_RULE = "gap=1e-4; max-iter=500"

CLAIMS = (
    PaperClaim(
        name="ufo-figure-1-at-once",
        paper=PAPER,
        place="Section 5.2, figure 1",
        sentence="UFO-MKL selects only the fourth kernel.",
        setup=f"{_DATA}; loss=multiclass-hinge; regularizer=group-squared:alpha=200; solvers=ufo",
        certified_rule=_RULE,
        quantity=Mean("kernels", "ufo"),
        decided_by=Alike(0.5, of_published=True),
        published={"three_groups": 1.0},
        variations={"alpha = 20": "regularizer=group-squared:alpha=20"},
        note="The samples are drawn as the paper describes them; its own are not published, nor its alpha.",
    ),
    PaperClaim(
        name="ufo-figure-1-against-rest",
        paper=PAPER,
        place="Section 5.2, figure 1",
        sentence="Each of SILP's machines of one class against the rest picks two kernels.",
        setup=f'{_DATA}; positive="class 1","class 2","class 3"; solvers=silp',
        certified_rule=_RULE,
        quantity=Mean("kernels", "silp"),
        decided_by=Alike(0.5, of_published=True),
        published={f'three_groups, positive = "class {k}"': 2.0 for k in (1, 2, 3)},
        note="The samples are drawn as the paper describes them.",
    ),
)
