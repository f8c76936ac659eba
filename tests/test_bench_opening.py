"""The benchmark of the page compares like with like: what a server does for a visitor, beside a bare page."""

from __future__ import annotations

import pytest

from mklviz.bench import screen
from mklviz.bench._suite import Bench
from mklviz.bench.screen import Size, bare_page, chromium, opened, page_rows


def test_a_page_is_weighed_by_its_models_components_and_bytes() -> None:
    bare = opened(bare_page)
    assert bare.components == 1 + screen.INPUTS  # the shell and its inputs
    assert bare.models > 2 * bare.components  # each has its data, and there is a figure
    assert bare.nbytes > 10_000
    assert str(Size(63, 13, 181_721)) == "63 models, 13 components, 182 kB"


def test_the_dashboard_is_compared_with_the_bare_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "dashboard", bare_page)
    first, row = page_rows(Bench(repeats=1))
    assert (first.ours, first.other, first.goal) == ("start page", "bare page", 0.25)
    assert (row.ours, row.other, row.goal) == ("dashboard", "bare page", 0.25)
    assert row.note.startswith(str(opened(bare_page)).split(",")[0])
    assert row.least <= row.ratio <= row.most


def test_without_a_browser_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MKLVIZ_CHROMIUM", raising=False)
    monkeypatch.setattr(screen.shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="No browser: neither MKLVIZ_CHROMIUM nor"), chromium():
        pass
