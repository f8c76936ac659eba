"""Shares and ticks are written as people write numbers: no powers of ten where decimals can be read."""

from __future__ import annotations

import pytest

from mklviz.numbers import share_text
from mklviz.views.chart.axes import tick_text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-6, "0.0001 %"),
        (2.34e-8, "0.0000023 %"),
        (1e-9, "under 0.000001 %"),
        (0.0123, "1.2 %"),
        (0.0996, "10 %"),
        (0.45, "45 %"),
        (12.0, "1,200 %"),
        (-0.02, "-2 %"),
    ],
)
def test_a_share_is_written_in_per_cent_without_powers_of_ten(share: float, text: str) -> None:
    assert share_text(share) == text


@pytest.mark.parametrize(("share", "text"), [(1e-6, "0.0001 %"), (1e-8, "0.000001 %"), (1e-10, "10⁻⁸ %")])
def test_ticks_have_raised_powers_only_where_decimals_would_be_long(share: float, text: str) -> None:
    assert tick_text(share, "percent") == text
