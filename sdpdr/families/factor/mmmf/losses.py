r"""Losses of scores, and the multipliers with which they prove bounds.

Scores are :math:`f_{ia} = M_{ia} + b_i + d_a`. Each loss is a maximum over multipliers of terms
that are linear in the scores, so any multipliers bound it from below (``program``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed

# A score passes a threshold if it exceeds it by more than this, relative to the largest threshold
# or to the margin of one. Scores on a threshold were computed within 2.3e-4 of it, by programs with
# gaps of 1e-6 and less (8 to 18 users and items, three penalties, in several orders).
ON_THRESHOLD = 1e-3


@dataclass(frozen=True, eq=False)
class LossMultipliers:
    r"""Linear terms below the penalized loss.

    For any t from 0 to ``most`` the loss times its penalty is at least
    :math:`t\,\text{linear} - t^2\,\text{quadratic} - t \langle P, f \rangle`.

    Attributes
    ----------
    weights : array of shape (m,)
        P at the observed positions.
    linear, quadratic, most : float
    """

    weights: Array
    linear: float
    quadratic: float
    most: float


class Loss(ABC):
    """A convex loss of scores and of thresholds that all entries share.

    Attributes
    ----------
    n_thresholds : int
    """

    n_thresholds = 0

    @abstractmethod
    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Smooth lower approximation of the loss, and its gradients in scores and thresholds."""

    @abstractmethod
    def exact(self, scores: Array, thresholds: Array) -> float:
        """Value of the loss."""

    @abstractmethod
    def multipliers(
        self, scores: Array, thresholds: Array, width: float, c: float
    ) -> LossMultipliers:
        """Multipliers that the gradient of the smooth loss gives, at the penalty c."""

    def best_thresholds(self, scores: Array) -> Array:
        """Thresholds of least loss; of an interval of these, the middle."""
        return np.zeros(0)

    @abstractmethod
    def ratings(self, scores: Array, thresholds: Array) -> Array:
        """Ratings that scores predict."""


