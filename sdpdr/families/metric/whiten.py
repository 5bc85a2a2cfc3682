r"""Coordinates in which the scatter of similar pairs is the identity.

With :math:`M_S = \sum (x_i - x_j)(x_i - x_j)^T` over similar pairs and B such that
:math:`B^T M_S B = I`, the metric :math:`A = B A' B^T` has :math:`\langle M_S, A\rangle =
\operatorname{tr} A'`, and a difference :math:`\delta` the length of :math:`B^T \delta` under A'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.metric.pairs import Pairs

# Rounding of sums, in units of the last place times the square root of the number of columns. The
# factor was checked against exact fractions on badly scaled programs.
_PLACES = 8.0
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Whitened:
    r"""Dissimilar pairs in whitened coordinates.

    Rows :math:`B^T \delta_p` of length more than zero, and B of shape (D, r): r < D if similar
    pairs differ in r directions only, or if fewer points than that are in dissimilar pairs. A
    diagonal B may lack columns. In exact numbers similar pairs are shorter by at most the
    ``share``, and the lengths of dissimilar pairs add up to at most ``stray`` more.
    """

    differences: Array
    basis: Array
    diagonal: bool = False
    share: float = 0.0
    stray: float = 0.0

    def exceeded_by_none(self, bound: float) -> float:
        """A bound of the sum of distances, widened by the bounds of the rounding.

        It is infinite if rounding may change everything.
        """
        return (bound + self.stray) / (1.0 - self.share) if self.share < 1.0 else np.inf


def whiten(pairs: Pairs, *, diagonal: bool = False, ridge: float = 0.0) -> Whitened:
    r"""Whiten the similar pairs.

    The differences of n points span at most n - 1 directions. Let P project onto the span of the
    whitened dissimilar differences. :math:`P A' P` gives each of them the same length and has no
    larger trace than A', so an optimum lies there. With fewer points than coordinates the basis is
    one of that span, unless A is diagonal, which a rotation would not preserve.

    Directions come from singular values of the similar differences, because their squares would
    lose half of the digits. Directions in which similar and dissimilar pairs differ by rounding
    only are left out.

    Parameters
    ----------
    pairs : Pairs
    diagonal : bool, default False
        Scale the features only.
    ridge : float, default 0
        :math:`\rho`; adds :math:`\rho \operatorname{tr}(M_S)/D\; I` to :math:`M_S`.

    Raises
    ------
    InfeasibleError
        Every dissimilar pair has distance zero.
    DataError
        Pairs are of one kind only; or dissimilar ones differ in a direction in which no similar
        pair does: a metric that stretches only this direction costs nothing, so the least cost is
        zero and not attained.

    Examples
    --------
    >>> pairs = Pairs(np.array([[0.0], [2.0], [6.0]]), [[0, 1]], [[1, 2]])
    >>> whiten(pairs).differences
    array([[-2.]])
    """
    spread = _spread(pairs, diagonal, validate.non_negative("ridge", ridge))
    if reason := _outside(spread, diagonal):
        raise DataError(reason)
    basis, steps = spread.basis, spread.steps
    # In a diagonal metric columns are not mixed, so nothing cancels.
    size = np.sqrt(len(spread.units)) * _PLACES * _EPS
    share = spread.rounding / spread.least
    stray = float(np.sum(size * np.linalg.norm(steps, axis=1) + spread.left)) / spread.least
    if diagonal:
        share, stray = size, size * float(np.linalg.norm(steps @ basis, axis=1).sum())
    # A direction left out beyond the rounding of sums may contribute anything in exact numbers.
    if np.any(spread.left > spread.computed):
        share = 1.0
    if not diagonal:
        points = pairs.points[np.unique(pairs.dissimilar)]
        basis = _within_span(basis, (points - points[0]) / spread.units)
    open_ends = float(share), float(stray)
    return Whitened(steps @ basis, basis / spread.units[:, None], diagonal, *open_ends)


def _within_span(basis: Array, points: Array) -> Array:
    """A basis of the span of the points in the given coordinates; the first point is zero."""
    if len(points) > basis.shape[1]:
        return basis
    span = np.linalg.qr((points[1:] @ basis).T)[0]
    return np.asarray(basis @ span)


def unattained(pairs: Pairs, *, diagonal: bool = False) -> str:
    """Explain why no metric attains the least cost without a ridge; empty if one does."""
    return _outside(_spread(pairs, diagonal, 0.0), diagonal)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Dissimilar differences, and the axes along which similar ones differ, in column units."""

    units: Array
    steps: Array
    sizes: Array
    axes: Array
    rest: Array
    least: float
    rounding: float
    computed: Array
    known: Array

    @property
    def basis(self) -> Array:
        return self.axes / self.sizes

    @property
    def left(self) -> Array:
        """Lengths of dissimilar differences outside the axes."""
        return np.asarray(np.linalg.norm(self.rest, axis=1))


