r"""Coordinates of points from a kernel, and those in which similar pairs look alike.

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

# Relative to the largest eigenvalue: smaller ones are rounding, and more negative ones a fault.
_RANK = 1e-10
_INDEFINITE = 1e-8


@dataclass(frozen=True, eq=False)
class KernelCoordinates:
    r"""Coordinates Z with :math:`Z Z^T = K`, and how to place new points among them.

    With :math:`K = U \Lambda U^T`, :math:`Z = U_+ \Lambda_+^{1/2}`, and a point x with kernel
    values :math:`k_x` to those known has :math:`z = \Lambda_+^{-1/2} U_+^T k_x`. A metric A on Z
    is :math:`(k_x - k_y)^T W (k_x - k_y)` with :math:`W = U_+\Lambda_+^{-1/2} A
    \Lambda_+^{-1/2} U_+^T`; its trace is :math:`\operatorname{tr} A = \operatorname{tr} K W`, and
    not tr W.

    Attributes
    ----------
    coordinates : array of shape (n, r)
        Z.
    placing : array of shape (n, r)
        :math:`U_+ \Lambda_+^{-1/2}`, so that ``k_x @ placing`` are the coordinates of x.
    """

    coordinates: Array
    placing: Array


def kernel_coordinates(kernel: Array, n_components: int | None = None) -> KernelCoordinates:
    """Coordinates of the points of a kernel matrix.

    Parameters
    ----------
    kernel : array of shape (n, n)
        K, symmetric positive semidefinite.
    n_components : int, optional
        At most that many coordinates, those of the largest eigenvalues; all by default.

    Raises
    ------
    DataError
        K is not symmetric, not positive semidefinite, or zero.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> found = kernel_coordinates(X @ X.T)
    >>> found.coordinates.shape
    (3, 2)
    >>> bool(np.allclose(X @ X.T @ found.placing, found.coordinates))
    True
    """
    if len({*np.shape(kernel)}) != 1 or np.ndim(kernel) != 2:
        raise DataError(f"a kernel matrix is square; this one has shape {np.shape(kernel)}.")
    values, vectors = np.linalg.eigh(validate.symmetric("kernel", kernel))
    if values[-1] <= 0.0 or values[0] < -_INDEFINITE * values[-1]:
        raise DataError(
            f"the kernel matrix is not positive semidefinite: its eigenvalues range over "
            f"{values[0]:.3g}..{values[-1]:.3g}. Pass similarities, not distances; of squared "
            "distances D, exp(-gamma * D) will do."
        )
    kept = np.flatnonzero(values > _RANK * values[-1])[::-1][:n_components]
    root = np.sqrt(values[kept])
    return KernelCoordinates(vectors[:, kept] * root, vectors[:, kept] / root)


# Directions in which similar pairs differ less than this, relatively and squared, do not count.
_SINGULAR = 1e-12
# Length of a dissimilar pair, relative, that counts as lying outside their span.
_OUTSIDE = 1e-7


@dataclass(frozen=True, eq=False)
class Whitened:
    r"""Dissimilar pairs in whitened coordinates.

    Attributes
    ----------
    differences : array of shape (q, r)
        Rows :math:`B^T \delta_p`, those of length zero left out.
    basis : array of shape (D, r)
        B; r < D where similar pairs differ in r directions only, or where fewer points than that
        are in dissimilar pairs.
    diagonal : bool
        Whether A is to be diagonal; B is then diagonal as well, up to columns left out.
    """

    differences: Array
    basis: Array
    diagonal: bool = False


def whiten(pairs: Pairs, *, diagonal: bool = False, ridge: float = 0.0) -> Whitened:
    r"""Whiten the similar pairs.

    Of n points in dissimilar pairs, these differ within n - 1 directions. Let P project onto the
    span of the whitened differences. :math:`P A' P` leaves each of them its length and has no
    larger a trace than A', so that an optimum lies there. Of fewer points than coordinates the
    basis is of that span, unless A is to be diagonal, which turned coordinates do not say.

    Parameters
    ----------
    pairs : Pairs
    diagonal : bool, default False
        Scale the features only.
    ridge : float, default 0
        Adds :math:`\rho \operatorname{tr}(M_S)/D\; I` to :math:`M_S`, with :math:`\rho` the
        number given.

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
    ridge = validate.non_negative("ridge", ridge)
    differences, units, values, vectors, kept = _spread(pairs, diagonal, ridge)
    if said := _outside(differences, vectors[:, ~kept], diagonal):
        raise DataError(said)
    basis = vectors[:, kept] / np.sqrt(values[kept])
    if not diagonal:
        basis = _within_span(basis, pairs.points[np.unique(pairs.dissimilar)] / units)
    return Whitened(differences @ basis, basis / units[:, None], diagonal)


