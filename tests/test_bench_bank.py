"""The benchmark of the kernel bank compares answers to the same question; small cases only, and no time is judged."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import dense

from mklviz.bench import bank as suite
from mklviz.bench._suite import Bench
from mklviz.kernels import KernelBank, paper_bank

X = np.random.default_rng(4).normal(size=(20, 2))


def test_the_rows_say_what_was_compared_and_which_have_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "TABLES", ("liver",))
    monkeypatch.setattr(suite, "QUICK", (40, 3))
    rows = list(suite.measure(Bench(quick=True, repeats=1)))
    assert [row.name for row in rows[:4]] == [
        *(f"liver, {what}" for what in ("gradient", "combine", "prepare")),
        "gradient, median of 1 tables",
    ]
    goals = {(row.name, row.other): row.goal for row in rows if row.goal is not None}
    assert goals == {
        ("gradient, median of 1 tables", "packed GEMV"): 5.0,
        ("dense, gradient, double", "reading the memory"): 0.8,
        ("dense, combine, double", "reading the memory"): 0.8,
    }
    assert all(row.ratio > 0.0 for row in rows)
    assert (rows[0].n, rows[0].m) == (172, 91)


def test_plain_kernels_and_packed_triangles_are_those_of_the_bank() -> None:
    bank = paper_bank(X)
    plain = np.array(suite._plain_bank(X))
    np.testing.assert_allclose(plain, dense(bank), atol=1e-13)
    v = np.linspace(-1.0, 1.0, 20)
    np.testing.assert_allclose(suite._packed(plain) @ suite._paired(v), bank.quad(v), atol=1e-13)


def test_every_question_is_asked_of_the_bank_it_names() -> None:
    bank = KernelBank.from_grams(dense(paper_bank(X))[:3])
    v, weights, out = np.ones(20), np.ones(3), np.empty((20, 20))
    asked = suite._questions("double", bank, v, weights, out)
    assert list(asked) == ["gradient, double", "combine, double", "products, double"]
    gradient, combined, products = (ask() for ask in asked.values())
    assert combined is out
    np.testing.assert_allclose(np.asarray(products) @ v, gradient)
    assert v @ out @ v == pytest.approx(float(np.sum(gradient)))
