r"""Losses of scores, and the multipliers with which they prove bounds.

Scores are :math:`f_{ia} = M_{ia} + b_i + d_a`. Each loss is a maximum over multipliers of terms
that are linear in the scores, so any multipliers bound it from below (``program``).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array

_EPS = float(np.finfo(float).eps)


class LinearTerms(NamedTuple):
    r"""Linear terms below the penalized loss.

    For any t from 0 to ``most`` the loss times its penalty is at least
    :math:`t\,\text{linear} - t^2\,\text{quadratic} - t \langle P, f \rangle`.
    """

    P: Array
    linear: float
    quadratic: float
    most: float


class SquaredLoss:
    r""":math:`\tfrac12 \sum (r_{ia} - f_{ia})^2` of targets r, whose multipliers are residuals."""

    n_thresholds = 0

    def __init__(self, targets: Array) -> None:
        self.targets = targets

    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Value of the loss, which is smooth, and its gradients in scores and thresholds."""
        missed = scores - self.targets
        return 0.5 * float(missed @ missed), missed, thresholds

    def value(self, scores: Array, thresholds: Array) -> float:
        """Value of the loss."""
        return self.smooth(scores, thresholds, 0.0)[0]

    def best_thresholds(self, scores: Array) -> Array:
        """No thresholds."""
        return np.zeros(0)

    def terms(self, multipliers: Array, c: float) -> LinearTerms:
        """Linear terms of any multipliers P at the penalty c."""
        P, rounding = multipliers, multipliers.size * _EPS
        linear = float(P @ self.targets - rounding * (np.abs(P) @ np.abs(self.targets)))
        return LinearTerms(P, linear, float(P @ P) / (2.0 * c), np.inf)


class Hinge:
    r""":math:`\sum_{ia} \sum_t \max(0, 1 - T_{iat} (f_{ia} - \theta_t))` of signs T.

    Parameters
    ----------
    signs : array of shape (m, n)
        T: 1 where an entry lies above the threshold t, else -1.
    is_free : bool
        Whether thresholds are free; else there is one, fixed at zero.
    """

    def __init__(self, signs: Array, is_free: bool = False) -> None:
        self.signs, self.n_thresholds = signs, signs.shape[1] if is_free else 0

    def missed(self, scores: Array, thresholds: Array) -> Array:
        """One minus the margins, shape (m, n)."""
        level = thresholds if self.n_thresholds else 0.0
        return np.asarray(1.0 - self.signs * (scores[:, None] - level))

    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Hinge with a parabola of this width in place of its kink, and its gradients."""
        missed = self.missed(scores, thresholds)
        weights = np.clip(missed / width, 0.0, 1.0)
        total = float(np.sum(weights * (missed - 0.5 * width * weights)))
        pulled = self.signs * weights
        return total, -np.sum(pulled, axis=1), np.sum(pulled, axis=0)[: self.n_thresholds]

    def value(self, scores: Array, thresholds: Array) -> float:
        """Value of the loss."""
        return float(np.sum(np.maximum(0.0, self.missed(scores, thresholds))))

    def best_thresholds(self, scores: Array) -> Array:
        """Middle of the interval of best thresholds: the loss falls until each sign below is met.

        Each threshold has signs on both sides of it.
        """
        if not self.n_thresholds:
            return np.zeros(0)
        kinks = np.sort(scores[:, None] - self.signs, axis=0)
        below, each = np.sum(self.signs < 0.0, axis=0), np.arange(self.n_thresholds)
        return np.asarray(0.5 * (kinks[below - 1, each] + kinks[below, each]))

    def terms(self, multipliers: Array, c: float) -> LinearTerms:
        """Linear terms of multipliers Q from 0 to c, shape (m, n), before they are scaled.

        Free thresholds need equal sums on both sides: the larger side is scaled down.
        """
        # Squares of tiny weights are zero. Any multiple of them has the same bound.
        Q = multipliers / (float(np.max(multipliers)) or 1.0)
        if self.n_thresholds:
            above = self.signs > 0.0
            sums = [np.sum(np.where(side, Q, 0.0), axis=0) for side in (above, ~above)]
            shares = [np.minimum(*sums) / np.where(total > 0.0, total, 1.0) for total in sums]
            Q = Q * np.where(above, *shares)
        largest = float(np.max(Q))
        most = c / largest if largest > 0.0 else 1.0
        return LinearTerms(np.sum(self.signs * Q, axis=1), float(np.sum(Q)), 0.0, most)


Loss: TypeAlias = SquaredLoss | Hinge
