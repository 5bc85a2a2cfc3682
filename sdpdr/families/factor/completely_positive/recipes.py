"""Completely positive factorization as a matrix of low rank, and copositive cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.copositive import obvious_certificate
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix
from sdpdr.model import Model
from sdpdr.model.blocks.copositive import Along, Copositive, Cut, SplitCopositive
from sdpdr.model.blocks.entries import NonNegative
from sdpdr.model.blocks.lift import FactorLift, Known


def cp_lift(X: ArrayLike, n_components: int) -> Model:
    r"""Nonnegative factors of a symmetric matrix, but for the rank.

    .. math::

        \max_{B \ge 0}\ \sum_{il} B_{il} \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & B^T \\ B & A \end{pmatrix} \succeq 0,
        \quad\text{that is}\quad B B^T \preceq A .

    A has a nonnegative factor with k columns exactly if some feasible Z has rank k, and exactly if
    :math:`|B|_F^2` reaches tr A. With :math:`\langle B_t, B\rangle` of the last step as the
    objective, `sdpdr.iterate.ConvexIteration` with ``direction="schur"`` raises :math:`|B|_F^2`.
    The trace of Z is constant, so it cannot serve as the first objective. The optimum along ones is
    :math:`(k\, \mathbf 1^T A \mathbf 1)^{1/2}`, which a B of equal columns attains.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A: symmetric, without negative entries or eigenvalues.
    n_components : int
        k.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or is not doubly nonnegative, so there is no such B.

    References
    ----------
    Vasiloglou thesis, (2.74)-(2.79), where that the lower right block is A is left unsaid: without
    it every B is feasible.

    Examples
    --------
    >>> import sdpdr
    >>> model = cp_lift([[2.0, 1.0], [1.0, 2.0]], 2)
    >>> model
    FactorLift + Known + NonNegative + Along
    >>> round(sdpdr.solve(model).value, 5), round(12**0.5, 5)
    (3.4641, 3.4641)
    """
    A = symmetric_matrix(X)
    k = validate.positive_integer("n_components", n_components)
    if obvious_certificate(A) is not None:
        raise DataError(
            "X has a negative entry or eigenvalue, so it has no nonnegative factor: it is not "
            "completely positive. `sdpdr.factorize.completely_positive` returns the certificate."
        )
    lift = FactorLift(k, len(A))
    i, j = np.triu_indices(len(A))
    # Negative entries, and entries beside a zero of the diagonal, are rounding errors here.
    used = np.diag(A) > 0.0
    values = np.where(used[:, None] & used, np.maximum(A, 0.0), 0.0)[i, j]
    blocks = (
        lift,
        Known(lift.order, k + np.column_stack([i, j]), values, lift.gram),
        NonNegative(lift.order, lift.left(), lift.gram),
        Along(lift, np.ones((len(A), k))),
    )
    return Model(blocks, name="cp_lift")


def copositive_cut(X: ArrayLike, level: int = 1) -> Model:
    r"""A copositive M with the least :math:`\langle M, A\rangle`.

    .. math::

        \min_M\ \langle M, A\rangle \quad\text{s.t.}\quad M \in \mathcal K_1,\quad
        \operatorname{tr} M \le n,\quad M_{ij} \le n / 2 ,

    where :math:`\mathcal K_1` is Parrilo's cone (see `sdpdr.blocks.Copositive`), all of whose
    members are copositive. A value below zero proves that A is not completely positive. Zero, which
    M = 0 has, proves nothing from order five on. The last constraint matters where
    :math:`a_{ij} = 0`, since :math:`M_{ij}` is then free upwards. No copositive M of trace n needs
    more, because entries above :math:`(M_{ii} M_{jj})^{1/2}` can be lowered to it.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    level : {1, 0}, default 1
        At level 0 M is the sum of a positive semidefinite and a nonnegative matrix; the value is
        then zero for every doubly nonnegative A.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or another level.

    References
    ----------
    P. Parrilo, PhD thesis, California Institute of Technology, 2000, section 5.3.

    Examples
    --------
    >>> import sdpdr
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> solution = sdpdr.solve(copositive_cut(1.8 * np.eye(5) + cycle + cycle.T))
    >>> round(solution.value, 5)
    -1.0
    """
    A = symmetric_matrix(X)
    n = len(A)
    if level not in (0, 1):
        raise DataError(f"level must be 0 or 1; it is {level!r}.")
    cone = Copositive(n) if level else SplitCopositive(n)
    return Model((cone, Cut(A, n / 2.0)), name="copositive_cut", maximize=False)
