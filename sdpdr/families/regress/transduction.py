"""Coordinates of samples from known ones, by a quadratic form or by weighted means."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import as_numbers
from sdpdr.families.limits import NEGLIGIBLE
from sdpdr.families.regress.pencils import Pencil, geodesic_pencil, reconstruction_pencil
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.weighing import best_weights
from sdpdr.linalg.inertia import LdlFactor, is_positive_on


def transduce(form: Matrix, Y: ArrayLike) -> Array:
    r"""Complete an embedding of which some rows are known, minimizing a quadratic form.

    .. math:: \min_{Y_u} \operatorname{tr} Y^T M Y
              \quad\Longrightarrow\quad M_{uu} Y_u = -M_{ul} Y_l

    (Tong thesis, (2.35), which lacks the sign and has :math:`M_{ul}` transposed).

    Parameters
    ----------
    form : array_like or sparse array of shape (n, n)
        M, positive semidefinite, and definite on the unknown rows.
    Y : array_like of shape (n,) or (n, d)
        With nan in the rows to be found.

    Returns
    -------
    array of shape (n, d)
        Known rows as given.

    Raises
    ------
    DataError, ShapeError
        No row is known, or the known rows do not determine all others: there are too few, or none
        in a component of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import transduce
    >>> from sdpdr import graphs
    >>> form = graphs.path([1.0, 1.0, 1.0]).laplacian()
    >>> transduce(form, [0.0, np.nan, np.nan, 3.0]).ravel()
    array([0., 1., 2., 3.])
    """
    form = validate.symmetric("form", form, sparse=True)
    values = as_numbers("Y", Y).copy()
    values = values[:, None] if values.ndim == 1 else values
    n = form.shape[0]
    if values.ndim != 2 or len(values) != n:
        raise ShapeError(f"Y has shape {values.shape}; expected {n} rows, as form has {n}.")
    unknown = np.isnan(values).any(axis=1)
    if unknown.all():
        raise DataError("no row of Y is known. Pass some, with nan in the others.")
    if not unknown.any():
        return values
    below = sp.csr_array(form)[unknown]
    within, least = below[:, unknown], NEGLIGIBLE * float(abs(form).max())
    if not is_positive_on(sp.csr_array(within - least * sp.eye_array(within.shape[0]))):
        raise DataError(
            f"{np.sum(~unknown)} known rows do not determine the other {np.sum(unknown)}: the form "
            "is singular on them. Pass more known rows, at least one in each component of the "
            "graph."
        )
    solve = LdlFactor(sp.csr_array(within)).solve
    right = -below[:, ~unknown] @ values[~unknown]
    values[unknown] = np.column_stack([solve(column) for column in right.T])
    return values


def isomap_form(pencil: Pencil, n_components: int) -> Array:
    r"""A form that vanishes on r coordinates of Isomap and the constant alone.

    With :math:`A = Q \Lambda Q^T` of `geodesic_pencil` it is :math:`M = \lambda_1 I - A -
    \sum_{i=2}^r (\lambda_1 - \lambda_i) q_i q_i^T - \lambda_1 \mathbf 1 \mathbf 1^T / n` (Tong
    thesis, (2.37); the sum of (2.38) starts at i = 1).
    """
    r = validate.positive_integer("n_components", n_components)
    values, vectors = np.linalg.eigh(np.asarray(pencil.weights))
    if r >= len(values) or values[-r] <= 0.0:
        raise DataError(
            f"n_components={r} is out of range: the distances have {int(np.sum(values > 0.0))} "
            "positive eigenvalues."
        )
    lifted = np.where(np.arange(len(values)) >= len(values) - r, values[-1], values)
    return np.asarray((vectors * (values[-1] - lifted)) @ vectors.T - values[-1] / len(values))


@takes_graph
def semisupervised_lle(graph: NeighborGraph, Y: ArrayLike) -> Array:
    """Locally linear embedding with some coordinates known, by the form :math:`(I - M)^T (I - M)`.

    Parameters
    ----------
    graph : NeighborGraph
    Y : array_like of shape (n,) or (n, d)
        Coordinates of the samples, with nan in the rows to be found, as for `transduce`.

    Returns
    -------
    array of shape (n, d)

    References
    ----------
    Tong thesis, section 2.4.2; X. Yang, H. Fu, H. Zha and J. Barlow, "Semi-supervised nonlinear
    dimensionality reduction", ICML 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import semisupervised_lle
    >>> from sdpdr import graphs
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> y = np.where(np.arange(31) % 10 == 0, t, np.nan)
    >>> bool(np.abs(semisupervised_lle(graphs.knn(arc, 4), y)[:, 0] - t).max() < 0.02)
    True
    """
    pencil = reconstruction_pencil(graph)
    return transduce(pencil.mass_matrix - pencil.weights, Y)


@takes_graph
def semisupervised_isomap(graph: NeighborGraph, Y: ArrayLike, n_components: int = 2) -> Array:
    """Isomap with some coordinates known, by a form that vanishes on what Isomap returns.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    Y : array_like of shape (n,) or (n, d)
        As for `semisupervised_lle`; at least n_components + 1 rows known.
    n_components : int, default 2
        How many coordinates of Isomap are combined.

    Returns
    -------
    array of shape (n, d)

    References
    ----------
    Tong thesis, (2.37); the sum of (2.38) starts at i = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import semisupervised_isomap
    >>> from sdpdr import graphs
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> y = np.where(np.arange(31) % 10 == 0, t, np.nan)
    >>> bool(np.abs(semisupervised_isomap(graphs.knn(arc, 4), y)[:, 0] - t).max() < 0.02)
    True
    """
    return transduce(isomap_form(geodesic_pencil(graph), n_components), Y)


# -- weighted means of neighbours ------------------------------------------------------------------


def reconstructing(
    points: Array, seen: Array, anchors: Index, k: int, *, precomputed: bool
) -> tuple[Index, Array]:
    """Nearest anchors of new points, as positions in ``anchors``, and weights of sum one.

    If only distances to the samples are known, the nearest sample has weight one.
    """
    if precomputed:
        near = np.argmin(points[:, anchors], axis=1)[:, None]
        return near, np.ones(near.shape)
    return barycentric_weights(np.asarray(seen, dtype=float)[anchors], points, k)


def barycentric_weights(
    known: Array, points: Array | None, n_neighbors: int
) -> tuple[Index, Array]:
    """Nearest anchors and the weights of locally linear embedding (Tong thesis, 2.2.2).

    Without ``points`` each known one is reproduced by others. A point that coincides with a known
    one has only that one.
    """
    count = min(n_neighbors, len(known) - (points is None))
    # Without an argument the search leaves out each point itself, duplicates or not.
    distance, near = NearestNeighbors(n_neighbors=count).fit(known).kneighbors(points)
    steps = known[near] - (known if points is None else points)[:, None, :]
    local = np.einsum("mid,mjd->mij", steps, steps)
    same = distance[:, 0] == 0.0
    weights = np.zeros(near.shape)
    weights[same, 0] = 1.0
    weights[~same] = best_weights(local[~same], iterations=1)
    return near, weights