class SquaredLoss(Loss):
    r""":math:`\tfrac12 \sum (R_{ia} - \mu - f_{ia})^2` with the mean rating :math:`\mu`.

    Parameters
    ----------
    values : array of shape (m,)
        Ratings.
    fitted : array, optional
        Ratings whose mean and range count; these by default.
    """

    def __init__(self, values: Array, fitted: Array | None = None) -> None:
        seen = values if fitted is None else fitted
        self.mean = float(np.mean(seen))
        self.low, self.high = float(np.min(seen)), float(np.max(seen))
        self._wanted = values - self.mean

    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Value of the loss, which is smooth, and its gradient."""
        missed = scores - self._wanted
        return 0.5 * float(missed @ missed), missed, thresholds

    def exact(self, scores: Array, thresholds: Array) -> float:
        """Value of the loss."""
        return self.smooth(scores, thresholds, 0.0)[0]

    def multipliers(
        self, scores: Array, thresholds: Array, width: float, c: float
    ) -> LossMultipliers:
        """Residuals times their penalty."""
        weights = c * (self._wanted - scores)
        rounding = weights.size * float(np.finfo(float).eps)
        return LossMultipliers(
            weights,
            float(weights @ self._wanted - rounding * (np.abs(weights) @ np.abs(self._wanted))),
            float(weights @ weights) / (2.0 * c),
            np.inf,
        )

    def ratings(self, scores: Array, thresholds: Array) -> Array:
        """Scores plus the mean, clipped to the range of the ratings fitted."""
        return np.clip(scores + self.mean, self.low, self.high)


class Hinge(Loss):
    r"""A margin for every threshold between two levels.

    The loss is :math:`\sum_{ia} \sum_t \max(0, 1 - T_{iat} (f_{ia} - \theta_t))` with
    :math:`T_{iat} = 1` where the rating lies above the threshold t, else -1.

    Parameters
    ----------
    levels : array of int, shape (m,)
        0 to n.
    names : array of shape (n + 1,)
        The ratings of these levels.

    Attributes
    ----------
    signs : array of shape (m, n)
        T.
    """

    def __init__(self, levels: Index, names: Array) -> None:
        self.names, self.n_thresholds = names, names.size - 1
        self.signs = np.where(levels[:, None] > np.arange(names.size - 1), 1.0, -1.0)

    @classmethod
    def of(cls, ratings: Array, names: Array) -> Hinge:
        """Hinge of ratings, each of which is one of the levels.

        Raises
        ------
        DataError
            A rating is none of them.
        """
        ranks = np.minimum(np.searchsorted(names, ratings), names.size - 1)
        unknown = np.flatnonzero(names[ranks] != ratings)
        if unknown.size:
            raise DataError(
                f"rating {ratings[unknown[0]]:g} is none of the levels fitted, {listed(names)}. "
                "The hinge loss needs one of these."
            )
        return cls(ranks, names)

    def missed(self, scores: Array, thresholds: Array) -> Array:
        """One minus the margins, shape (m, n)."""
        return np.asarray(1.0 - self.signs * (scores[:, None] - thresholds))

    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Hinge with a parabola of this width in place of its kink."""
        missed = self.missed(scores, thresholds)
        weights = np.clip(missed / width, 0.0, 1.0)
        total = float(np.sum(weights * (missed - 0.5 * width * weights)))
        pulled = self.signs * weights
        return total, -np.sum(pulled, axis=1), np.sum(pulled, axis=0)

    def exact(self, scores: Array, thresholds: Array) -> float:
        """Value of the loss."""
        return float(np.sum(np.maximum(0.0, self.missed(scores, thresholds))))

    def multipliers(
        self, scores: Array, thresholds: Array, width: float, c: float
    ) -> LossMultipliers:
        """Weights from 0 to c, with equal sums on both sides of each threshold."""
        return self.weighted(c * np.clip(self.missed(scores, thresholds) / width, 0.0, 1.0), c)

    def weighted(self, weights: Array, c: float) -> LossMultipliers:
        """Multipliers from weights of all margins, from 0 to c, shape (m, n)."""
        weights = self._balanced(weights)
        largest = float(np.max(weights, initial=0.0))
        return LossMultipliers(
            np.sum(self.signs * weights, axis=1),
            float(np.sum(weights)),
            0.0,
            c / largest if largest > 0.0 else 1.0,
        )

    def _balanced(self, weights: Array) -> Array:
        """Smaller weights with equal sums on both sides of each threshold, which is free."""
        above = self.signs > 0.0
        sums = [np.sum(np.where(side, weights, 0.0), axis=0) for side in (above, ~above)]
        least = np.minimum(*sums)
        shares = [least / np.where(total > 0.0, total, 1.0) for total in sums]
        return np.asarray(weights * np.where(above, *shares))

    def best_thresholds(self, scores: Array) -> Array:
        """Middle of the interval where the loss is flat: it falls until each sign below is met."""
        kinks = np.sort(scores[:, None] - self.signs, axis=0)
        below = np.sum(self.signs < 0.0, axis=0)
        each = np.arange(self.n_thresholds)
        return np.asarray(0.5 * (kinks[below - 1, each] + kinks[below, each]))

    def ratings(self, scores: Array, thresholds: Array) -> Array:
        """Level above all thresholds that the score passes; a score on a threshold does not."""
        blurred = ON_THRESHOLD * max(1.0, float(np.max(np.abs(thresholds), initial=0.0)))
        passed = np.sum(scores[..., None] - thresholds > blurred, axis=-1)
        return np.asarray(self.names[passed])


class SignHinge(Hinge):
    """The hinge of signs: one threshold, fixed at zero.

    Parameters
    ----------
    values : array of shape (m,)
        1 and -1.
    """

    def __init__(self, values: Array) -> None:
        super().__init__((values > 0.0).astype(np.int64), np.array([-1.0, 1.0]))
        self.n_thresholds = 0

    def missed(self, scores: Array, thresholds: Array) -> Array:
        """One minus the margins, shape (m, 1)."""
        return np.asarray(1.0 - self.signs * scores[:, None])

    def smooth(self, scores: Array, thresholds: Array, width: float) -> tuple[float, Array, Array]:
        """Hinge with a parabola of this width in place of its kink."""
        total, slope, _ = super().smooth(scores, thresholds, width)
        return total, slope, np.zeros(0)

    def _balanced(self, weights: Array) -> Array:
        return weights

    def best_thresholds(self, scores: Array) -> Array:
        """No thresholds."""
        return np.zeros(0)
