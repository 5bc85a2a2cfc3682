r"""What a maximum-margin factorization is worth: its value, and the bound that multipliers prove.

For any matrix M, any :math:`0 \le Q \le c` and :math:`P = Q \circ Y` with dual norm at most one,

.. math::

    |M| + c \sum_S \max(0, 1 - Y_{ia} M_{ia})
    \ \ge\ \langle P, M \rangle + \sum_S Q_{ia} (1 - Y_{ia} M_{ia}) \ =\ \sum_S Q_{ia} ,

since :math:`\langle P, M \rangle = \sum_S Q_{ia} Y_{ia} M_{ia}`. So any weights, scaled until they
fit, prove a bound on the optimum, wherever they come from. What offsets of rows and columns take
off it is said at ``ridge`` of `margin_bound`, and derived in ``docs/methods/mmmf.rst``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.families.factor.margin.factors import Program
from sdpdr.families.factor.margin.losses import SignHinge
from sdpdr.families.factor.margin.offsets import Offsets
from sdpdr.families.factor.margin.recipe import Signs, asked_signs


@dataclass(frozen=True, eq=False)
class MarginFactorization:
    r"""A matrix :math:`M = U V^T` with the signs observed, and how near it is to the best.

    Scores :math:`f_{ia}` are :math:`M_{ia}`, or :math:`M_{ia} + b_i + d_a` with offsets.

    Attributes
    ----------
    U, V : arrays of shape (p, k) and (q, k)
    value : float
        :math:`|M| + c \sum \max(0, 1 - Y_{ia} f_{ia})` and the price of offsets, the norm that of
        these factors; ``inf`` where a hard margin is not met.
    bound : float
        Proved: no matrix has a smaller value.
    signs : Signs
        What was observed.
    multipliers : array of shape (m,)
        Q, one for each sign, that prove the bound; see `margin_bound`.
    c : float
    norm : {"trace", "max"}
    scales : tuple of arrays or None
        Of the rows and columns, which the bound of a max-norm needs.
    iterations : int
    history : tuple of mappings
        Value and bound along the way.
    ridge : float
        :math:`\kappa`; infinite where there are no offsets.
    offsets : array of shape (p + q,)
        b and d; zero where there are none.
    """

    U: Array
    V: Array
    value: float
    bound: float
    signs: Signs
    multipliers: Array
    c: float
    norm: str
    scales: tuple[Array, Array] | None = None
    iterations: int = 0
    history: tuple[Mapping[str, Any], ...] = field(default=())
    ridge: float = np.inf
    offsets: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.offsets.size:
            object.__setattr__(self, "offsets", np.zeros(sum(self.signs.shape)))

    @property
    def matrix(self) -> Array:
        """M, of shape (p, q)."""
        return np.asarray(self.U @ self.V.T)

    @property
    def gap(self) -> float:
        """The value's excess over the bound, relative to the value."""
        return (self.value - self.bound) / self.value if np.isfinite(self.value) else float("inf")

    @property
    def margins(self) -> Array:
        """:math:`Y_{ia} f_{ia}` of the signs observed, shape (m,)."""
        i, a = self.signs.places.T
        entries = np.einsum("ek,ek->e", self.U[i], self.V[a])
        added = Offsets(self.signs, self.ridge).added(self.offsets)
        return np.asarray(self.signs.values * (entries + added))

    @property
    def slack(self) -> Array:
        r""":math:`\xi_{ia} = \max(0, 1 - Y_{ia} f_{ia})`, shape (m,)."""
        return np.maximum(0.0, 1.0 - self.margins)

    @property
    def is_zero(self) -> bool:
        """Whether M is zero, as it is where slack is too cheap."""
        return not np.any(self.U) or not np.any(self.V)

    def certified(self, tol: float = 1e-6) -> bool:
        """Whether value and bound agree to ``tol``."""
        return self.gap <= tol


def margin_bound(
    X: Any,
    Q: ArrayLike,
    *,
    c: float = 1.0,
    norm: str = "trace",
    scales: tuple[ArrayLike, ArrayLike] | None = None,
    rigorous: bool = False,
    ridge: float = np.inf,
) -> float:
    r"""A lower bound on the optimum of `sdpdr.methods.mmmf` that any weights prove.

    Weights are put between 0 and c and scaled until the dual norm of :math:`Q \circ X` is one, or
    the largest of them is c; their sum is the bound. With offsets it is their sum less what
    these take off (see ``ridge``), which may be largest for smaller weights. The dual of the trace
    norm is the largest singular value. That of the max-norm is at most
    :math:`|\operatorname{diag}(a)^{-1/2} P \operatorname{diag}(b)^{-1/2}|_2` for any positive a
    and b that add up to one each.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The signs, as for `sdpdr.methods.mmmf`.
    Q : array_like of shape (m,) or (p, q)
        Weights of the signs row by row, or as a matrix, of which only the places observed count.
    c : float, default 1
    norm : {"trace", "max"}, default "trace"
    scales : pair of arrays of shapes (p,) and (q,), optional
        a and b, of any sum; the row and column sums of Q by default.
    rigorous : bool, default False
        Account for all rounding by a verified factorization, rather than by a margin of
        8 (p + q) machine epsilons.
    ridge : float, default inf
        :math:`\kappa`, the price of offsets: with P the matrix :math:`Q \circ X`, they take
        :math:`(|P 1|^2 + |P^T 1|^2) / (2 c \kappa)` off the bound.

    Returns
    -------
    float

    Raises
    ------
    ShapeError
        Q has neither shape.
    DataError, UnknownNameError
        As `sdpdr.methods.mmmf`.

    References
    ----------
    Tong thesis, (2.27), for the multipliers of an optimal matrix. Srebro, Rennie, Jaakkola,
    "Maximum-margin matrix factorization", NIPS, 2004.

    Examples
    --------
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> round(margin_bound(X, np.ones(9), c=0.5), 6)  # the optimum is 2 sqrt(3) = 3.464102
    3.40168
    """
    signs = asked_signs(X, c, norm, ridge)
    program = Program(signs, SignHinge(signs.values), norm, c, ridge, 0)
    return program.weighed(weights_of(signs, Q), scales, rigorous=rigorous).bound


def weights_of(signs: Signs, Q: ArrayLike) -> Array:
    """Weights of the signs row by row, from these or from a matrix.

    Raises
    ------
    ShapeError
        Q has neither shape.
    """
    weights = np.asarray(Q, dtype=float)
    if weights.shape == signs.shape:
        return np.asarray(weights[tuple(signs.places.T)])
    if weights.shape != signs.values.shape:
        raise ShapeError(
            f"Q must hold {signs.values.size} weights, one for each sign, or be of shape "
            f"{signs.shape}; it has shape {weights.shape}."
        )
    return weights
