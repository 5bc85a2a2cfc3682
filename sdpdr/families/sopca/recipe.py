"""The convex program of two bases as a model, and its dual."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.model import Model
from sdpdr.model.blocks.bilinear import KeptNorms, Splittings
from sdpdr.model.blocks.spectral import Fantope, KyFan


def sopca(X: ArrayLike, n_components: int | Sequence[int] = 2, *, center: bool = False) -> Model:
    r"""The convex program for two bases that keep most of a stack of matrices.

    .. math::

        f_1 = \min_{P_i, Q_i}\ S_k\Big(\sum_i P_i\Big) + S_k\Big(\sum_i Q_i\Big)
        \quad\text{s.t.}\quad \begin{pmatrix} P_i & M_i \\ M_i^T & Q_i \end{pmatrix} \succeq 0 ,

    with :math:`S_k` the sum of the k largest eigenvalues. Every feasible point proves that no bases
    A, B of k orthonormal columns keep more than half its value of
    :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`. For a single matrix :math:`f_1 = 2 \sum_{i \le k}
    \sigma_i`. There is one variable of order p + q for each matrix of the stack;
    `sdpdr.bilinear.interior_point` solves the same program for thousands of matrices.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
        The matrices.
    n_components : int or pair of int, default 2
        k, at most min(p, q); or :math:`k_1 \le p` for the rows and :math:`k_2 \le q` for the
        columns.
    center : bool, default False
        Subtract the mean matrix first.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        X is no stack of matrices, or ``n_components`` is out of range.

    References
    ----------
    Tong thesis, (4.3) and (4.5), theorem 4.1.

    Examples
    --------
    >>> import sdpdr
    >>> model = sopca([[[3.0, 0.0], [0.0, 1.0]]], n_components=1)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    6.0
    """
    stack = matrices(X, center=center)
    k_rows, k_columns = numbers_of_components(n_components, stack.shape)
    splittings = Splittings(stack)
    rows = KyFan(splittings.rows, k_rows, excess="V_P", level="s_P")
    columns = KyFan(splittings.columns, k_columns, excess="V_Q", level="s_Q")
    return Model((splittings, rows, columns), name="sopca", maximize=False)


def sopca_dual(
    X: ArrayLike, n_components: int | Sequence[int] = 2, *, center: bool = False
) -> Model:
    r"""The dual of `sopca`, halved: projections relaxed to their convex hull.

    .. math::

        \tfrac12 f_1 = \max \sum_i \langle Z_i, M_i\rangle \quad\text{s.t.}\quad
        \begin{pmatrix} T_P & Z_i \\ Z_i^T & T_Q \end{pmatrix} \succeq 0, \quad
        0 \preceq T_P, T_Q \preceq I,\ \operatorname{tr} T_P = \operatorname{tr} T_Q = k .

    The text has the same value for both programs; it is half of :math:`f_1`. It asks for traces of
    at most k, which changes nothing, since a larger T keeps no less.

    Parameters
    ----------
    X, n_components, center
        As for `sopca`.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        As `sopca`.

    References
    ----------
    Tong thesis, (4.8) and theorem 4.4.

    Examples
    --------
    >>> import sdpdr
    >>> model = sopca_dual([[[3.0, 0.0], [0.0, 1.0]]], n_components=1)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    3.0
    """
    stack = matrices(X, center=center)
    k_rows, k_columns = numbers_of_components(n_components, stack.shape)
    _, p, q = stack.shape
    blocks = (Fantope(p, k_rows, "T_P"), Fantope(q, k_columns, "T_Q"), KeptNorms(stack))
    return Model(blocks, name="sopca_dual", maximize=True)