def _within_span(basis: Array, points: Array) -> Array:
    """The basis turned and cut to directions along which the points differ in it."""
    if len(points) > basis.shape[1]:
        return basis
    span = np.linalg.qr(((points[1:] - points[0]) @ basis).T)[0]
    return np.asarray(basis @ span)


def unattained(pairs: Pairs, *, diagonal: bool = False) -> str:
    """In words, why no metric has the least cost without a ridge; empty if one has.

    Examples
    --------
    >>> pairs = Pairs(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), [[0, 1]], [[0, 2]])
    >>> unattained(pairs).partition(".")[0]
    'no similar pair differs along 1 direction in which 1 dissimilar pairs do'
    """
    differences, _, _, vectors, kept = _spread(pairs, diagonal, 0.0)
    return _outside(differences, vectors[:, ~kept], diagonal)


def _spread(
    pairs: Pairs, diagonal: bool, ridge: float
) -> tuple[Array, Array, Array, Array, np.ndarray]:
    """Dissimilar differences, units, spectrum and axes of the scatter, and which axes count."""
    pairs.require_both()
    differences = pairs.differences("dissimilar")
    differences = differences[np.any(differences != 0.0, axis=1)]
    if not len(differences):
        raise InfeasibleError(
            "in every dissimilar pair the two points are equal, so no metric can hold them "
            "apart. Check the pairs, or that no step before has merged the points."
        )
    scatter = pairs.scatter("similar")
    n = pairs.n_features
    scatter = scatter + ridge * np.trace(scatter) / n * np.eye(n)
    # Features in units of their own, so that what counts as singular does not depend on units.
    units = np.sqrt(np.diag(scatter) + np.square(differences).sum(axis=0))
    units[units == 0.0] = 1.0
    scatter = scatter / np.outer(units, units)
    differences = differences / units
    if diagonal:
        values, vectors = np.diag(scatter), np.eye(n)
    else:
        values, vectors = np.linalg.eigh(scatter)
    kept = values > _SINGULAR * max(float(values.max()), 1.0)
    return differences, units, values, vectors, kept


def _outside(differences: Array, null: Array, diagonal: bool) -> str:
    outside = np.linalg.norm(differences @ null, axis=1) / np.linalg.norm(differences, axis=1)
    count = int(np.sum(outside > _OUTSIDE))
    if not count:
        return ""
    rank = int(np.linalg.matrix_rank(differences @ null, _OUTSIDE * np.linalg.norm(differences)))
    where = f"{rank} direction{'s' if rank > 1 else ''}"
    if diagonal:
        features = np.flatnonzero(np.any(np.abs(differences @ null) > _OUTSIDE, axis=0))
        named = [str(int(np.argmax(null[:, k]))) for k in features[:5]]
        where = f"feature{'s' if len(named) > 1 else ''} {', '.join(named)}"
    return (
        f"no similar pair differs along {where} in which {count} dissimilar pairs do. Stretching "
        "only there keeps those apart at no cost, so the least cost is 0 and no metric attains "
        "it. Add similar pairs (more than there are features), reduce the data first (PCA), or "
        "pass ridge=1e-3."
    )
