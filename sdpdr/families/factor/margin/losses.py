r"""What is paid for scores that miss ratings, and the multipliers that losses prove bounds with.

Scores are :math:`f_{ia} = M_{ia} + b_i + d_a`. Each loss is a maximum over multipliers of terms
that are linear in the scores, so any multipliers bound it from below (``factors``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed

# Over the largest threshold, or over the margin of one: a threshold this near is not passed. Scores
# that lie on one were computed within 2.3e-4 of it, by programs with gaps of 1e-6 and less (8 to 18
# users and items, three prices, in several orders).
ON_THRESHOLD = 1e-3


@dataclass(frozen=True, eq=False)
class LossMultipliers:
    r"""Linear terms under the loss at its price.

    For any t from 0 to ``most`` that is at least
    :math:`t\,\text{linear} - t^2\,\text{quadratic} - t \langle P, f \rangle`.

    Attributes
    ----------
    weights : array of shape (m,)
        P at the places observed.
    linear, quadratic, most : float
    """

    weights: Array
    linear: float
    quadratic: float
    most: float


class Loss(ABC):
    """A convex loss of scores and of numbers that all entries share.

    Attributes
    ----------
    n_shared : int
        How many numbers all entries share, such as thresholds.
    """

    n_shared = 0

    @abstractmethod
    def smooth(self, scores: Array, shared: Array, width: float) -> tuple[float, Array, Array]:
        """The loss, or less where that makes it smooth, and its two gradients."""

    @abstractmethod
    def exact(self, scores: Array, shared: Array) -> float:
        """The loss."""

    @abstractmethod
    def multipliers(self, scores: Array, shared: Array, width: float, c: float) -> LossMultipliers:
        """Those that the gradient gives, put where they must be."""

    def first_shared(self) -> Array:
        """The shared numbers to begin with; none unless a loss has some."""
        return np.zeros(0)

    def best_shared(self, scores: Array) -> Array:
        """The shared numbers of least loss for scores; of many, those in the middle."""
        return np.zeros(0)

    @abstractmethod
    def ratings(self, scores: Array, shared: Array) -> Array:
        """Ratings that scores predict."""


class SquaredLoss(Loss):
    r""":math:`\tfrac12 \sum (R_{ia} - \mu - f_{ia})^2` with the mean rating :math:`\mu`.

    Parameters
    ----------
    values : array of shape (m,)
        Ratings.
    like : array, optional
        Those whose mean and range count; these by default.
    """

    def __init__(self, values: Array, like: Array | None = None) -> None:
        seen = values if like is None else like
        self.mean = float(np.mean(seen))
        self.low, self.high = float(np.min(seen)), float(np.max(seen))
        self._wanted = values - self.mean

    def smooth(self, scores: Array, shared: Array, width: float) -> tuple[float, Array, Array]:
        """The loss as it is."""
        missed = scores - self._wanted
        return 0.5 * float(missed @ missed), missed, shared

    def exact(self, scores: Array, shared: Array) -> float:
        """The loss."""
        return self.smooth(scores, shared, 0.0)[0]

    def multipliers(self, scores: Array, shared: Array, width: float, c: float) -> LossMultipliers:
        """Residuals at their price."""
        weights = c * (self._wanted - scores)
        rounding = weights.size * float(np.finfo(float).eps)
        return LossMultipliers(
            weights,
            float(weights @ self._wanted - rounding * (np.abs(weights) @ np.abs(self._wanted))),
            float(weights @ weights) / (2.0 * c),
            np.inf,
        )

    def ratings(self, scores: Array, shared: Array) -> Array:
        """The scores on the scale of ratings, cut off at the least and the largest one seen."""
        return np.clip(scores + self.mean, self.low, self.high)


class Hinge(Loss):
    r"""A margin for every threshold.

    The loss is :math:`\sum_{ia} \sum_t \max(0, 1 - T_{iat} (f_{ia} - \theta_t))` with
    :math:`T_{iat} = 1` where the rating lies above the threshold t, else -1.

    Parameters
    ----------
    levels : array of int, shape (m,)
        0 to n.
    names : array of shape (n + 1,)
        The ratings that these stand for.

    Attributes
    ----------
    signs : array of shape (m, n)
        T.
    """

    def __init__(self, levels: Index, names: Array) -> None:
        self.names, self.n_shared = names, names.size - 1
        self.signs = np.where(levels[:, None] > np.arange(self.n_shared), 1.0, -1.0)

    @classmethod
    def of(cls, ratings: Array, names: Array) -> Hinge:
        """That of ratings, which must be among the levels.

        Raises
        ------
        DataError
            One of them is not.
        """
        ranks = np.minimum(np.searchsorted(names, ratings), names.size - 1)
        unknown = np.flatnonzero(names[ranks] != ratings)
        if unknown.size:
            raise DataError(
                f"rating {ratings[unknown[0]]:g} is none of the levels fitted, {listed(names)}. "
                "The hinge knows no others."
            )
        return cls(ranks, names)

    def _missed(self, scores: Array, shared: Array) -> Array:
        return np.asarray(1.0 - self.signs * (scores[:, None] - shared))

    def _weights(self, scores: Array, shared: Array, width: float) -> Array:
        return np.clip(self._missed(scores, shared) / width, 0.0, 1.0)

    def smooth(self, scores: Array, shared: Array, width: float) -> tuple[float, Array, Array]:
        """A parabola takes the place of the kink, over ``width``."""
        missed = self._missed(scores, shared)
        weights = np.clip(missed / width, 0.0, 1.0)
        total = float(np.sum(weights * (missed - 0.5 * width * weights)))
        pulled = self.signs * weights
        return total, -np.sum(pulled, axis=1), np.sum(pulled, axis=0)

    def exact(self, scores: Array, shared: Array) -> float:
        """The loss."""
        return float(np.sum(np.maximum(0.0, self._missed(scores, shared))))

    def multipliers(self, scores: Array, shared: Array, width: float, c: float) -> LossMultipliers:
        """Weights from 0 to c, of which each threshold has as many above it as below."""
        return self.weighted(c * self._weights(scores, shared, width), c)

    def weighted(self, weights: Array, c: float) -> LossMultipliers:
        """Those of weights from 0 to c of all margins, shape (m, n), once they are balanced."""
        weights = self._balanced(weights)
        largest = float(np.max(weights, initial=0.0))
        return LossMultipliers(
            np.sum(self.signs * weights, axis=1),
            float(np.sum(weights)),
            0.0,
            c / largest if largest > 0.0 else 1.0,
        )

    def _balanced(self, weights: Array) -> Array:
        """Less of them, with equal sums on both sides of each threshold, which is free."""
        above = self.signs > 0.0
        sums = [np.sum(np.where(side, weights, 0.0), axis=0) for side in (above, ~above)]
        least = np.minimum(*sums)
        shares = [least / np.where(total > 0.0, total, 1.0) for total in sums]
        return np.asarray(weights * np.where(above, *shares))

    def first_shared(self) -> Array:
        """Thresholds for scores of zero."""
        return self.best_shared(np.zeros(len(self.signs)))

    def best_shared(self, scores: Array) -> Array:
        """The middle of where the loss is flat: it falls until it has met each sign below."""
        kinks = np.sort(scores[:, None] - self.signs, axis=0)
        below = np.sum(self.signs < 0.0, axis=0)
        each = np.arange(self.n_shared)
        return np.asarray(0.5 * (kinks[below - 1, each] + kinks[below, each]))

    def ratings(self, scores: Array, shared: Array) -> Array:
        """The rating above as many thresholds as the score passes; none that it only touches."""
        blurred = ON_THRESHOLD * max(1.0, float(np.max(np.abs(shared), initial=0.0)))
        passed = np.sum(scores[..., None] - shared > blurred, axis=-1)
        return np.asarray(self.names[passed])


class SignHinge(Hinge):
    """The hinge of signs: one threshold, at zero.

    Parameters
    ----------
    values : array of shape (m,)
        1 and -1.
    """

    def __init__(self, values: Array) -> None:
        super().__init__((values > 0.0).astype(np.int64), np.array([-1.0, 1.0]))
        self.n_shared = 0

    def smooth(self, scores: Array, shared: Array, width: float) -> tuple[float, Array, Array]:
        """A parabola takes the place of the kink; no threshold moves."""
        total, slope, _ = super().smooth(scores, shared, width)
        return total, slope, np.zeros(0)

    def _missed(self, scores: Array, shared: Array) -> Array:
        return np.asarray(1.0 - self.signs * scores[:, None])

    def _balanced(self, weights: Array) -> Array:
        return weights

    def best_shared(self, scores: Array) -> Array:
        """None moves."""
        return np.zeros(0)
