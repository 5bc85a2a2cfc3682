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

    def __init__(self, targets: Array) -> None:
        self.targets = targets

    def smooth(self, scores: Array, width: float) -> tuple[float, Array]:
        """Value of the loss, which is smooth, and its gradient."""
        missed = scores - self.targets
        return 0.5 * float(missed @ missed), missed

    def value(self, scores: Array) -> float:
        """Value of the loss."""
        return self.smooth(scores, 0.0)[0]

    def terms(self, multipliers: Array, c: float) -> LinearTerms:
        """Linear terms of any multipliers P at the penalty c."""
        P, rounding = multipliers, multipliers.size * _EPS
        linear = float(P @ self.targets - rounding * (np.abs(P) @ np.abs(self.targets)))
        return LinearTerms(P, linear, float(P @ P) / (2.0 * c), np.inf)


class Hinge:
    r""":math:`\sum_{ia} \max(0, 1 - Y_{ia} f_{ia})` of signs Y."""

    def __init__(self, signs: Array) -> None:
        self.signs = signs

    def missed(self, scores: Array) -> Array:
        """One minus the margins."""
        return np.asarray(1.0 - self.signs * scores)

    def smooth(self, scores: Array, width: float) -> tuple[float, Array]:
        """Hinge with a parabola of this width in place of its kink, and its gradient."""
        missed = self.missed(scores)
        weights = np.clip(missed / width, 0.0, 1.0)
        return float(np.sum(weights * (missed - 0.5 * width * weights))), -self.signs * weights

    def value(self, scores: Array) -> float:
        """Value of the loss."""
        return float(np.sum(np.maximum(0.0, self.missed(scores))))

    def terms(self, multipliers: Array, c: float) -> LinearTerms:
        """Linear terms of multipliers Q from 0 to c, before they are scaled."""
        # Squares of tiny weights are zero. Any multiple of them has the same bound.
        Q = multipliers / (float(np.max(multipliers)) or 1.0)
        most = c if np.any(Q) else 1.0
        return LinearTerms(self.signs * Q, float(np.sum(Q)), 0.0, most)


Loss: TypeAlias = SquaredLoss | Hinge
