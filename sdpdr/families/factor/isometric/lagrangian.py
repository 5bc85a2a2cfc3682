"""The augmented Lagrangian of isometric factors, its gradients and its convex model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.families.factor.nonnegative.projected import QuadraticModel
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg import SquaredEdgeLengths

# Share of the largest eigenvalue that keeps preconditioners definite.
_RIDGE = 1e-7


@dataclass(frozen=True, eq=False)
class Multipliers:
    r"""Multipliers and penalties of the augmented Lagrangian.

    Attributes
    ----------
    lengths : array of shape (edges,)
        :math:`\lambda`.
    product : array of shape (n, m) or None
        M, of the rows WH = V; None for zeros.
    length_penalty, product_penalty : float
        :math:`\sigma_1, \sigma_2`.
    """

    lengths: Array
    product: Array | None
    length_penalty: float
    product_penalty: float


@dataclass(frozen=True, eq=False)
class IsometricLagrangian:
    r"""Augmented Lagrangian of isometric non-negative factors.

    .. math::

        \mathcal L(W, H) = -\beta \langle L_F, W W^T\rangle
        - \lambda^T r - \langle M, R\rangle
        + \tfrac{\sigma_1}2 |r|^2 + \tfrac{\sigma_2}2 \sum_i c_i |R_i|^2,

    with :math:`r_e = |w_i - w_j|^2 - d_e` for every edge e = ij, R = WH - V with rows
    :math:`R_i`, and :math:`L_F` the Laplacian of pairs to be spread. With
    :math:`q = \sigma_1 r - \lambda`, :math:`Q = \sigma_2 \operatorname{diag}(c) R - M` and
    L(q) the Laplacian of the graph with weights q,

    .. math::

        \frac{\partial\mathcal L}{\partial W} = 2 L(q) W - 2\beta L_F W + Q H^T, \qquad
        \frac{\partial\mathcal L}{\partial H} = W^T Q .

    Parameters
    ----------
    X : array of shape (n, m)
        V.
    graph : NeighborGraph
        With n nodes.
    pairs : sparse array of shape (n, n), optional
        :math:`L_F`; zero by default.
    pull : float, default 0
        :math:`\beta`.
    weights : array of shape (n,), optional
        c; ones by default.

    References
    ----------
    Vasiloglou thesis, (4.87)-(4.89). In (4.87) the sum over l belongs inside the parentheses. The
    printed gradients multiply the terms of M and :math:`\sigma_2` by W or H where the other factor
    belongs, twice over for :math:`\sigma_2`.
    """

    X: Array
    graph: NeighborGraph
    pairs: sp.csr_array | None = None
    pull: float = 0.0
    weights: Array | None = None

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Rows e_i - e_j, one for each edge."""
        return SquaredEdgeLengths(self.graph.n, self.graph.edges).vectors

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return self.incidence.T.tocsr()

    @cached_property
    def counts(self) -> Array | float:
        """C as a column, or one."""
        return 1.0 if self.weights is None else np.asarray(self.weights, dtype=float)[:, None]

    def split(self, x: Array) -> tuple[Array, Array]:
        """W and H from all their entries in a row."""
        n, m = self.X.shape
        k = x.size // (n + m)
        return x[: n * k].reshape(n, k), x[n * k :].reshape(k, m)

    def length_errors(self, W: Array) -> Array:
        """The errors r of squared lengths, one for each edge."""
        steps = self.incidence @ W
        return np.asarray(np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist)

    def spread(self, W: Array) -> float:
        """Sum of squared distances of the pairs."""
        return 0.0 if self.pairs is None else float(np.vdot(W, self.pairs @ W))

    def evaluate(
        self, W: Array, H: Array, at: Multipliers
    ) -> tuple[float, Array, Array, Callable[[], QuadraticModel]]:
        """Value, both gradients, and a function that makes the convex model."""
        steps = self.incidence @ W
        r = np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist
        R = W @ H - self.X
        q = at.length_penalty * r - at.lengths
        Q = at.product_penalty * self.counts * R
        value = -at.lengths @ r + 0.5 * at.length_penalty * (r @ r) + 0.5 * np.vdot(Q, R)
        if at.product is not None:
            value -= np.vdot(at.product, R)
            Q = Q - at.product
        left = 2.0 * (self._transposed @ (q[:, None] * steps)) + Q @ H.T
        if self.pairs is not None and self.pull:
            pulled = self.pairs @ W
            value -= self.pull * np.vdot(W, pulled)
            left -= 2.0 * self.pull * pulled

        def model() -> QuadraticModel:
            return GaussNewton(self, W, H, steps, np.maximum(q, 0.0), at)

        return float(value), left, W.T @ Q, model

    def flat(self, x: Array, at: Multipliers) -> tuple[float, Array, Callable[[], QuadraticModel]]:
        """The same of all entries in a row."""
        value, left, right, model = self.evaluate(*self.split(x), at)
        return value, np.concatenate([left.ravel(), right.ravel()]), model


class GaussNewton:
    r"""Second derivatives of the Lagrangian without their concave parts.

    .. math::

        2 L(q_+) \otimes I + \sigma_1 J^T J + \sigma_2 P^T \operatorname{diag}(c) P,

    with J and P the derivatives of the lengths and of the product. What is left out are
    :math:`-2\beta L_F`, negative weights q, and second derivatives of the product times its errors.
    The products of W and H need no matrix of the size of V.
    """

    def __init__(
        self,
        of: IsometricLagrangian,
        W: Array,
        H: Array,
        steps: Array,
        tension: Array,
        at: Multipliers,
    ) -> None:
        self.of, self.W, self.H, self.steps, self.tension, self.at = of, W, H, steps, tension, at
        counted = at.product_penalty * of.counts * W
        self.counted = counted
        self.left, self.right = H @ H.T, W.T @ counted
        share = np.einsum("ek,ek->e", steps, steps) / W.shape[1]
        local = 4.0 * at.length_penalty * share + 2.0 * tension
        diagonal = (abs(of._transposed) @ local)[:, None]
        values, self.left_basis = np.linalg.eigh(self.left)
        values = at.product_penalty * (of.counts * values + _RIDGE * values[-1])
        self.left_inverse = 1.0 / (values + diagonal)
        values, self.right_basis = np.linalg.eigh(self.right)
        self.right_inverse = (1.0 / (values + _RIDGE * values[-1]))[:, None]

    def product(self, p: Array) -> Array:
        """The matrix times a vector."""
        of, at = self.of, self.at
        w, h = of.split(p)
        change = of.incidence @ w
        along = 2.0 * at.length_penalty * np.einsum("ek,ek->e", self.steps, change)
        pulls = self.tension[:, None] * change + along[:, None] * self.steps
        left = 2.0 * (of._transposed @ pulls)
        left += at.product_penalty * of.counts * (w @ self.left) + self.counted @ (h @ self.H.T)
        right = (self.counted.T @ w) @ self.H + self.right @ h
        return np.concatenate([left.ravel(), right.ravel()])

    def precondition(self, p: Array) -> Array:
        """Rows of W and columns of H for themselves, with the mean stiffness of their edges."""
        w, h = self.of.split(p)
        left = ((w @ self.left_basis) * self.left_inverse) @ self.left_basis.T
        right = self.right_basis @ (self.right_inverse * (self.right_basis.T @ h))
        return np.concatenate([left.ravel(), right.ravel()])
