"""Nonnegative factorization as semidefinite programs: lifts of the factors, and lower bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.inputs import (
    nonnegative_matrix,
    number_of_components,
    partial_matrix,
)
from sdpdr.linalg.svec import SQRT2
from sdpdr.model import Block, InCone, Model
from sdpdr.model.blocks.entries import Close, LeastTrace, NonNegative
from sdpdr.model.blocks.expressions import Stated
from sdpdr.model.blocks.gram import Gram
from sdpdr.model.blocks.lift import FactorLift, Known, product_pairs
from sdpdr.model.language import maximize, minimize, psd, scalar

# Rows and columns together up to which an interior-point method is the fastest for these programs.
EXACT = 40


@checks_keywords
def nmf_lift(
    X: ArrayLike,
    n_components: int,
    *,
    error: float | None = None,
    sparsity: float | None = None,
    dnn: bool = False,
) -> Model:
    r"""Nonnegative matrix factorization, but for the rank.

    .. math::

        \min\ \operatorname{tr} \mathcal W + \operatorname{tr} \mathcal H \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & W^T & H \\ W & \mathcal W & V \\ H^T & V^T & \mathcal H
        \end{pmatrix} \succeq 0, \quad V = X, \quad W, H \ge 0 .

    X = W H with k nonnegative terms exactly if some feasible Z has rank k. Alone, the program
    does not depend on k: its optimum is :math:`2 |X|_*`, twice the trace norm (with ``dnn`` a lower
    bound of :math:`2 \sum_l |w_l| |h_l|` over factorizations with any number of terms).
    `sdpdr.factorize.nmf` lowers the rank.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Nonnegative; ``nan`` where an entry is missing.
    n_components : int
        k, from 1 to min(n, m).
    error : float, optional
        Allow :math:`|V - X|_F \le \epsilon` over the known entries, in place of V = X.
    sparsity : float, optional
        Hoyer's measure :math:`s` of W in [0, 1], by :math:`\operatorname{tr} \mathcal W = 1` and
        :math:`\sum_{il} W_{il} = \sqrt p - (\sqrt p - 1)\, s` with p = nk. Before the rank is met
        these rows say little, and a single program meets them with any s.
    dnn : bool, default False
        Require all other entries of Z to be nonnegative too, which fills the matrix.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        A negative entry (the message names it), only zeros, a row or column without known entries,
        or k out of range.
    ModelError
        An error that is not positive, or a sparsity outside [0, 1].

    References
    ----------
    Vasiloglou thesis, (2.71) and (2.111), and for sparsity (2.61)-(2.64), where p is printed as the
    number of columns and the ends of the scale are exchanged; P. O. Hoyer, Journal of Machine
    Learning Research 5, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.methods import nmf_lift
    >>> import sdpdr
    >>> X = [[1.0, 2.0], [3.0, 4.0]]
    >>> model = nmf_lift(X, 1)
    >>> model
    FactorLift + Known + NonNegative + LeastTrace
    >>> round(sdpdr.solve(model).value, 5), round(2 * float(np.linalg.norm(X, "nuc")), 5)
    (11.6619, 11.6619)
    """
    V = partial_matrix(X)
    k = number_of_components(n_components, V.shape)
    lift = FactorLift(k, *V.shape)
    known = np.argwhere(~np.isnan(V))
    pairs, values = k + known + np.array([0, len(V)]), V[tuple(known.T)]
    signs = np.vstack([lift.left(), lift.right()])
    blocks: list[Block] = [
        lift,
        Known(lift.order, pairs, values, lift.gram)
        if error is None
        else Close(lift.order, pairs, values, error, lift.gram),
        NonNegative(lift.order, signs, lift.gram),
    ]
    if dnn:
        others = k + np.column_stack(np.triu_indices(lift.order - k, 1))
        blocks.append(NonNegative(lift.order, others, lift.gram))
    if sparsity is not None:
        blocks.extend(_hoyer_sparsity(lift, sparsity))
    below = np.r_[np.zeros(k), np.ones(sum(V.shape))]
    blocks.append(LeastTrace(lift.order, below, lift.gram))
    return Model(tuple(blocks), name="nmf_lift", maximize=False)


def _hoyer_sparsity(lift: FactorLift, sparsity: float) -> tuple[Block, Block]:
    """The sum of squares and the sum of W."""
    if not 0.0 <= sparsity <= 1.0:
        raise ModelError(f"sparsity must lie in [0, 1]; it is {sparsity}.")
    pairs, root = lift.left(), np.sqrt(lift.left().shape[0])
    Z = psd(lift.gram, lift.order)
    W, squares = Z[tuple(pairs.T)], Z.diagonal()[lift.rows]
    length = (squares.sum() == 1.0).named("squares")
    return length, (W.sum() == root - (root - 1.0) * sparsity).named("sum")


@checks_keywords
def nmf_products(
    X: ArrayLike,
    n_components: int,
    *,
    left: ArrayLike | float = 0.0,
    right: ArrayLike | float = 0.0,
) -> Model:
    r"""Nonnegative matrix factorization with every product lifted on its own.

    .. math::

        \min\ \sum_{il} T_{il} + \sum_{lj} S_{lj} - \langle C_W, W\rangle - \langle C_H, H\rangle
        \quad\text{s.t.}\quad \sum_l V_{ijl} = x_{ij},\quad
        \begin{pmatrix} 1 & W_{il} & H_{lj} \\ \cdot & T_{il} & V_{ijl} \\ \cdot & \cdot & S_{lj}
        \end{pmatrix} \succeq 0,\quad W, H \ge 0 .

    The program is convex, but the wanted equalities :math:`T = W^2` and :math:`S = H^2` are not.
    With weights that are alike for all terms, zero or any number, some optimum has k equal columns,
    a factorization of rank one: the program does not change when terms are exchanged. Weights
    :math:`C_W = 2 W_t`, :math:`C_H = 2 H_t` from a point without that symmetry majorize
    :math:`\sum (T - W^2) + \sum (S - H^2)`, so that solving again with them lowers it.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Nonnegative.
    n_components : int
        k, from 1 to min(n, m).
    left : array_like of shape (n, k) or number, default 0
        :math:`C_W`.
    right : array_like of shape (k, m) or number, default 0
        :math:`C_H`.

    Returns
    -------
    Model

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Vasiloglou thesis, (2.55)-(2.60), whose second form, of order two, is not linear.

    Examples
    --------
    >>> from sdpdr.methods import nmf_products
    >>> import sdpdr
    >>> model = nmf_products([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> model
    SmallProducts + ProductSums + Objective
    >>> sdpdr.solve(model, tol=1e-7).certified(1e-5)
    True
    """
    V = nonnegative_matrix(X)
    k = number_of_components(n_components, V.shape)
    n, m = V.shape
    W, T = (scalar(name, n * k, nonnegative=name == "W").reshape(n, k) for name in "WT")
    H, S = (scalar(name, m * k, nonnegative=name == "H").reshape(m, k) for name in "HS")
    products = scalar("V", n * m * k).reshape(n, m, k)
    i, j, term = np.indices(products.shape).reshape(3, -1)
    one, w, h, v = np.ones(i.size), W[i, term], H[j, term], products.ravel()
    cones = np.stack([one, SQRT2 * w, T[i, term], SQRT2 * h, SQRT2 * v, S[j, term]], axis=1)
    costs = T.sum() - (_weights("left", left, (n, k)) * W).sum()
    costs = costs + S.sum() - (_weights("right", right, (k, m)).T * H).sum()
    blocks = (
        _small_cones("small_products", cones, "product"),
        (products.sum(axis=2) == V).named("product_sums"),
        minimize(costs),
    )
    return Model(blocks, name="nmf_products")


def _small_cones(label: str, rows: Any, name: str = "") -> Stated:
    """One positive semidefinite matrix for each row, which holds its svec."""
    cones = [InCone(row, "psd", name=name) for row in rows]
    return Stated(label, cones, list(rows.declared.values()))


def _weights(name: str, given: ArrayLike | float, shape: tuple[int, int]) -> Array:
    try:
        return np.broadcast_to(np.asarray(given, dtype=float), shape).copy()
    except ValueError:
        raise ShapeError(f"{name} must have shape {shape}; it has {np.shape(given)}.") from None


@checks_keywords
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
        V, nonnegative.
    nonnegative : bool, default True
        Require :math:`Z \ge 0`.

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
    >>> from sdpdr.methods import nmf_dnn
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


@checks_keywords
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
        V, nonnegative.
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
    >>> from sdpdr.methods import nmf_shor
    >>> nmf_shor([[1.0, 0.0], [1.0, 2.0]], k=2).size()["matrices"]
    {'Z': 8}
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    n = sum(V.shape) * k
    # Index i k + l stands for W_il, and index N k + j k + l for H_jl.
    pairs = (
        np.repeat(product_pairs(V.shape), k, axis=0) * k + np.tile(np.arange(k), V.size)[:, None]
    )
    Z = psd("Z", n)
    products = Z[tuple(pairs.T)].reshape(V.size, k).sum(axis=1)
    sliced = (products == V.ravel()).named("sliced_products")
    signs = (Z[np.triu_indices(n, 1)] >= 0.0).named("non_negative")
    return Model((minimize(0.5 * Z.trace()), sliced, signs), name="nmf_shor")


@checks_keywords
def nmf_cones(X: ArrayLike) -> Model:
    r"""The small cones, one for each entry of the matrix, in closed form.

    .. math::

        \min\ \tfrac12 \Big(m \sum_i a_i + N \sum_j b_j\Big) \quad\text{s.t.}\quad
        a_i b_j \ge V_{ij}^2, \quad a, b \ge 0 .

    The printed program has N m blocks of order 2k for the rows of W and the columns of H; for every
    k its value is this one. :math:`\sqrt{a_i b_j}` is the tightest matrix of rank one above V: the
    cones share nothing but the lengths of the rows. The value over :math:`\sqrt{N m}`
    is a lower bound on that of `nmf_dnn`, and equals it for matrices of rank one.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative.

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
    >>> from sdpdr.methods import nmf_cones
    >>> nmf_cones([[1.0, 0.0], [1.0, 2.0]]).size()["scalars"]
    4
    """
    V = nonnegative_matrix(X)
    n, m = V.shape
    a, b = scalar("a", n, nonnegative=True), scalar("b", m, nonnegative=True)
    i, j = np.nonzero(V)  # zeros require nothing
    cones = _small_cones("envelope", np.stack([a[i], SQRT2 * V[i, j], b[j]], axis=1))
    return Model((minimize(0.5 * (m * a.sum() + n * b.sum())), cones), name="nmf_cones")


@checks_keywords
def nmf_overlap(X: ArrayLike, k: int) -> Model:
    r"""How much of a matrix a nonnegative factorization with k components can explain, at most.

    .. math::

        c(V) = \max\ \langle V, Z\rangle \quad\text{s.t.}\quad
        |Z|_{(k)} \le 1, \quad \nu(Z) \le \sqrt k .

    The first is the hull of the matrices of rank k and length one, the second the norm of
    `nmf_dnn`. Z is in the hull exactly if it is the corner of

    .. math::

        P = \begin{pmatrix} \Theta & Z \\ Z^T & T \end{pmatrix} \succeq 0, \qquad
        \Theta \preceq I, \quad \operatorname{tr}\Theta \le k, \quad \operatorname{tr} T \le 1 .

    Every :math:`Z = W H / |W H|_F` with k nonnegative components satisfies both,
    and :math:`|V - WH|_F^2 \ge |V|_F^2 - c(V)^2`. Without the second constraint this is the bound
    of Eckart and Young.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative.
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

    References
    ----------
    McDonald, Pontil and Stamos, "Spectral k-support norm regularization", NIPS 27, 2014.

    Examples
    --------
    >>> from sdpdr.methods import nmf_overlap
    >>> nmf_overlap([[1.0, 0.0], [1.0, 2.0]], k=1).size()["matrices"]
    {'P': 4, 'Q': 4}
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    if V.shape[0] > V.shape[1]:  # the smaller side takes the matrix inequality
        V = V.T
    rows, columns = V.shape
    n = rows + columns
    P, Q = psd("P", n), psd("Q", n)
    low_rank_ball = (
        (P.diagonal()[:rows].sum() <= float(k)).named("rank"),
        (P.diagonal()[rows:].sum() <= 1.0).named("length"),
        (P[:rows, :rows] << np.eye(rows)).named("projection"),
    )
    trace = (Q.trace() <= 2.0 * np.sqrt(k)).named("trace_at_most")
    signs = (Q[np.triu_indices(n, 1)] >= 0.0).named("non_negative")
    same = (P[:rows, rows:] == Q[:rows, rows:]).named("same_corner")
    overlap = maximize((V * P[:rows, rows:]).sum())
    return Model((overlap, *low_rank_ball, trace, signs, same), name="nmf_overlap")


def own_blocks(n: int, m: int) -> Index:
    """Pairs of indices above the diagonal in the two diagonal blocks."""
    i, j = np.triu_indices(n + m, 1)
    own = (i < n) == (j < n)
    return np.column_stack([i[own], j[own]])
