"""Nonnegative factorization as a matrix of low rank, and by small cones, one for each product."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.families.factor.nonnegative.inputs import (
    nonnegative_matrix,
    number_of_components,
    partial_matrix,
)
from sdpdr.model import Block, Model
from sdpdr.model.blocks.entries import Close, LeastTrace, NonNegative
from sdpdr.model.blocks.lift import FactorLift, Known
from sdpdr.model.blocks.nonnegative import HoyerSparsity, ProductSums, Scalarised, SmallProducts


def nmf_lift(
    X: ArrayLike,
    n_components: int,
    *,
    observed: ArrayLike | None = None,
    error: float | None = None,
    sparsity: float | None = None,
    nonnegative: bool = True,
    dnn: bool = False,
) -> Model:
    r"""Nonnegative matrix factorization, but for the rank.

    .. math::

        \min\ \operatorname{tr} \mathcal W + \operatorname{tr} \mathcal H \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & W^T & H \\ W & \mathcal W & V \\ H^T & V^T & \mathcal H
        \end{pmatrix} \succeq 0, \quad V = X, \quad W, H \ge 0 .

    X = W H with k nonnegative terms exactly if some feasible Z has rank k. Alone, the program
    knows nothing of k: its optimum is :math:`2 |X|_*`, twice the trace norm (with ``dnn`` a lower
    bound of :math:`2 \sum_l |w_l| |h_l|` over factorizations with any number of terms).
    `sdpdr.factorize.nmf` presses it towards the rank.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative; ``nan`` where an entry is not known.
    n_components : int
        k, from 1 to min(n, m).
    observed : array_like of bool, shape (n, m), optional
        False where an entry is not known, as if it were ``nan``.
    error : float, optional
        Allow :math:`|V - X|_F \le \epsilon` over the known entries, in place of V = X.
    sparsity : float, optional
        Hoyer's measure of W in [0, 1], see `sdpdr.blocks.HoyerSparsity`.
    nonnegative : bool, default True
        Keep W and H from having negative entries.
    dnn : bool, default False
        Keep all other entries of Z from it too, which fills the matrix.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        A negative entry (its place is named), nothing but zeros, a row or column without known
        entries, or k out of range.
    ModelError
        An error that is not positive, or a sparsity outside [0, 1].

    References
    ----------
    Vasiloglou thesis, (2.71) and (2.111).

    Examples
    --------
    >>> import sdpdr
    >>> X = [[1.0, 2.0], [3.0, 4.0]]
    >>> model = nmf_lift(X, 1)
    >>> model
    FactorLift + Known + NonNegative + LeastTrace
    >>> round(sdpdr.solve(model).value, 5), round(2 * float(np.linalg.norm(X, "nuc")), 5)
    (11.6619, 11.6619)
    """
    known = partial_matrix(X, observed)
    k = number_of_components(n_components, known.shape)
    lift = FactorLift(k, *known.shape)
    places = known.positions()
    pairs = k + places + np.array([0, known.shape[0]])
    values = known.values[tuple(places.T)]
    blocks: list[Block] = [lift]
    if error is None:
        blocks.append(Known(lift.order, pairs, values, lift.gram))
    else:
        blocks.append(Close(lift.order, pairs, values, error, lift.gram))
    if nonnegative:
        signs = np.vstack([lift.left(), lift.right()])
        blocks.append(NonNegative(lift.order, signs, lift.gram))
    if dnn:
        others = k + np.column_stack(np.triu_indices(lift.order - k, 1))
        blocks.append(NonNegative(lift.order, others, lift.gram))
    if sparsity is not None:
        blocks.append(HoyerSparsity(lift, sparsity))
    below = np.r_[np.zeros(k), np.ones(sum(known.shape))]
    blocks.append(LeastTrace(lift.order, below, lift.gram))
    return Model(tuple(blocks), name="nmf_lift", maximize=False)


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

    What is minimised is convex, and what is wanted, :math:`T = W^2` and :math:`S = H^2`, is not.
    With weights that are alike for all terms, zero or any number, some optimum has k equal columns,
    a factorization of rank one: the program does not change when terms are exchanged. Weights
    :math:`C_W = 2 W_t`, :math:`C_H = 2 H_t` from a point without that symmetry majorize
    :math:`\sum (T - W^2) + \sum (S - H^2)`, so that solving again with them lowers it.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative.
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
    >>> import sdpdr
    >>> model = nmf_products([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> model
    SmallProducts + ProductSums + Scalarised
    >>> sdpdr.solve(model, tol=1e-7).certified(1e-5)
    True
    """
    matrix = nonnegative_matrix(X)
    k = number_of_components(n_components, matrix.shape)
    n, m = matrix.shape
    blocks = (
        SmallProducts(n, m, k),
        ProductSums(matrix, k),
        Scalarised(_weights("left", left, (n, k)), _weights("right", right, (k, m))),
    )
    return Model(blocks, name="nmf_products", maximize=False)


def _weights(name: str, given: ArrayLike | float, shape: tuple[int, int]) -> Array:
    try:
        return np.broadcast_to(np.asarray(given, dtype=float), shape).copy()
    except ValueError:
        raise ShapeError(f"{name} must have shape {shape}; it has {np.shape(given)}.") from None
