"""What the formulations beyond the simplex cost: lp norms, thousands of kernels, and UFO-MKL beside SILP.

    python -m mklviz.bench.formulations [lp] [spicy] [ufo] [--json FILE]

Without a part, all three are measured, which takes the better part of an hour. CPU seconds of the solver alone, BLAS
on one thread; the methods of one problem run one after the other in one process, so the ratios hold whatever else the
machine does.
What the columns mean is told by `LpRow`, `SpicyRow` and `UfoRow` of `_lp`, `_spicy` and `_ufo`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklviz.bench._lp import LpRow, measure_lp
from mklviz.bench._spicy import ExponentRow, SpicyRow, exponents, measure_spicy
from mklviz.bench._table import print_rows, write_json
from mklviz.bench._ufo import UfoRow, measure_ufo

__all__ = [
    "ExponentRow",
    "LpRow",
    "SpicyRow",
    "UfoRow",
    "exponents",
    "main",
    "measure_lp",
    "measure_spicy",
    "measure_ufo",
]

PARTS = ("lp", "spicy", "ufo")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m mklviz.bench.formulations", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"what to measure: {', '.join(PARTS)}; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there as well")
    chosen = parser.parse_args(arguments)
    unknown = [part for part in chosen.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    tables: dict[str, list[Any]] = {}
    for part in chosen.parts or PARTS:
        if part == "lp":
            tables["lp"] = print_rows(measure_lp())
        elif part == "ufo":
            tables["ufo"] = print_rows(measure_ufo())
        else:
            tables["spicy"] = print_rows(measure_spicy())
            print()
            tables["exponents"] = print_rows(exponents(tables["spicy"]))
        print()
        if chosen.json is not None:  # after each part, as they take long
            write_json(chosen.json, tables)


if __name__ == "__main__":
    main()
