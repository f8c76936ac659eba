"""Level method, table 2: what Level saves of the time of SILP and of SD, which is SimpleMKL's toolbox.

Published are shares of time saved; a share of 90 % is a ratio of 10.
"""

from mklviz.reproduce import AtLeast, PaperClaim, Ratio
from mklviz.reproduce.claims._level import PAPER, SETTING

_SAVED = {  # by SILP and by SD
    "ionosphere": (0.994, 0.789),
    "breast": (0.916, 0.904),
    "pima": (0.854, 0.770),
    "sonar": (0.987, 0.587),
    "wpbc": (0.887, 0.325),
    "heart": (0.973, 0.547),
    "vote": (0.845, 0.828),
    "wdbc": (0.894, 0.874),
}
_NOTE = (
    "The paper's times are those of MATLAB and MOSEK, which solves SILP's linear programs and Level's projections; here"
    " both are much cheaper, so a smaller share of the time is SILP's."
)


def _claim(name: str, solver: str, measure: str, sentence: str, column: int) -> PaperClaim:
    return PaperClaim(
        name=f"level-table-2-{name}",
        place="Table 2",
        sentence=sentence,
        quantity=Ratio(measure, solver, "level"),
        decided_by=AtLeast(0.5),
        published={data: 1.0 / (1.0 - saved[column]) for data, saved in _SAVED.items()},
        note=_NOTE,
        paper=PAPER,
        **SETTING,
    )


CLAIMS = (
    _claim("silp", "silp", "time", "Level takes 8 % of SILP's time on average.", 0),
    _claim("sd", "simplemkl", "time", "Level takes 30 % of the time of SD (SimpleMKL) on average.", 1),
)
