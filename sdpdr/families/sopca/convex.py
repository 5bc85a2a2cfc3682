r"""The convex program of two bases: reduced to two small matrices, with a bound.

Over the Fantopes :math:`0 \preceq T \preceq I`, :math:`\operatorname{tr} T = k`,

.. math:: \max\ F(T_P, T_Q) = \sum_i |T_P^{1/2} M_i T_Q^{1/2}|_{\mathrm{tr}} ,

which is the program (4.8) of the Tong thesis with its :math:`Z_i` chosen best. Projections
:math:`T_P = A A^T`, :math:`T_Q = B B^T` are among its points, so its value is at least
:math:`\sum_i |A^T M_i B|_{\mathrm{tr}}` for any orthonormal A and B.

*Bound.* Let both matrices be positive definite and :math:`T_P^{1/2} M_i T_Q^{1/2} = U_i S_i V_i^T`.
Then :math:`P_i = T_P^{-1/2} U_i S_i U_i^T T_P^{-1/2}` and :math:`Q_i = T_Q^{-1/2} V_i S_i V_i^T
T_Q^{-1/2}` make :math:`\begin{pmatrix} P_i & M_i \\ M_i^T & Q_i\end{pmatrix}` a product of a matrix
with its own transpose, hence feasible for (4.5). So are :math:`c P_i` and :math:`Q_i / c`, of value
:math:`c S_k(\sum P_i) + S_k(\sum Q_i) / c`, which is least where the two parts are equal:

.. math:: F(T_P, T_Q) \le \tfrac12 f_1
          \le \sqrt{S_k\big(\textstyle\sum P_i\big)\, S_k\big(\sum Q_i\big)} .

*Gradient.* :math:`\tfrac12\sum P_i` and :math:`\tfrac12\sum Q_i` are the gradients of F, since
:math:`F_i = \min_{Y \succ 0} \tfrac12(\langle T_P, Y\rangle + \langle T_Q, M_i^T Y^{-1} M_i
\rangle)`, attained at :math:`Y = P_i`. As the minimum of linear functions, F is concave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.families.sopca.bases import largest_sum, weighted_outer

Sizes = tuple[int, int]
# At a nearly optimal point, eigenvalues closer than this may be tied at the optimum.
NEARLY_TIED = 1e-7


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One of the two matrices by its eigenvalues, in (0, 1], and its eigenvectors."""

    values: Array
    vectors: Array

    @classmethod
    def of(cls, matrix: Array) -> Spectrum:
        """From the symmetric matrix."""
        values, vectors = np.linalg.eigh(matrix)
        return cls(values, vectors)

    @property
    def matrix(self) -> Array:
        """T."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)

    @property
    def roots(self) -> Array:
        """Square roots of the eigenvalues, of which rounding may have made some negative."""
        least = np.finfo(float).eps * float(np.max(self.values))
        return np.asarray(np.sqrt(np.maximum(self.values, least)))

    def is_tied(self, k: int) -> bool:
        """Whether eigenvalue k may equal the next one at the optimum."""
        n = self.values.size
        return k < n and bool(self.values[n - k] - self.values[n - k - 1] <= NEARLY_TIED)

    def undivided(self, inner: Array) -> Array:
        """T^(-1/2) G T^(-1/2) for a matrix G in coordinates of the eigenvectors of T."""
        basis = self.vectors / self.roots
        return np.asarray(basis @ inner @ basis.T)


@dataclass(frozen=True, eq=False)
class Evaluation:
    r"""F at one point, with the bound that the point proves.

    The ``sides`` are :math:`T_P` and :math:`T_Q`, ``vectors`` the :math:`U_i` and :math:`V_i` in
    their eigenvectors, of shape (n, p, r) and (n, q, r), and ``singular`` the :math:`S_i`.
    """

    sides: tuple[Spectrum, Spectrum]
    vectors: tuple[Array, Array]
    singular: Array
    value: float

    @property
    def inner(self) -> tuple[Array, Array]:
        r""":math:`\sum U_i S_i U_i^T` and :math:`\sum V_i S_i V_i^T`."""
        left, right = self.vectors
        return weighted_outer(left, self.singular), weighted_outer(right, self.singular)

    @property
    def factors(self) -> tuple[Array, Array]:
        r""":math:`\sum P_i` and :math:`\sum Q_i`, twice the gradients of F."""
        (left, right), (p, q) = self.sides, self.inner
        return left.undivided(p), right.undivided(q)

    def lower(self, ks: Sizes) -> float:
        """F at this point scaled into the Fantopes, which rounding may have left.

        F is homogeneous of degree one half in either matrix.
        """
        value = self.value
        for side, k in zip(self.sides, ks, strict=True):
            most = max(float(side.values.sum()) / k, float(side.values[-1]), 1.0)
            value /= np.sqrt(most)
        return float(value)

    def bound(self, ks: Sizes) -> float:
        r"""No two bases of so many columns, and no point of the program, have a larger value."""
        sums = [largest_sum(factor, k) for factor, k in zip(self.factors, ks, strict=True)]
        return float(np.sqrt(sums[0] * sums[1]))


def evaluate(stack: Array, left: Spectrum, right: Spectrum) -> Evaluation:
    """F at two positive definite matrices: one batched singular value decomposition."""
    turned = left.vectors.T @ (stack @ (right.vectors * right.roots))
    u, s, vt = np.linalg.svd(left.roots[:, None] * turned, full_matrices=False)
    return Evaluation((left, right), (u, vt.transpose(0, 2, 1)), s, float(s.sum()))


def certify(stack: Array, left: Array, right: Array, ks: Sizes) -> tuple[float, float]:
    r"""Value of F at two positive definite matrices, and the bound they prove on its maximum.

    Parameters
    ----------
    stack : array of shape (n, p, q)
    left, right : array of shape (p, p) and (q, q)
        Positive definite. If they lie outside the Fantopes, the value is that of multiples of them
        that do not.
    ks : tuple of two int
        How many columns the bases have.

    Returns
    -------
    value, bound : float

    Examples
    --------
    >>> T = np.diag([0.99, 0.01])
    >>> value, bound = certify(np.array([[[3.0, 0.0], [0.0, 1.0]]]), T, T, (1, 1))
    >>> round(value, 6), round(bound, 6)
    (2.98, 3.0)
    """
    found = evaluate(stack, Spectrum.of(left), Spectrum.of(right))
    return found.lower(ks), found.bound(ks)
