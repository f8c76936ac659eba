"""What the finished members of a sweep say together; numpy and scipy alone, and every draw is seeded."""

from mklviz.sweeps.statistics.differences import Difference, paired_differences
from mklviz.sweeps.statistics.growth import Growth, growths
from mklviz.sweeps.statistics.measures import MEASURES, Measure, measure_of
from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.sweeps.statistics.profiles import PerformanceProfile, pair_profile, performance_profile
from mklviz.sweeps.statistics.spread import Spread, spreads

__all__ = [
    "MEASURES",
    "Difference",
    "Growth",
    "Measure",
    "Outcomes",
    "PerformanceProfile",
    "Spread",
    "growths",
    "measure_of",
    "pair_profile",
    "paired_differences",
    "performance_profile",
    "spreads",
]
