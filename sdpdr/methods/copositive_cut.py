"""The copositive matrix that tells most clearly that another is not completely positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks.copositive import Copositive, Cut, SplitCopositive
from sdpdr.errors import DataError
from sdpdr.graphs import validate
from sdpdr.linalg.svec import Array, smat
from sdpdr.model import Model
from sdpdr.nonnegative.symmetric import symmetric_matrix
from sdpdr.program import Solution, as_dense

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
        At level 0 M is the sum of a positive semidefinite and a non-negative matrix; the value is
        then zero for every doubly non-negative A.
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
