"""Convex programs that bound nonnegative factorizations from below."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Index
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.model import Model
from sdpdr.model.blocks import Gram, Known, LeastTrace, NonNegative, TraceAtMost
from sdpdr.model.blocks.factor_norms import product_pairs
from sdpdr.model.blocks.nonnegative import (
    Envelope,
    LowRankBall,
    Overlap,
    SameCorner,
    SlicedProducts,
)


def nmf_dnn(X: ArrayLike, nonnegative: bool = True) -> Model:
    r"""The doubly nonnegative program, a lower bound on the size of every factorization.

    .. math::

        \nu(V) = \min\ \tfrac12 \operatorname{tr} Z \quad\text{s.t.}\quad
        Z = \begin{pmatrix} \mathcal W & V \\ V^T & \mathcal H \end{pmatrix} \succeq 0,
        \quad Z \ge 0 .

    For every :math:`V = \sum_l w_l h_l^T` with :math:`w_l, h_l \ge 0`, of any number of terms,
    :math:`\nu(V) \le \sum_l |w_l| |h_l|`. Without :math:`Z \ge 0` the value is the trace norm.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.
    nonnegative : bool, default True
        Ask for :math:`Z \ge 0`.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        An entry is negative or not finite, or all are zero.

    References
    ----------
    Vasiloglou thesis, (1.42)-(1.44), with the joint matrix in the cone; Fawzi and Parrilo, "Lower
    bounds on nonnegative rank via nonnegative nuclear norms", Mathematical Programming 153, 2015.

    Examples
    --------
    >>> nmf_dnn([[1.0, 0.0], [1.0, 2.0]])
    Gram + Known + NonNegative + LeastTrace
    """
    V = nonnegative_matrix(X)
    n = sum(V.shape)
    model = Model(
        (Gram(n, "Z"), Known(n, product_pairs(V.shape), V.ravel())), "nmf_dnn", maximize=False
    )
    if nonnegative:
        model = model + NonNegative(n, own_blocks(*V.shape), gram="Z")
    return model + LeastTrace(n, np.full(n, 0.5), gram="Z")


def nmf_shor(X: ArrayLike, k: int) -> Model:
    r"""The lift of all entries of both factors to one matrix, of order (N + m) k.

    .. math::

        \min\ \tfrac12 \operatorname{tr} Z \quad\text{s.t.}\quad
        \textstyle\sum_l Z_{(i,l),(j,l)} = V_{ij}, \quad Z \succeq 0, \quad Z \ge 0 .

    Its value is that of `nmf_dnn` for every k, at k\ :sup:`2` times the size, so it is of interest
    for study only: the k slices on the diagonal add up to a feasible matrix of `nmf_dnn`, and such
    a matrix may be put into one slice.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.
    k : int
        1 to min(N, m).

    Returns
    -------
    Model

    Raises
    ------
    DataError
        As `nmf_dnn`, and if k is out of range.

    References
    ----------
    Vasiloglou thesis, (2.46)-(2.50).

    Examples
    --------
    >>> nmf_shor([[1.0, 0.0], [1.0, 2.0]], k=2).size()["matrices"]
    {'Z': 8}
    """
    V = nonnegative_matrix(X)
    products = SlicedProducts(V, number_of_components(k, V.shape, "k"))
    n = products.order
    every = np.column_stack(np.triu_indices(n, 1))
    blocks = (
        Gram(n, "Z"),
        products,
        NonNegative(n, every, gram="Z"),
        LeastTrace(n, np.full(n, 0.5), gram="Z"),
    )
    return Model(blocks, name="nmf_shor", maximize=False)


def nmf_cones(X: ArrayLike) -> Model:
    r"""The small cones, one for each entry of the matrix, in closed form.

    .. math::

        \min\ \tfrac12 \Big(m \sum_i a_i + N \sum_j b_j\Big) \quad\text{s.t.}\quad
        a_i b_j \ge V_{ij}^2, \quad a, b \ge 0 .

    The printed program has N m blocks of order 2k for the rows of W and the columns of H; for every
    k its value is this one. :math:`\sqrt{a_i b_j}` is the tightest matrix of rank one above V: the
    cones know nothing of each other but the lengths of the rows. The value over :math:`\sqrt{N m}`
    is a lower bound on that of `nmf_dnn`, and equals it for matrices of rank one.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        As `nmf_dnn`.

    References
    ----------
    Vasiloglou thesis, (2.51)-(2.54).

    Examples
    --------
    >>> nmf_cones([[1.0, 0.0], [1.0, 2.0]]).size()["scalars"]
    4
    """
    return Model((Envelope(nonnegative_matrix(X)),), name="nmf_cones", maximize=False)


def nmf_overlap(X: ArrayLike, k: int) -> Model:
    r"""How much of a matrix a nonnegative factorization with k components can explain, at most.

    .. math::

        c(V) = \max\ \langle V, Z\rangle \quad\text{s.t.}\quad
        |Z|_{(k)} \le 1, \quad \nu(Z) \le \sqrt k .

    The first is the hull of the matrices of rank k and length one (`LowRankBall`), the second the
    norm of `nmf_dnn`. Every :math:`Z = W H / |W H|_F` with k nonnegative components obeys both,
    and :math:`|V - WH|_F^2 \ge |V|_F^2 - c(V)^2`. Without the second row this is the bound of
    Eckart and Young.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, not negative.
    k : int
        1 to min(N, m).

    Returns
    -------
    Model

    Raises
    ------
    DataError
        As `nmf_dnn`, and if k is out of range.

    See Also
    --------
    sdpdr.nmf_bound : solves it, and draws the conclusion.

    Examples
    --------
    >>> nmf_overlap([[1.0, 0.0], [1.0, 2.0]], k=1).size()["matrices"]
    {'P': 4, 'Q': 4}
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    if V.shape[0] > V.shape[1]:  # the smaller side takes the matrix inequality
        V = V.T
    rows, columns = V.shape
    n = rows + columns
    blocks = (
        LowRankBall(rows, columns, k),
        Gram(n, "Q"),
        TraceAtMost(n, 2.0 * np.sqrt(k), gram="Q"),
        NonNegative(n, gram="Q"),
        SameCorner(rows, columns),
        Overlap(V),
    )
    return Model(blocks, name="nmf_overlap", maximize=True)


def own_blocks(n: int, m: int) -> Index:
    """Pairs of places above the diagonal in the two blocks beside the corner.

    Examples
    --------
    >>> own_blocks(1, 2).tolist()
    [[1, 2]]
    """
    i, j = np.triu_indices(n + m, 1)
    own = (i < n) == (j < n)
    return np.column_stack([i[own], j[own]])
