"""Factors through a polynomial: their best fit nearby, and how well any factors can fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize as so
from numpy.polynomial.polynomial import polyval

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import ENDLESS, Deadline, TimeUpError
from sdpdr.base.errors import DataError
from sdpdr.families.factor.polynomial.recipe import checked_coefficients

# Tolerances of steps and of squares: a fit that misses the entries ends where nothing is gained,
# one that nearly meets them at rounding.
_SETTLED, _EXACT = 1e-8, 1e-15
# Misfits below this share of the entries may be on the way to none.
_NEARLY_MET = 1e-3
# Imaginary parts and slopes below this share count as zero.
_ROUNDING = 1e-9
# What rounding may add to a sum of singular values, beside the size of the entries.
_ROUNDING_OF_TAILS = 1e-12


def evaluate(coefficients: Array, t: Array) -> Array:
    r""":math:`g(t) = c_1 t + c_2 t^2 + \dots`, entry by entry.

    Examples
    --------
    >>> evaluate(np.array([1.0, 0.5]), np.array([0.0, 2.0]))
    array([0., 4.])
    """
    return np.asarray(polyval(t, [0.0, *coefficients]))


@dataclass(frozen=True, eq=False)
class Fit:
    """Factors of shape (N, k) and (m, k), the coefficients, and the misfit over known entries.

    The objective is half its square, and the penalty on the size of the factors.
    """

    W: Array
    H: Array
    coefficients: Array
    misfit: float
    objective: float


@dataclass(frozen=True, eq=False)
class Misfit:
    r"""The misfit as a function of factors and, where they are unknown, coefficients.

    .. math::

        \min\ \tfrac12 \sum_{ij} \bigl(g(W_i \cdot H_j) - V_{ij}\bigr)^2
        + \tfrac\lambda2 \bigl(|W|_F^2 + |H|_F^2\bigr)

    Unknown entries of V are ``nan``. Where the coefficients are ``unknown``, those from the second
    on vary; rows of W that are ``anchors`` stay as they are. The deadline ends a descent at the
    best factors by then.
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

    def descend(self, W: Array, H: Array, coefficients: Array) -> Fit:
        """The best fit near given factors, by the method of Levenberg and Marquardt."""
        low = 0.0 if self.nonnegative else -np.inf
        k, n = W.shape[1], W.size + H.size
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
            price = np.sqrt(self.regularization) * np.concatenate([w.ravel(), h.ravel()])
            return np.concatenate([self._away(w, h, c), price])

        best = np.maximum(whole[free], low)

        def slopes(x: Array) -> Array:
            nonlocal best
            best = x.copy()  # slopes are asked for at the first point and at every better one
            return self._slopes(*split(x))[:, free]

        enough = _NEARLY_MET * float(np.linalg.norm(self.V[~np.isnan(self.V)]))
        for tol in (_SETTLED, _EXACT):
            options = {"xtol": tol, "ftol": tol, "gtol": _EXACT}
            try:
                best = so.least_squares(residuals, best, slopes, (low, np.inf), **options).x
            except TimeUpError:
                break
            if self.at(*split(np.maximum(best, low))).misfit > enough:
                break
        return self.at(*split(np.maximum(best, low)))

    def at(self, W: Array, H: Array, coefficients: Array) -> Fit:
        """Given factors as they are."""
        misfit = float(np.linalg.norm(self._away(W, H, coefficients)))
        size = float(np.sum(W**2) + np.sum(H**2))
        return Fit(W, H, coefficients, misfit, 0.5 * misfit**2 + 0.5 * self.regularization * size)

    def rows(self, H: Array, coefficients: Array) -> Array:
        """For each row of V, the row of W that fits it best with a given H of shape (m, k).

        With one component the optimum is global; with more, it is the one near the best fit of
        the inverse image of the entries (of the entries, where g is not increasing).

        Raises
        ------
        DataError
            A row has no known entry.
        """
        find = self._one if H.shape[1] == 1 else self._several
        known = ~np.isnan(self.V)
        if not np.all(known.any(axis=1)):
            row = int(np.argmin(known.any(axis=1)))
            raise DataError(f"row {row} has no known entry, so nothing says what its factor is.")
        rows = [find(v[e], H[e], coefficients) for v, e in zip(self.V, known, strict=True)]
        return np.array(rows).reshape(len(self.V), H.shape[1])

    def _one(self, v: Array, H: Array, coefficients: Array) -> Array:
        """Of all places where the slope of the squares vanishes, the lowest."""
        total: Any = np.zeros(1)
        for value, h in zip(v, H[:, 0], strict=True):
            powers = h ** np.arange(coefficients.size, 0, -1)
            away = np.concatenate([coefficients[::-1] * powers, [-value]])
            total = np.polyadd(total, np.polymul(away, away))
        turns = _real_roots(np.polyder(total))
        places = np.append(turns[turns > 0.0] if self.nonnegative else turns, 0.0)
        return np.array([places[np.argmin(np.polyval(total, places))]])

    def _several(self, v: Array, H: Array, coefficients: Array) -> Array:
        """From the linear least squares of the inverse image on."""
        low = 0.0 if self.nonnegative else -np.inf
        increasing = _is_increasing(coefficients, low)
        raised = np.maximum(v, 0.0) if self.nonnegative else v
        theta = [_inverse(coefficients, x) if increasing else x for x in raised]
        begin = so.lsq_linear(H, np.array(theta), (low, np.inf)).x
        found = so.least_squares(
            lambda w: evaluate(coefficients, H @ w) - v,
            np.maximum(begin, low),
            lambda w: _slope(coefficients, H @ w)[:, None] * H,
            (low, np.inf),
        )
        return np.asarray(found.x)

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
    r"""What no factors can fit better, where g is increasing.

    With :math:`\theta_{ij} = g^{-1}(V_{ij})` and :math:`|g(t) - g(\theta_{ij})| \ge \mu_{ij}
    |t - \theta_{ij}|`, and weights with :math:`a_i b_j \le \mu_{ij}`,

    .. math::

        |g(WH^T) - V|_F^2 \ge \sum_{ij} a_i^2 b_j^2 \bigl((WH^T)_{ij} - \theta_{ij}\bigr)^2
        \ge \sum_{l > k} \sigma_l^2\bigl(\operatorname{diag}(a)\, \theta \operatorname{diag}(b)
        \bigr),

    by Eckart and Young. Where factors are not negative, a negative entry is missed by its own size
    besides, and counts with :math:`\theta_{ij} = 0`.

    Parameters
    ----------
    V : array of shape (N, m)
        Without unknown entries.
    coefficients : array of shape (D,)
    n_components : int
    nonnegative : bool, default True
        Whether t is at least 0.

    Returns
    -------
    float or None
        None where g is not increasing on all t that may occur, or entries are unknown.

    Raises
    ------
    DataError, DataTypeError
        The coefficients are not finite numbers, or the last one is zero.

    Examples
    --------
    >>> V = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> round(misfit_bound(V, np.array([1.0]), 1), 6), float(np.linalg.svd(V)[1][1].round(6))
    (0.365966, 0.365966)
    """
    c = checked_coefficients(coefficients)
    theta = inverse_image(V, c, nonnegative)
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
    return max(0.0, bound - _ROUNDING_OF_TAILS * float(np.linalg.norm(V)))


