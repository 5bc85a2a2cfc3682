"""Factors through a polynomial: their best fit nearby, and how well any factors can fit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize as so
from numpy.polynomial.polynomial import polyval

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import ENDLESS, Deadline, TimeUpError
from sdpdr.base.errors import DataError
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING

# Tolerance of steps, squares and slopes: rounding, since a fit may be exact.
_EXACT = 1e-15


def evaluate(coefficients: Array, t: Array) -> Array:
    r""":math:`g(t) = c_1 t + c_2 t^2 + \dots`, entry by entry."""
    return np.asarray(polyval(t, [0.0, *coefficients]))


@dataclass(frozen=True, eq=False)
class Fit:
    """Factors of shape (N, k) and (m, k); half the squared misfit, penalized, is the objective."""

    W: Array
    H: Array
    coefficients: Array
    misfit: float
    objective: float


@dataclass(frozen=True, eq=False)
class Misfit:
    r"""The misfit as a function of factors and, if they are ``unknown``, coefficients.

    .. math::

        \min\ \tfrac12 \sum_{ij} \bigl(g(W_i \cdot H_j) - V_{ij}\bigr)^2
        + \tfrac\lambda2 \bigl(|W|_F^2 + |H|_F^2\bigr)

    Unknown entries of V are ``nan``. Unknown coefficients vary from the second on; rows of W that
    are ``anchors`` are fixed. The deadline ends a descent at the best factors by then.
    """

    V: Array
    nonnegative: bool
    unknown: bool = False
    anchors: Index | None = None
    regularization: float = 0.0
    deadline: Deadline = ENDLESS
    pairs: Index = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", np.argwhere(~np.isnan(self.V)))

    @property
    def low(self) -> float:
        """Least value that factors may have."""
        return 0.0 if self.nonnegative else -np.inf

    def descend(self, W: Array, H: Array, coefficients: Array) -> Fit:
        """The best fit near given factors, by the method of Levenberg and Marquardt."""
        k, n, low = W.shape[1], W.size + H.size, self.low
        whole = np.concatenate([W.ravel(), H.ravel(), coefficients[1:]])
        free = np.ones(whole.size, dtype=bool)
        free[n:] = self.unknown
        if self.anchors is not None:
            free[: W.size].reshape(-1, k)[self.anchors] = False

        def split(x: Array) -> tuple[Array, Array, Array]:
            y = whole.copy()
            y[free] = x
            c = np.concatenate([coefficients[:1], y[n:]])
            return y[: W.size].reshape(-1, k), y[W.size : n].reshape(-1, k), c

        def residuals(x: Array) -> Array:
            self.deadline.require()
            w, h, c = split(x)
            size = np.sqrt(self.regularization) * np.concatenate([w.ravel(), h.ravel()])
            return np.concatenate([self._away(w, h, c), size])

        best = np.maximum(whole[free], low)

        def slopes(x: Array) -> Array:
            nonlocal best
            best = x.copy()  # slopes are needed at the first point and at every better one
            return self._slopes(*split(x))[:, free]

        options = dict.fromkeys(("xtol", "ftol", "gtol"), _EXACT)
        with suppress(TimeUpError):
            best = so.least_squares(residuals, best, slopes, (low, np.inf), **options).x
        return self.at(*split(np.maximum(best, low)))

    def at(self, W: Array, H: Array, coefficients: Array) -> Fit:
        """Given factors as they are."""
        misfit = float(np.linalg.norm(self._away(W, H, coefficients)))
        size = float(np.sum(W**2) + np.sum(H**2))
        return Fit(W, H, coefficients, misfit, 0.5 * misfit**2 + 0.5 * self.regularization * size)

    def rows(self, H: Array, coefficients: Array) -> Array:
        """For each row of V, the row of W near the best fit of its inverse image that fits it best.

        H of shape (m, k) is fixed. If g is not increasing, the fit of the entries comes first.
        """
        known, low = ~np.isnan(self.V), self.low
        if not np.all(known.any(axis=1)):
            row = int(np.argmin(known.any(axis=1)))
            raise DataError(
                f"row {row} has no known entry, so its factor cannot be found. Omit the row."
            )
        raised = np.maximum(self.V, low)
        if is_increasing(coefficients, low):
            raised[known] = [_inverse(coefficients, v) for v in raised[known]]
        found = np.zeros((len(self.V), H.shape[1]))
        for w, v, theta, e in zip(found, self.V, raised, known, strict=True):
            begin = so.lsq_linear(H[e], theta[e], (low, np.inf)).x
            w[:] = so.least_squares(
                lambda w, h, v: evaluate(coefficients, h @ w) - v,
                np.maximum(begin, low),
                lambda w, h, v: _slope(coefficients, h @ w)[:, None] * h,
                (low, np.inf),
                args=(H[e], v[e]),
            ).x
        return found

    def _away(self, W: Array, H: Array, coefficients: Array) -> Array:
        i, j = self.pairs.T
        return evaluate(coefficients, np.sum(W[i] * H[j], axis=1)) - self.V[i, j]

    def _slopes(self, W: Array, H: Array, coefficients: Array) -> Array:
        """Derivatives by the entries of W and H, row by row, and by the coefficients."""
        (i, j), k, p = self.pairs.T, W.shape[1], len(self.pairs)
        t = np.sum(W[i] * H[j], axis=1)
        steepness = _slope(coefficients, t)[:, None]
        matrix = np.zeros((p + W.size + H.size, W.size + H.size + coefficients.size - 1))
        row, column = np.arange(p)[:, None], np.arange(k)
        matrix[row, i[:, None] * k + column] = steepness * H[j]
        matrix[row, W.size + j[:, None] * k + column] = steepness * W[i]
        for power in range(2, coefficients.size + 1):
            matrix[:p, W.size + H.size + power - 2] = t**power
        sides = np.arange(W.size + H.size)
        matrix[p + sides, sides] = np.sqrt(self.regularization)
        return matrix


def misfit_bound(
    V: Array, coefficients: Array, n_components: int, nonnegative: bool = True
) -> float | None:
    r"""A lower bound on the misfit of any factors; None if there is no inverse image.

    The tail of the singular values of :math:`\operatorname{diag}(a)\, g^{-1}(V)
    \operatorname{diag}(b)`, where :math:`a_i b_j` is at most the least slope of a chord of g
    (``docs/methods/polynomial_factorization.rst``). If factors are not negative, a negative entry
    is missed by its own size besides, and counts as zero.
    """
    c, theta = coefficients, inverse_image(V, coefficients, nonnegative)
    if theta is None:
        return None
    low = 0.0 if nonnegative else -np.inf
    beyond = np.minimum(V, 0.0) if nonnegative else np.zeros_like(V)
    slope = np.full(V.shape, c[0])
    if c.size > 1:
        slope = np.vectorize(lambda t: _least_chord(c, t, low))(theta)
    tails = [0.0]
    for flip in (False, True):
        mu = slope.T if flip else slope
        a = mu.min(axis=1)
        b = np.min(mu / np.where(a > 0.0, a, np.inf)[:, None], axis=0)
        weighted = a[:, None] * (theta.T if flip else theta) * b
        tails.append(float(np.sum(np.linalg.svd(weighted, compute_uv=False)[n_components:] ** 2)))
    bound = float(np.sqrt(np.sum(beyond**2) + max(tails)))
    return max(0.0, bound - NEGLIGIBLE * float(np.linalg.norm(V)))


def inverse_image(V: Array, coefficients: Array, nonnegative: bool = True) -> Array | None:
    r""":math:`g^{-1}(V)`; None if g is not increasing on all products, or entries are unknown.

    Negative entries count as 0 if products are not negative.
    """
    if np.any(np.isnan(V)) or not is_increasing(coefficients, 0.0 if nonnegative else -np.inf):
        return None
    values = np.maximum(V, 0.0) if nonnegative else V
    if coefficients.size == 1:
        return np.asarray(values / coefficients[0])
    return np.asarray(np.vectorize(lambda v: _inverse(coefficients, v))(values))


def _slope(coefficients: Array, t: Array) -> Array:
    """Derivative of g, entry by entry."""
    return np.asarray(np.polyval(np.polyder([*coefficients[::-1], 0.0]), t))


def is_increasing(c: Array, low: float) -> bool:
    """Whether the slope of g is never negative on [low, infinity)."""
    slope = np.polyder([*c[::-1], 0.0])
    if slope[0] < 0.0:
        return False
    turns = _real_roots(np.polyder(slope))
    points = [t for t in turns if t >= low] + ([low] if np.isfinite(low) else [])
    if len(slope) % 2 == 0 and not np.isfinite(low):
        return False
    size = float(np.max(np.abs(c)))
    return all(np.polyval(slope, t) >= -ROUNDING * size for t in points)


def _inverse(c: Array, v: float) -> float:
    """The t with g(t) = v of an increasing g: of the real roots, the one on v's own side of 0."""
    roots = _real_roots(np.array([*c[::-1], -v]))
    sided = roots[roots * np.sign(v) >= 0.0] if v else np.zeros(1)
    return float(sided[np.argmin(np.abs(evaluate(c, sided) - v))])


def _least_chord(c: Array, theta: float, low: float) -> float:
    """The least slope of a chord of g from theta to any t in [low, infinity)."""
    g = np.array([*c[::-1], 0.0])
    chord = np.polydiv(np.polysub(g, [float(np.polyval(g, theta))]), [1.0, -theta])[0]
    turns = _real_roots(np.polyder(chord))
    points = np.concatenate([turns[turns >= low], [low] if np.isfinite(low) else [], [theta]])
    return max(0.0, float(np.min(np.polyval(chord, points))))


def _real_roots(polynomial: Any) -> Array:
    roots = np.roots(np.atleast_1d(polynomial))
    return np.real(roots[np.abs(np.imag(roots)) <= ROUNDING * (1.0 + np.abs(roots))])
