"""Completely positive factorization as a matrix of low rank, and copositive cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.factor.nonnegative.symmetric import (
    is_doubly_nonnegative,
    symmetric_matrix,
    without_rounding,
)
from sdpdr.linalg.svec import smat
from sdpdr.model import Model
from sdpdr.model.blocks.copositive import Along, Copositive, Cut, SplitCopositive
from sdpdr.model.blocks.entries import NonNegative
from sdpdr.model.blocks.lift import FactorLift, Known
from sdpdr.program import Solution, as_dense


def cp_lift(X: ArrayLike, n_components: int, direction: ArrayLike | None = None) -> Model:
    r"""Nonnegative factors of a symmetric matrix, but for the rank.

    .. math::

        \max_{B \ge 0}\ \langle C, B\rangle \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & B^T \\ B & A \end{pmatrix} \succeq 0,
        \quad\text{that is}\quad B B^T \preceq A .

    A has a nonnegative factor with k columns exactly if some feasible Z has rank k, and exactly if
    :math:`|B|_F^2` reaches tr A. With C = B of the step before, convex iteration climbs
    :math:`|B|_F^2` (`sdpdr.factorize.completely_positive`). The trace of Z is constant, so it
    cannot serve as the first objective. With C = 1 the optimum is
    :math:`(k\, \mathbf 1^T A \mathbf 1)^{1/2}`, which a B of equal columns attains.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A: symmetric, without negative entries or eigenvalues.
    n_components : int
        k.
    direction : array_like of shape (n, k), optional
        C; ones by default.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or is not doubly nonnegative, so there is no such B.
    ShapeError
        The direction is not of shape (n, k).

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
    >>> round(sdpdr.solve(model).value, 6), round(12**0.5, 6)
    (3.464102, 3.464102)
    """
    A = symmetric_matrix(X)
    k = validate.positive_integer("n_components", n_components)
    if not is_doubly_nonnegative(A):
        raise DataError(
            "X has a negative entry or eigenvalue, so it has no nonnegative factor: it is not "
            "completely positive. `sdpdr.factorize.completely_positive` returns the certificate."
        )
    lift = FactorLift(k, len(A))
    i, j = np.triu_indices(len(A))
    known = Known(lift.order, k + np.column_stack([i, j]), without_rounding(A)[i, j], lift.gram)
    signs = NonNegative(lift.order, lift.left(), lift.gram)
    along = Along(lift, _direction(direction, len(A), k))
    return Model((lift, known, signs, along), name="cp_lift")


def _direction(direction: ArrayLike | None, n: int, k: int) -> Array:
    if direction is None:
        return np.ones((n, k))
    given = np.asarray(direction, dtype=float)
    if given.shape != (n, k) or not np.all(np.isfinite(given)):
        raise ShapeError(
            f"direction must have shape ({n}, {k}) and finite entries; its shape is {given.shape}."
        )
    return given


LEVELS = (0, 1)


def copositive_cut(X: ArrayLike, level: int = 1, cap: float | None = None) -> Model:
    r"""A copositive M with the least :math:`\langle M, A\rangle`.

    .. math::

        \min_M\ \langle M, A\rangle \quad\text{s.t.}\quad M \in \mathcal K_1,\quad
        \operatorname{tr} M \le n,\quad M_{ij} \le c ,

    where :math:`\mathcal K_1` is Parrilo's cone (see `sdpdr.blocks.Copositive`), all of whose
    members are copositive. A value below zero proves that A is not completely positive. Zero, which
    M = 0 has, proves nothing from order five on. The cap matters where :math:`a_{ij} = 0`, since
    :math:`M_{ij}` is then free upwards.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    level : {1, 0}, default 1
        At level 0 M is the sum of a positive semidefinite and a nonnegative matrix; the value is
        then zero for every doubly nonnegative A.
    cap : float, optional
        c, by default n / 2: no copositive M of trace n needs more, because entries above
        :math:`(M_{ii} M_{jj})^{1/2}` can be lowered to it.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, another level, or a cap that is not positive.

    References
    ----------
    P. Parrilo, PhD thesis, California Institute of Technology, 2000, section 5.3.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> solution = sdpdr.solve(copositive_cut(1.8 * np.eye(5) + cycle + cycle.T))
    >>> round(solution.value, 5)
    -1.0
    """
    A = symmetric_matrix(X)
    n = len(A)
    if level not in LEVELS:
        raise DataError(f"level must be 0 or 1; it is {level!r}.")
    limit = n / 2.0 if cap is None else validate.positive_number("cap", cap)
    cone = Copositive(n) if level else SplitCopositive(n)
    return Model((cone, Cut(A, limit)), name="copositive_cut", maximize=False)


def cut_of(solution: Solution) -> tuple[Array, Array]:
    """M and its parts as a solution of level one has them, shapes (n, n) and (n, n, n)."""
    M = smat(np.asarray(solution.values["M"]))
    return M, np.array([as_dense(solution.values[f"P{i}"]) for i in range(len(M))])
