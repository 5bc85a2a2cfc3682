"""Factors through a polynomial: their best fit nearby, and how well any factors can fit."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.optimize as so
from numpy.polynomial import Polynomial

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, TimeUpError
from sdpdr.base.errors import DataError
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING

# Tolerance of steps, squares and slopes: rounding, since a fit may be exact.
EXACT = 1e-15


def polynomial_of(coefficients: Array) -> Polynomial:
    r""":math:`g(t) = c_1 t + c_2 t^2 + \dots`."""
    return Polynomial([0.0, *coefficients])


def evaluate(coefficients: Array, t: Array) -> Array:
    """The values of g, entry by entry."""
    return np.asarray(polynomial_of(coefficients)(t))


class Fit(NamedTuple):
    """Factors of shape (N, k) and (m, k); half the squared misfit, penalized, is the objective."""

    W: Array
    H: Array
    coefficients: Array
    misfit: float
    objective: float


class Misfit:
    r"""The misfit as a function of factors and, if they are ``unknown``, coefficients.

    .. math::

        \min\ \tfrac12 \sum_{ij} \bigl(g(W_i \cdot H_j) - V_{ij}\bigr)^2
        + \tfrac\lambda2 \bigl(|W|_F^2 + |H|_F^2\bigr)

    Unknown entries of V are ``nan``. Unknown coefficients vary from the second on; the row of W
    that is the ``anchor`` is fixed. The deadline ends a descent at the best factors by then.
    """

    def __init__(
        self,
        V: Array,
        nonnegative: bool,
        unknown: bool = False,
        anchor: int | None = None,
        regularization: float = 0.0,
        deadline: Deadline = ENDLESS,
    ) -> None:
        self.V, self.unknown, self.anchor = V, unknown, anchor
        self.regularization, self.deadline = regularization, deadline
        self.low = 0.0 if nonnegative else -np.inf
        self.i, self.j = np.nonzero(~np.isnan(V))

    def descend(
        self,
        W: Array,
        H: Array,
        coefficients: Array,
        *,
        only_left: bool = False,
        tol: float = EXACT,
    ) -> Fit:
        """The best fit near given factors, by the method of Levenberg and Marquardt."""
        k, n = W.shape[1], W.size + H.size
        whole = np.concatenate([W.ravel(), H.ravel(), coefficients[1:]])
        free = np.ones(whole.size, dtype=bool)
        free[n:] = self.unknown
        free[W.size : n] = not only_left
        if self.anchor is not None:
            free[self.anchor] = False

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

        best = np.maximum(whole[free], self.low)

        def slopes(x: Array) -> Array:
            nonlocal best
            best = x.copy()  # slopes are needed at the first point and at every better one
            return self._slopes(*split(x))[:, free]

        options = dict.fromkeys(("xtol", "ftol", "gtol"), tol)
        with suppress(TimeUpError):
            best = so.least_squares(residuals, best, slopes, (self.low, np.inf), **options).x
        return self.at(*split(np.maximum(best, self.low)))

    def at(self, W: Array, H: Array, coefficients: Array) -> Fit:
        """Given factors as they are."""
        misfit = float(np.linalg.norm(self._away(W, H, coefficients)))
        size = float(np.sum(W**2) + np.sum(H**2))
        return Fit(W, H, coefficients, misfit, 0.5 * misfit**2 + 0.5 * self.regularization * size)

    def _away(self, W: Array, H: Array, coefficients: Array) -> Array:
        t = np.sum(W[self.i] * H[self.j], axis=1)
        return evaluate(coefficients, t) - self.V[self.i, self.j]

    def _slopes(self, W: Array, H: Array, coefficients: Array) -> Array:
        """Derivatives by the entries of W and H, row by row, and by the coefficients."""
        (i, j), k, p, n = (self.i, self.j), W.shape[1], self.i.size, W.size + H.size
        t = np.sum(W[i] * H[j], axis=1)
        slope = polynomial_of(coefficients).deriv()(t)[:, None]
        matrix = np.zeros((p + n, n + coefficients.size - 1))
        row, column = np.arange(p)[:, None], np.arange(k)
        matrix[row, i[:, None] * k + column] = slope * H[j]
        matrix[row, W.size + j[:, None] * k + column] = slope * W[i]
        matrix[:p, n:] = t[:, None] ** np.arange(2, coefficients.size + 1)
        np.fill_diagonal(matrix[p:, :n], np.sqrt(self.regularization))
        return matrix


def fitted_rows(V: Array, H: Array, coefficients: Array, nonnegative: bool) -> Array:
    """For each row of V, the row of W near the best fit of its inverse image that fits it best.

    H of shape (m, k) is fixed. If g is not increasing, the fit of the entries comes first.
    """
    low = 0.0 if nonnegative else -np.inf
    known = ~np.isnan(V)
    empty = np.flatnonzero(~known.any(axis=1))
    if empty.size:
        raise DataError(
            f"row {empty[0]} has no known entry, so its factor cannot be found. Omit the row."
        )
    found = np.zeros((len(V), H.shape[1]))
    for w, v, e in zip(found, V, known, strict=True):
        theta = inverse_image(v[None, e], coefficients, nonnegative)
        start = so.lsq_linear(H[e], np.maximum(v[e], low) if theta is None else theta[0]).x
        squares = Misfit(v[None, e], nonnegative)
        w[:] = squares.descend(start[None], H[e], coefficients, only_left=True, tol=1e-8).W[0]
    return found


def misfit_bound(
    V: Array, coefficients: Array, n_components: int, nonnegative: bool = True
) -> float | None:
    r"""A lower bound on the misfit of any factors; None if there is no inverse image.

    The tail of the singular values of :math:`\operatorname{diag}(a)\, g^{-1}(V)
    \operatorname{diag}(b)`, where :math:`a_i b_j` is at most the least slope of a chord of g
    (``docs/methods/polynomial_factorization.rst``). If factors are not negative, a negative entry
    is missed by its own size besides, and counts as zero.
    """
    theta = inverse_image(V, coefficients, nonnegative)
    if theta is None:
        return None
    low = 0.0 if nonnegative else -np.inf
    slope = np.full(V.shape, coefficients[0])
    if coefficients.size > 1:
        slope = np.vectorize(lambda t: _least_chord(coefficients, t, low))(theta)
    tails = [0.0]
    for mu, image in ((slope, theta), (slope.T, theta.T)):
        a = mu.min(axis=1)
        b = np.min(mu / np.where(a > 0.0, a, np.inf)[:, None], axis=0)
        sizes = np.linalg.svd(a[:, None] * image * b, compute_uv=False)
        tails.append(float(np.sum(sizes[n_components:] ** 2)))
    beyond = float(np.sum(np.minimum(V, 0.0) ** 2)) if nonnegative else 0.0
    bound = float(np.sqrt(beyond + max(tails)))
    return max(0.0, bound - NEGLIGIBLE * float(np.linalg.norm(V)))


def inverse_image(V: Array, coefficients: Array, nonnegative: bool = True) -> Array | None:
    r""":math:`g^{-1}(V)`; None if g is not increasing on all products, or entries are unknown.

    Negative entries count as 0 if products are not negative.
    """
    if np.any(np.isnan(V)) or not _is_increasing(coefficients, 0.0 if nonnegative else -np.inf):
        return None
    values = np.maximum(V, 0.0) if nonnegative else V
    if coefficients.size == 1:
        return np.asarray(values / coefficients[0])
    return np.asarray(np.vectorize(lambda v: _inverse(coefficients, v))(values))


def _is_increasing(c: Array, low: float) -> bool:
    """Whether the slope of g is never negative on [low, infinity)."""
    slope = polynomial_of(c).deriv()
    if slope.coef[-1] < 0.0 or (slope.degree() % 2 and not np.isfinite(low)):
        return False
    points = _critical_points(slope, low)
    return bool(np.all(slope(points) >= -ROUNDING * np.max(np.abs(c))))


def _inverse(c: Array, v: float) -> float:
    """The t with g(t) = v of an increasing g: of the real roots, the one on v's own side of 0."""
    if not v:
        return 0.0
    roots = _real_roots(polynomial_of(c) - v)
    sided = roots[roots * np.sign(v) >= 0.0]
    return float(sided[np.argmin(np.abs(evaluate(c, sided) - v))])


def _least_chord(c: Array, theta: float, low: float) -> float:
    """The least slope of a chord of g from theta to any t in [low, infinity)."""
    g = polynomial_of(c)
    chord = (g - g(theta)) // Polynomial([-theta, 1.0])
    return max(0.0, float(np.min(chord(np.append(_critical_points(chord, low), theta)))))


def _critical_points(polynomial: Polynomial, low: float) -> Array:
    """Where the slope of a polynomial is zero in [low, infinity), and low itself if finite."""
    flat = _real_roots(polynomial.deriv())
    return np.concatenate([flat[flat >= low], [low] if np.isfinite(low) else []])


def _real_roots(polynomial: Polynomial) -> Array:
    roots = polynomial.roots()
    return np.real(roots[np.abs(np.imag(roots)) <= ROUNDING * (1.0 + np.abs(roots))])
