"""Coordinates of samples from known ones, by a quadratic form or weighted means."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.pencils import geodesic_pencil, reconstruction_pencil
from sdpdr.families.regress.ridge import as_columns
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.weighing import best_weights
from sdpdr.linalg.inertia import LdlFactor, is_positive_on

# Eigenvalues below this share of the largest entry leave coordinates undetermined.
_SINGULAR = 1e-12


def barycentric_weights(
    known: Array, points: Array, n_neighbors: int, *, leave_self: bool = False
) -> tuple[Index, Array]:
    r"""Nearest known points, and weights of sum one with which they reproduce new points.

    These are the weights of locally linear embedding,
    :math:`(C + \epsilon \operatorname{tr}(C) I) w = \mathbf 1` with the Gram matrix C of the
    neighbours seen from the new point.

    Parameters
    ----------
    known : array of shape (n, D)
    points : array of shape (q, D)
    n_neighbors : int
        At most n of them are used.
    leave_self : bool, default False
        The points are the known ones, and none is reproduced by itself.

    Returns
    -------
    near : array of int, shape (q, k)
        Rows of ``known``.
    weights : array of shape (q, k)
        A point that coincides with a known one has only that one.

    References
    ----------
    Roweis and Saul, Science 290, 2000; Tong thesis, section 2.2.2.

    Examples
    --------
    >>> known = np.array([[0.0], [1.0], [3.0]])
    >>> near, weights = barycentric_weights(known, np.array([[0.25]]), 2)
    >>> near, weights.round(3)
    (array([[0, 1]]), array([[0.75, 0.25]]))
    """
    search = NearestNeighbors(n_neighbors=min(n_neighbors, len(known) - leave_self)).fit(known)
    # Without an argument the search leaves out each point itself, duplicates or not.
    distance, near = search.kneighbors(None if leave_self else points)
    steps = known[near] - points[:, None, :]
    local = np.einsum("mid,mjd->mij", steps, steps)
    same = distance[:, 0] == 0.0
    weights = np.zeros(near.shape)
    weights[same, 0] = 1.0
    weights[~same] = best_weights(local[~same], iterations=1)
    return near, weights


def transduce(form: Matrix, Y: ArrayLike) -> Array:
    r"""Complete an embedding of which some rows are known, minimizing a quadratic form.

    .. math:: \min_{Y_u} \operatorname{tr} Y^T M Y
              \quad\Longrightarrow\quad M_{uu} Y_u = -M_{ul} Y_l .

    Parameters
    ----------
    form : array or sparse array of shape (n, n)
        M, positive semidefinite, and definite on the unknown rows.
    Y : array_like of shape (n,) or (n, d)
        With nan in the rows to be found.

    Returns
    -------
    array of shape (n, d)
        Known rows as given.

    Raises
    ------
    DataError
        No row is known, or the known rows do not determine all others: there are too few, or none
        in a component of the graph.
    ShapeError

    References
    ----------
    Tong thesis, (2.35), which lacks the sign and has :math:`M_{ul}` transposed.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> form = graphs.path([1.0, 1.0, 1.0]).laplacian()
    >>> transduce(form, [0.0, np.nan, np.nan, 3.0]).ravel()
    array([0., 1., 2., 3.])
    """
    Y = np.array(Y, dtype=float)
    Y = as_columns(Y, len(Y))
    if form.shape != (len(Y), len(Y)):
        raise ShapeError(
            f"form has shape {form.shape}; expected ({len(Y)}, {len(Y)}), as Y has {len(Y)} rows."
        )
    unknown = np.flatnonzero(np.isnan(Y).any(axis=1))
    known = np.setdiff1d(np.arange(len(Y)), unknown)
    if not known.size:
        raise DataError("no row of Y is known. Pass some, with nan in the others.")
    if not unknown.size:
        return Y
    matrix: Any = sp.csr_array(form)
    within = sp.csr_array(matrix[unknown][:, unknown])
    least = _SINGULAR * float(abs(matrix).max())
    if not is_positive_on(sp.csr_array(within - least * sp.eye_array(unknown.size))):
        raise DataError(
            f"{known.size} known rows do not determine the other {unknown.size}: the form is "
            "singular on them. Pass more known rows, at least one in each component of the graph."
        )
    solve = LdlFactor(within).solve
    right = -matrix[unknown][:, known] @ Y[known]
    Y[unknown] = np.column_stack([solve(column) for column in right.T])
    return Y


def isomap_form(pencil: Pencil, n_components: int) -> Array:
    r"""A form whose null space is spanned by the coordinates of Isomap and the constant.

    .. math:: M = \lambda_1 I - A - \sum_{i=2}^r (\lambda_1 - \lambda_i) q_i q_i^T
              - \lambda_1 \mathbf 1 \mathbf 1^T / n

    with :math:`A = Q \Lambda Q^T` of `geodesic_pencil`.

    Parameters
    ----------
    pencil : Pencil
        With the centred matrix A as weights.
    n_components : int
        r.

    References
    ----------
    Tong thesis, (2.37); the sum of (2.38) starts at i = 1.
    """
    r = validate.positive_integer("n_components", n_components)
    A = np.asarray(pencil.weights)
    values, vectors = np.linalg.eigh(A)
    if r >= len(values) or values[-r] <= 0.0:
        raise DataError(
            f"n_components={r} is out of range: the distances have {int(np.sum(values > 0.0))} "
            "positive eigenvalues."
        )
    top = values[-1]
    head = vectors[:, ::-1][:, 1:r]
    lifted = (head * (top - values[::-1][1:r])) @ head.T
    n = len(values)
    return np.asarray(top * np.eye(n) - A - lifted - top / n)


def semisupervised_lle(graph: NeighborGraph, Y: ArrayLike) -> Array:
    """Locally linear embedding with some coordinates known, by the form :math:`(I - M)^T (I - M)`.

    Parameters
    ----------
    graph : NeighborGraph
    Y : array_like of shape (n,) or (n, d)
        Coordinates of the samples, with nan in the rows to be found.

    Returns
    -------
    array of shape (n, d)

    Raises
    ------
    DataError, ShapeError
        As `transduce`.

    References
    ----------
    Tong thesis, section 2.4.2; X. Yang, H. Fu, H. Zha and J. Barlow, "Semi-supervised nonlinear
    dimensionality reduction", ICML 2006.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> y = np.where(np.arange(31) % 10 == 0, t, np.nan)
    >>> bool(np.abs(semisupervised_lle(graphs.knn(arc, 4), y)[:, 0] - t).max() < 0.02)
    True
    """
    pencil = reconstruction_pencil(graph)
    return transduce(pencil.mass_matrix - pencil.weights, Y)


def semisupervised_isomap(graph: NeighborGraph, Y: ArrayLike, n_components: int = 2) -> Array:
    """Isomap with some coordinates known; see `isomap_form`.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    Y : array_like of shape (n,) or (n, d)
        Coordinates of the samples, with nan in the rows to be found; at least n_components + 1 of
        them known.
    n_components : int, default 2
        How many coordinates of Isomap are combined.

    Returns
    -------
    array of shape (n, d)

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError

    References
    ----------
    As of `semisupervised_lle`.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> y = np.where(np.arange(31) % 10 == 0, t, np.nan)
    >>> bool(np.abs(semisupervised_isomap(graphs.knn(arc, 4), y)[:, 0] - t).max() < 0.02)
    True
    """
    return transduce(isomap_form(geodesic_pencil(graph), n_components), Y)


def reconstructing(
    points: Array, seen: Array, placed: Index, k: int, *, precomputed: bool
) -> tuple[Index, Array]:
    """Nearest placed samples of new points, as positions in ``placed``, and weights of sum one.

    If only distances to the samples are known, the nearest sample has weight one.
    """
    if precomputed:
        near = np.argmin(points[:, placed], axis=1)[:, None]
        return near, np.ones(near.shape)
    return barycentric_weights(np.asarray(seen, dtype=float)[placed], points, k)
