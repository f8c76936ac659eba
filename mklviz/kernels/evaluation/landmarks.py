"""Landmarks for Nyström approximations: points that stand for all others.

k-means++ draws each with probability proportional to the squared distance from those drawn before, and a few Lloyd
steps move them to the means of what is nearest to them. Leverage draws points with probability proportional to
their ridge leverage scores

    l_i = (K (K + lambda I)^-1)_ii  ~  (K_ii - K_iS (K_SS + p lambda I)^-1 K_Si) / lambda,

estimated from a first, uniform draw S of the share p of them. Both look at a sample of some ten thousand points.

References: Arthur, Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007; Zhang, Tsang, Kwok, Improved
Nyström low-rank approximation and error analysis, ICML 2008; Musco, Musco, Recursive sampling for the Nyström method,
NIPS 2017, section 3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mklviz.context.cancelling import checkpoint
from mklviz.errors import KernelError
from mklviz.kernels.families._family import squared_distances
from mklviz.typing import Array

__all__ = ["CHOICES", "by_distance", "by_leverage", "check_landmarks"]

Between = Callable[[Array, Array], Array]

CHOICES = {"kmeans++": "k-means++", "leverage": "leverage scores"}
SAMPLE = 16_384  # points looked at, or SHARE times the landmarks if that is more
SHARE = 20
LLOYD_STEPS = 5


def check_landmarks(landmarks: int, choice: str) -> None:
    """Raise `KernelError` unless there can be so many landmarks, chosen in that way."""
    if isinstance(landmarks, bool) or not isinstance(landmarks, (int, np.integer)) or landmarks < 1:
        raise KernelError(f"landmarks must be a whole number of at least 1, such as 200, not {landmarks!r:.80}.")
    if choice not in CHOICES:
        raise KernelError(f"Landmarks are chosen by {' or '.join(CHOICES)}, not by {choice!r:.80}.")


def sample(points: Array, landmarks: int, rng: np.random.Generator) -> Array:
    """Return different rows of `points`, so many of them that landmarks are well chosen among them."""
    size = max(SAMPLE, SHARE * landmarks)
    if len(points) > size:
        points = points[np.sort(rng.permutation(len(points))[:size])]
    return np.unique(points, axis=0)


def by_distance(points: Array, landmarks: int, rng: np.random.Generator) -> Array:
    """Return landmarks by k-means++ and Lloyd steps, at most `landmarks` of them; all points where they are so few."""
    seen = sample(points, landmarks, rng)
    if len(seen) <= landmarks:
        return seen
    centres = seen[_seeds(seen, landmarks, rng)]
    for _ in range(LLOYD_STEPS):
        checkpoint()
        nearest = squared_distances(seen, centres).argmin(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, seen)
        counts = np.bincount(nearest, minlength=len(centres))
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def _seeds(points: Array, count: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(points)))]
    distance = squared_distances(points, points[chosen])[:, 0]
    while len(chosen) < count:
        if len(chosen) % 32 == 0:
            checkpoint()
        following = int(np.searchsorted(np.cumsum(distance), rng.random() * distance.sum()))
        chosen.append(min(following, len(points) - 1))
        distance = np.minimum(distance, squared_distances(points, points[chosen[-1:]])[:, 0])
    return chosen


def by_leverage(points: Array, landmarks: int, rng: np.random.Generator, between: Between, own: Array) -> Array:
    """Return at most `landmarks` of the points, drawn by estimated ridge leverage scores.

    `points` (n, d): different points, from `sample`; `between`: the mean of the kernels on these features between two
    tables of points; `own` (n,): its value between each point and itself.
    """
    if len(points) <= landmarks:
        return points
    first = rng.permutation(len(points))[:landmarks]
    across = between(points, points[first])
    inside = across[first]
    spectrum = np.linalg.eigvalsh(inside)[::-1]
    # the ridge that leaves a quarter of the draw as effective dimensions: Musco and Musco ask for log factors more
    ridge = max(float(spectrum[len(spectrum) // 4 :].sum()) / max(landmarks // 4, 1), 1e-10 * float(spectrum[0]))
    ridge *= len(points) / landmarks
    solved = cho_solve(cho_factor(inside + ridge * landmarks / len(points) * np.eye(landmarks), lower=True), across.T)
    scores = np.maximum(own - (across * solved.T).sum(1), 1e-12 * own.max()) / ridge
    return points[np.sort(rng.choice(len(points), landmarks, replace=False, p=scores / scores.sum()))]
