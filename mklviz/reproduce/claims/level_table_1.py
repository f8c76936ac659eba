"""Level method, table 1: SD, SILP and Level predict alike and keep about as many kernels, SILP the fewest."""

from mklviz.reproduce import Alike, MeanDifference, MoreThan, PaperClaim
from mklviz.reproduce.claims._level import level_claim

_ACCURACY = {  # of SD, SILP and Level, in per cent
    "ionosphere": (92.1, 92.0, 92.1),
    "breast": (96.6, 96.6, 96.6),
    "pima": (76.9, 76.9, 76.9),
    "sonar": (79.1, 79.3, 79.0),
    "wpbc": (77.0, 76.9, 76.9),
    "heart": (82.2, 82.2, 82.2),
    "vote": (95.7, 95.7, 95.7),
    "wdbc": (96.7, 96.5, 96.7),
}
_KERNELS = {
    "ionosphere": (26.9, 24.4, 25.4),
    "breast": (13.1, 10.6, 13.3),
    "pima": (16.6, 12.0, 17.6),
    "sonar": (39.8, 34.2, 38.6),
    "wpbc": (19.5, 17.2, 20.3),
    "heart": (17.5, 15.2, 18.6),
    "vote": (14.0, 10.6, 13.8),
    "wdbc": (16.6, 12.9, 15.6),
}
SD, SILP, LEVEL = range(3)
POINT = 1.0  # per cent of accuracy, less than the standard deviation over the paper's splits


def _accuracy(name: str, solver: str, column: int) -> PaperClaim:
    return level_claim(
        name=f"level-table-1-accuracy-{name}",
        place="Table 1",
        sentence=f"Level and {name.upper()} predict equally well.",
        quantity=MeanDifference("score", "level", solver),
        decided_by=Alike(POINT),
        published={data: row[LEVEL] - row[column] for data, row in _ACCURACY.items()},
    )


CLAIMS = (
    _accuracy("sd", "simplemkl", SD),
    _accuracy("silp", "silp", SILP),
    level_claim(
        name="level-table-1-kernels-silp",
        place="Table 1",
        sentence="SILP keeps fewer kernels than Level, by one to six.",
        quantity=MeanDifference("kernels", "level", "silp"),
        decided_by=MoreThan(0.0),
        published={data: row[LEVEL] - row[SILP] for data, row in _KERNELS.items()},
    ),
    level_claim(
        name="level-table-1-kernels-sd",
        place="Table 1",
        sentence="Level and SD keep about as many kernels, two more or less.",
        quantity=MeanDifference("kernels", "level", "simplemkl"),
        decided_by=Alike(2.0),
        published={data: row[LEVEL] - row[SD] for data, row in _KERNELS.items()},
    ),
)
