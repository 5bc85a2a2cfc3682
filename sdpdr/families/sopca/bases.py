"""A pair of bases, what it keeps of a stack of matrices, and the pair in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.runs import RunStatus
from sdpdr.linalg.spectral import fix_signs

Pair = tuple[Array, Array]
# Eigenvalues k and k + 1 closer than this, relative to the largest one, count as tied.
_TIED = 1e-10


@dataclass(frozen=True, eq=False)
class Bases:
    r"""Orthonormal columns A of shape (p, k) and B of shape (q, k).

    Attributes
    ----------
    rows, columns : array
        A and B.
    value : float
        The objective of the method for these bases.
    status : RunStatus
    history : tuple of float
        The value after each step; empty for the closed form.
    unique : bool
        False if eigenvalues are tied, so that other bases have the same value.
    """

    rows: Array
    columns: Array
    value: float
    status: RunStatus = RunStatus.CONVERGED
    history: tuple[float, ...] = ()
    unique: bool = True

    def __repr__(self) -> str:
        shapes = f"{self.rows.shape} and {self.columns.shape}"
        return f"Bases({self.status.name}: {shapes}, value {self.value:.8g})"

    def transform(self, stack: ArrayLike) -> Array:
        """The matrices :math:`A^T M_i B`."""
        return projected(np.asarray(stack, dtype=float), self.rows, self.columns)

    def kept(self, stack: ArrayLike) -> float:
        r""":math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, the objective of (4.9)."""
        return trace_norm(self.transform(stack))

    def energy(self, stack: ArrayLike) -> float:
        r""":math:`\sum_i |A^T M_i B|_F^2`, the objective of GLRAM, (4.6)."""
        return squares(self.transform(stack))


def leading(matrix: Array, k: int) -> Array:
    """Eigenvectors of the k largest eigenvalues, the largest first, each with its sign fixed.

    Examples
    --------
    >>> leading(np.diag([1.0, 3.0, 2.0]), 2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    vectors = np.linalg.eigh(matrix)[1][:, ::-1][:, :k]
    return fix_signs(vectors)


def along_axes(bases: Bases, stack: Array) -> Bases:
    """Bases rotated within their spans: columns in the order of the squares along them.

    The sum of trace norms does not depend on the rotation, which rounding would choose.
    """
    small = projected(stack, bases.rows, bases.columns)
    of_rows = np.einsum("iab,icb->ac", small, small)
    of_columns = np.einsum("iab,iac->bc", small, small)
    return replace(
        bases,
        rows=fix_signs(bases.rows @ leading(of_rows, len(of_rows))),
        columns=fix_signs(bases.columns @ leading(of_columns, len(of_columns))),
    )


def is_tied(matrix: Array, k: int) -> bool:
    """Whether eigenvalue k equals the next one, so that the leading subspace is a choice.

    Examples
    --------
    >>> is_tied(np.diag([3.0, 2.0, 2.0]), 2), is_tied(np.diag([3.0, 2.0, 2.0]), 3)
    (True, False)
    """
    values = np.linalg.eigvalsh(matrix)[::-1]
    if k >= values.size:
        return False
    return bool(values[k - 1] - values[k] <= _TIED * max(np.abs(values).max(), 1e-300))


def largest_sum(matrix: Array, k: int) -> float:
    """The sum of the k largest eigenvalues, S_k.

    Examples
    --------
    >>> largest_sum(np.diag([3.0, 1.0, 2.0]), 2)
    5.0
    """
    return float(np.linalg.eigvalsh(matrix)[-k:].sum())


def spans(stack: Array, ks: tuple[int, int]) -> tuple[Array, Array]:
    r"""Orthonormal U and V with :math:`M_i = U U^T M_i V V^T`; identities where none are smaller.

    With :math:`N_i = U^T M_i V` and :math:`R = V^T T V`, the nonzero singular values of
    :math:`T_P^{1/2} M_i T_Q^{1/2}` depend on :math:`T_Q` by :math:`M_i T_Q M_i^T = U N_i R N_i^T
    U^T` alone. If :math:`0 \preceq T \preceq I` and :math:`\operatorname{tr} T = k`, then
    :math:`0 \preceq R \preceq I` and :math:`\operatorname{tr} R \le k`; as F grows with R, and
    V has k columns at least, the trace may be made k again. Conversely :math:`V R V^T` is in the
    Fantope of T if R is in its own. So both programs have one optimum. The bound is one too:
    multipliers :math:`Q_i` of the small program lift to :math:`V Q_i V^T`, whose k largest
    eigenvalues are the same. Likewise bases: columns of B outside of the span keep nothing.

    One direction more than k is kept, so that a tie is seen if the data have no more than k. No
    rank is determined: Householder's Q is orthonormal whatever the rank.

    Examples
    --------
    >>> U, V = spans(np.ones((2, 1, 9)), (1, 1))
    >>> U.shape, V.shape, bool(np.allclose(np.ones(9) @ V @ V.T, 1.0))
    ((1, 1), (9, 2), True)
    """
    return _span(stack.transpose(0, 2, 1), ks[0]), _span(stack, ks[1])


def _span(stack: Array, k: int) -> Array:
    """An orthonormal basis of the span of all rows of all matrices, of k + 1 columns at least."""
    n, p, q = stack.shape
    if max(n * p, k + 1) >= q:
        return np.eye(q)
    rows = np.zeros((max(n * p, k + 1), q))
    rows[: n * p] = stack.reshape(-1, q)
    return np.linalg.qr(rows.T)[0]


def projected(stack: Array, rows: Array, columns: Array) -> Array:
    """The matrices :math:`A^T M_i B`, shape (n, k, l)."""
    return np.asarray(rows.T @ (stack @ columns))


def trace_norm(stack: Array) -> float:
    r"""The sum of all singular values of all matrices, :math:`\sum_i |M_i|_{\mathrm{tr}}`.

    Examples
    --------
    >>> trace_norm(np.array([[[3.0, 0.0], [0.0, -4.0]]]))
    7.0
    """
    return float(np.linalg.svd(stack, compute_uv=False).sum())


def squares(stack: Array) -> float:
    r"""The sum of squares of all entries, :math:`\sum_i |M_i|_F^2`."""
    return float(np.sum(np.square(stack)))


def weighted_outer(vectors: Array, weights: Array) -> Array:
    r"""The sum over a stack :math:`\sum_i X_i \operatorname{diag}(w_i) X_i^T`."""
    total = np.tensordot(vectors * weights[:, None, :], vectors, axes=((0, 2), (0, 2)))
    return np.asarray(0.5 * (total + total.T))


def two_d_svd(X: ArrayLike, n_components: int | Sequence[int] = 2, *, center: bool = True) -> Bases:
    r"""Two-dimensional singular value decomposition: leading eigenvectors of both covariances.

    .. math:: F = \sum_i (M_i - \bar M)(M_i - \bar M)^T, \qquad
              G = \sum_i (M_i - \bar M)^T (M_i - \bar M) .

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    center : bool, default True
        Whether to subtract the mean :math:`\bar M`.

    Returns
    -------
    Bases
        ``value`` is the energy kept of the (centred) stack.

    Raises
    ------
    DataError, ShapeError
        X is no stack of matrices, or ``n_components`` is out of range.

    References
    ----------
    Ding and Ye, "2-dimensional singular value decomposition for 2D maps and images", SIAM
    International Conference on Data Mining, 2005. Tong thesis, section 4.1.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> two_d_svd(X).rows.shape
    (5, 2)
    """
    stack = matrices(X, center=center)
    ks = numbers_of_components(n_components, stack.shape)
    left = np.tensordot(stack, stack, axes=((0, 2), (0, 2)))
    right = np.tensordot(stack, stack, axes=((0, 1), (0, 1)))
    unique = not (is_tied(left, ks[0]) or is_tied(right, ks[1]))
    rows, columns = leading(left, ks[0]), leading(right, ks[1])
    return Bases(rows, columns, squares(projected(stack, rows, columns)), unique=unique)
