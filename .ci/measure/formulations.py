"""What the formulations beyond the simplex cost: lp norms, thousands of kernels, and UFO-MKL beside SILP.

    python .ci/measure formulations [lp] [spicy] [ufo] [--json FILE]

Without a part, all three are measured, which takes the better part of an hour. CPU seconds of the solver alone, BLAS
on one thread; the methods of one problem run one after the other in one process, so the ratios hold whatever else the
machine does.
What the columns mean is said by the modules `lp`, `spicy` and `ufo`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from measure.lp import measure_lp
from measure.report import Row, parser, print_rows, write_json
from measure.spicy import exponents, measure_spicy
from measure.ufo import measure_ufo

__all__ = ["main"]

PARTS = ("lp", "spicy", "ufo")


def main(arguments: Sequence[str]) -> None:
    """Measure and print the parts asked for."""
    known = parser("formulations", __doc__)
    known.add_argument("parts", nargs="*", metavar="part", help=f"what to measure: {', '.join(PARTS)}; all by default")
    known.add_argument("--json", type=Path, metavar="FILE", help="write the tables there as well")
    chosen = known.parse_args(arguments)
    unknown = [part for part in chosen.parts if part not in PARTS]
    if unknown:
        known.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    tables: dict[str, list[Row]] = {}
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
