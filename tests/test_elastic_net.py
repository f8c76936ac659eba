"""An elastic net that squares the sum of norms, whose weights have a formula, is ours with other prices.

    min over f   mu/2 (sum ||f_k||)^2 + (1 - mu)/2 sum ||f_k||^2 + loss
      = min over d in the simplex   1/2 sum (mu / d_k + 1 - mu) ||f_k||^2 + loss,      d_k = ||f_k|| / sum ||f||

so the SVM has the weights d_k / (mu + (1 - mu) d_k); at the optimum the slope of mu/2 S^2 is mu S, the price l1.

ENMKL (Mourão-Miranda and others, Elastic-net multiple kernel learning, arXiv 2512.11547) takes this step, with l_k for
sqrt(mu) ||w_k|| / (mu S): d_k = 1 / (sqrt(mu) / l_k + 1 - mu), as the authors' toolbox PRoNTo has it.
"""

from __future__ import annotations

import numpy as np
import pytest
from _formulations import targets, tiny_bank

from mklviz.engine import solve
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import ElasticNet, Hinge, Loss, Problem, Simplex, Squared


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("loss", [Hinge(2.0), Squared(0.5)], ids=repr)
def test_the_formula_for_its_weights_ends_at_our_optimum(loss: Loss, mu: float) -> None:
    y = targets(loss.regression)
    oracle = SvmOracle(Problem(tiny_bank(), y, loss, Simplex()), 1e-10)
    d = np.full(4, 0.25)
    for _ in range(2000):  # a kernel that the optimum leaves out only fades
        weights = d / (mu + (1.0 - mu) * d)
        point = oracle.solve(weights)
        norms = weights * np.sqrt(np.maximum(point.s, 0.0))
        d = norms / norms.sum()
    total = float(norms.sum())
    value = 0.5 * mu * total**2 + 0.5 * (1.0 - mu) * float(norms @ norms) + loss.primal(point.scores, y)[0]
    ours = solve(Problem(tiny_bank(), y, loss, ElasticNet(mu * total, 1.0 - mu)), "spg", gap=1e-8, max_iter=3000)
    # l1 S is twice the half squared sum that it stands for
    assert ours.best.objective == pytest.approx(value + 0.5 * mu * total**2, rel=1e-6)
    # weights are as exact as the root of a gap of 1e-8
    np.testing.assert_allclose(ours.best.weights, d / (mu + (1.0 - mu) * d), atol=2e-3)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0 - 1e-9])
def test_a_step_of_enmkl_is_that_of_an_elastic_net_with_the_price_of_the_present_norms(mu: float) -> None:
    norms = np.random.default_rng(0).exponential(size=20)
    total = float(norms.sum())
    shares = norms / (np.sqrt(mu) * total)
    published = 1.0 / (np.sqrt(mu) / shares + (1.0 - mu))
    np.testing.assert_allclose(ElasticNet(mu * total, 1.0 - mu).weights_from_norms(norms), published, rtol=1e-12)