def inverse_image(V: Array, coefficients: Array, nonnegative: bool = True) -> Array | None:
    r"""The products that give the entries, :math:`g^{-1}(V)`; of negative ones 0 if none may be.

    None where g is not increasing on all products that may occur, or entries are unknown.

    Examples
    --------
    >>> inverse_image(np.array([[1.5, 4.0]]), np.array([1.0, 0.5]))
    array([[1., 2.]])
    """
    if np.any(np.isnan(V)) or not _is_increasing(coefficients, 0.0 if nonnegative else -np.inf):
        return None
    values = np.maximum(V, 0.0) if nonnegative else V
    if coefficients.size == 1:
        return np.asarray(values / coefficients[0])
    return np.asarray(np.vectorize(lambda v: _inverse(coefficients, v))(values))


def _slope(coefficients: Array, t: Array) -> Array:
    """Derivative of g, entry by entry."""
    return np.asarray(np.polyval(np.polyder([*coefficients[::-1], 0.0]), t))


def _is_increasing(c: Array, low: float) -> bool:
    """Whether the slope of g is never negative on [low, infinity)."""
    slope = np.polyder([*c[::-1], 0.0])
    if slope[0] < 0.0:
        return False
    turns = _real_roots(np.polyder(slope))
    points = [t for t in turns if t >= low] + ([low] if np.isfinite(low) else [])
    if len(slope) % 2 == 0 and not np.isfinite(low):
        return False
    size = float(np.max(np.abs(c)))
    return all(np.polyval(slope, t) >= -_ROUNDING * size for t in points)


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
    return np.real(roots[np.abs(np.imag(roots)) <= _ROUNDING * (1.0 + np.abs(roots))])