def _spread(pairs: Pairs, diagonal: bool, ridge: float) -> _Spread:
    pairs.require_both()
    steps = pairs.differences("dissimilar")
    differ = np.any(steps != 0.0, axis=1)
    steps = steps[differ]
    if not len(steps):
        raise InfeasibleError(
            "in every dissimilar pair the two points are equal, so no metric can hold them "
            "apart. Check the pairs, and whether an earlier step merged the points."
        )
    root, n = pairs.similar_root(), pairs.n_features
    if ridge > 0.0:
        root = np.vstack([root, np.sqrt(ridge / n) * np.linalg.norm(root) * np.eye(n)])
    # Features in units of their own, so that the rank does not depend on units.
    units = np.hypot(np.linalg.norm(root, axis=0), np.linalg.norm(steps, axis=0))
    units[units == 0.0] = 1.0
    root, steps, points = root / units, steps / units, np.abs(pairs.points / units)
    place = _PLACES * _EPS
    rounding = place * np.sqrt(n)
    degree = pairs.similar_degree()
    if diagonal:
        sizes, axes = np.linalg.norm(root, axis=0), np.eye(n)
        coarse = place * np.sqrt(2.0 * degree @ np.square(points))
    else:
        _, sizes, turned = np.linalg.svd(np.linalg.qr(root, mode="r"), full_matrices=False)
        axes, coarse = turned.T, place * np.sqrt(2.0 * degree @ np.square(points).sum(axis=1))
        coarse = np.maximum(coarse, rounding)
    kept = sizes > coarse
    least = float(np.min(sizes, where=sizes > rounding, initial=np.inf))
    sizes, axes = sizes[kept], axes[:, kept]
    inside = steps @ axes
    rest = steps - inside @ axes.T
    i, j = pairs.dissimilar[differ].T
    lengths = np.linalg.norm(steps, axis=1) + np.linalg.norm(inside / sizes, axis=1)
    computed = np.zeros(len(steps)) if diagonal else rounding * lengths
    known = computed + place * np.linalg.norm(points[i] + points[j], axis=1)
    # A pair that lies mostly outside the axes could not be held apart within them.
    known = np.minimum(known, 0.5 * np.linalg.norm(steps, axis=1))
    return _Spread(units, steps, sizes, axes, rest, least, rounding, computed, known)


def _outside(spread: _Spread, diagonal: bool) -> str:
    """Explain that dissimilar pairs leave the axes by more than rounding; empty if none does."""
    beyond = spread.left > spread.known
    count = int(np.sum(beyond))
    if not count:
        return ""
    rest = spread.rest[beyond] / spread.left[beyond, None]
    rank = int(np.linalg.matrix_rank(rest, np.sqrt(_EPS)))
    where = f"{rank} direction{'s' if rank > 1 else ''}"
    if diagonal:
        named = [str(k) for k in np.flatnonzero(np.any(rest != 0.0, axis=0))[:5]]
        where = f"feature{'s' if len(named) > 1 else ''} {', '.join(named)}"
    return (
        f"no similar pair differs along {where} in which {count} dissimilar pairs do. Stretching "
        "only there keeps those apart at no cost, so the least cost is 0 and no metric attains "
        "it. Add similar pairs (more than there are features), reduce the data first (PCA), or "
        "pass ridge=1e-3."
    )
