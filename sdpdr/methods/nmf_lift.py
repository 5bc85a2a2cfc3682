"""Non-negative factorization as a matrix of low rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks.close import Close
from sdpdr.blocks.entries import LeastTrace, NonNegative
from sdpdr.blocks.hoyer import HoyerSparsity
from sdpdr.blocks.lift import FactorLift, Known
from sdpdr.linalg.svec import Index
from sdpdr.model import Block, Model
from sdpdr.nonnegative.inputs import number_of_components
from sdpdr.nonnegative.partial import partial_matrix


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
    r"""Non-negative matrix factorization, but for the rank.

    .. math::

        \min\ \operatorname{tr} \mathcal W + \operatorname{tr} \mathcal H \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & W^T & H \\ W & \mathcal W & V \\ H^T & V^T & \mathcal H
        \end{pmatrix} \succeq 0, \quad V = X, \quad W, H \ge 0 .

    X = W H with k non-negative terms exactly if some feasible Z has rank k. Alone, the program
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
    places = known.places()
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
        blocks.append(NonNegative(lift.order, _others(lift), lift.gram))
    if sparsity is not None:
        blocks.append(HoyerSparsity(lift, sparsity))
    below = np.r_[np.zeros(k), np.ones(sum(known.shape))]
    blocks.append(LeastTrace(lift.order, below, lift.gram))
    return Model(tuple(blocks), name="nmf_lift", maximize=False)


def _others(lift: FactorLift) -> Index:
    """Pairs below the identity, off the diagonal."""
    k = lift.n_components
    return k + np.column_stack(np.triu_indices(lift.order - k, 1))
