"""What the finished members of a sweep say together; numpy and scipy alone, and every draw is seeded."""

from mklviz.sweeps.statistics.intervals import (
    Difference,
    Growth,
    PerformanceProfile,
    Spread,
    growths,
    pair_profile,
    paired_differences,
    performance_profile,
    spreads,
)
from mklviz.sweeps.statistics.outcomes import MEASURES, Measure, Outcomes, measure_of

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
