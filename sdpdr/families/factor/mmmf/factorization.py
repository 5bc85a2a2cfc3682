r"""Maximum-margin factorization of signs, with the bound that multipliers prove.

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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.base.progress import Progress, show_progress
from sdpdr.families.factor.mmmf.entries import Signs, observed_signs
from sdpdr.families.factor.mmmf.losses import SignHinge
from sdpdr.families.factor.mmmf.offsets import Offsets
from sdpdr.families.factor.mmmf.program import FactorModel, Program
from sdpdr.families.factor.mmmf.recipe import require_penalties
from sdpdr.families.factor.mmmf.splitting import split
from sdpdr.linalg import BilinearForms
from sdpdr.model import Model, Var, soften
from sdpdr.model.blocks import Gram, LeastTrace, Margins
from sdpdr.program.point import Factor
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.solve import solve


@dataclass(frozen=True, eq=False)
class MarginFactorization:
    r"""A matrix :math:`M = U V^T` with the observed signs, and its distance from the best.

    Scores :math:`f_{ia}` are :math:`M_{ia}`, or :math:`M_{ia} + b_i + d_a` with offsets.

    Attributes
    ----------
    U, V : arrays of shape (p, k) and (q, k)
    value : float
        :math:`|M| + c \sum \max(0, 1 - Y_{ia} f_{ia})` and the penalty of offsets, the norm that of
        these factors; ``inf`` if a hard margin is not met.
    bound : float
        Proved: no matrix has a smaller value.
    signs : Signs
        The observed signs.
    multipliers : array of shape (m,)
        Q, one for each sign, that prove the bound; see `margin_bound`.
    c : float
    norm : {"trace", "max"}
    scales : tuple of arrays or None
        Scales of rows and columns, which the bound of a max-norm needs.
    iterations : int
    history : tuple of mappings
        Value and bound along the way.
    ridge : float
        :math:`\kappa`; infinite if there are no offsets.
    offsets : array of shape (p + q,)
        b and d; zero if there are none.
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
        """Excess of the value over the bound, relative to the value."""
        return (self.value - self.bound) / self.value if np.isfinite(self.value) else float("inf")

    @property
    def margins(self) -> Array:
        """:math:`Y_{ia} f_{ia}` of the observed signs, shape (m,)."""
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
        """Whether M is zero, as it is if slack is too cheap."""
        return not np.any(self.U) or not np.any(self.V)

    def certified(self, tol: float = 1e-6) -> bool:
        """Whether value and bound agree to ``tol``."""
        return self.gap <= tol


def mmmf(
    X: Any,
    *,
    c: float = 1.0,
    norm: str = "trace",
    tol: float = 1e-6,
    max_iter: int = 5000,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
    ridge: float = np.inf,
) -> MarginFactorization:
    r"""Matrix of least norm with the observed signs, and a proof of how good it is.

    The program is that of `sdpdr.methods.mmmf`, which any solver of `sdpdr.solve` takes as well.
    Here it is solved by splitting: proximal steps of the norm and of the loss in turns. Each step
    gives a matrix, which is scaled to its best size, and multipliers; the best of both are kept
    until they agree. A step takes an eigendecomposition of order min(p, q), or p + q for the
    max-norm, and p q numbers of memory.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        1 and -1 where a sign was observed, 0 or NaN where not.
    c : float, default 1
        Penalty of a unit of slack; infinite for a hard margin.
    norm : {"trace", "max"}, default "trace"
    tol : float, default 1e-6
        Relative gap at which to stop.
    max_iter : int, default 5000
    time_limit : float, optional
        Seconds.
    progress : bool or callable, optional
        As for `sdpdr.solve`.
    ridge : float, default inf
        Penalty of offsets of rows and columns, as for `sdpdr.methods.mmmf`; infinite for none.

    Returns
    -------
    MarginFactorization

    Raises
    ------
    DataError, UnknownNameError
        As `sdpdr.methods.mmmf`.

    Warns
    -----
    UncertifiedWarning
        The gap is larger than ``tol``.

    References
    ----------
    Tong thesis, section 2.3.4.

    Examples
    --------
    >>> found = mmmf([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]], c=0.5)
    >>> round(found.value, 5), found.gap <= 1e-6
    (3.4641, True)
    >>> found.matrix.round(2)
    array([[ 1., -1., -1.,  1.],
           [ 1., -1., -1.,  1.],
           [-1.,  1.,  1., -1.]])
    """
    limit = validate.positive_integer("max_iter", max_iter)
    tol = validate.positive_number("tol", tol)
    require_penalties(c, norm, ridge)
    deadline = Deadline(time_limit)
    program = _program(observed_signs(X), c, norm, ridge)
    with show_progress(progress, f"maximum-margin factorization, {norm} norm") as report:
        found, count = split(program, tol=tol, max_iter=limit, deadline=deadline, report=report)
    if not found.gap <= tol:
        warn(
            f"value and bound differ by {found.gap:.1e}, not {tol:g}, after {count} "
            "iterations. Raise max_iter or time_limit (None for none).",
            UncertifiedWarning,
        )
    return _result(program, found, count)


def mmmf_primal(
    X: Any,
    Q: ArrayLike,
    *,
    c: float = 1.0,
    tol: float = 1e-4,
    solver: str | Solver = "auto",
) -> MarginFactorization:
    r"""Matrix that belongs to multipliers of the trace-norm program.

    At an optimum :math:`\langle Q \circ Y, M \rangle = |M|_{\mathrm{tr}}` with
    :math:`|Q \circ Y|_2 \le 1`, so the singular vectors of M are among those of
    :math:`Q \circ Y = U \Sigma V^T` with singular value one, :math:`M = U_1 S V_1^T` with
    :math:`S \succeq 0`. What remains is the same program over S, whose order is small:

    .. math:: \min_{S \succeq 0} \operatorname{tr} S + c \sum \max(0, 1 - Y_{ia} u_i^T S v_a) .

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The signs.
    Q : array_like of shape (m,) or (p, q)
        Multipliers, as `sdpdr.methods.mmmf_dual` has them.
    c : float, default 1
    tol : float, default 1e-4
        Singular values within this of the largest count as one.
    solver : str or Solver, default "auto"
        Solver of the small program.

    Returns
    -------
    MarginFactorization
        With the bound that Q proves, so its gap shows whether Q was optimal.

    Raises
    ------
    DataError
        As `sdpdr.methods.mmmf`; or no weight is positive.
    SolveFailedError
        The small program has no answer: with a hard margin, multipliers that are not optimal.

    Notes
    -----
    Tong thesis, after (2.27), calls this non-trivial, and possible for the hard margin. It needs
    no more than this program for either.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import methods
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> dual = sdpdr.solve(methods.mmmf_dual(X, c=0.5), "clarabel", tol=1e-8)
    >>> found = mmmf_primal(X, dual["Q"], c=0.5)
    >>> round(found.value, 5), found.gap < 1e-6
    (3.4641, True)
    """
    require_penalties(c, "trace")
    signs = observed_signs(X)
    weights = np.clip(weights_of(signs, Q), 0.0, c)
    if not np.any(weights):
        raise DataError("no weight of Q is positive, so it says nothing about the matrix.")
    left, sizes, right = np.linalg.svd(signs.matrix(weights).toarray(), full_matrices=False)
    program = _program(signs, c, "trace")
    zero = program.valued(program.start()).proved(program.weighed(weights, None))
    # If slack is cheap, all weights are c and their norm is below one.
    if sizes[0] < 1.0 - tol and np.all(weights >= c * (1.0 - tol)):
        return _result(program, zero)
    k = int(np.sum(sizes >= sizes[0] * (1.0 - tol)))
    U, V = left[:, :k], right[:k].T
    i, a = signs.places.T
    margins = Margins(BilinearForms(U[i], V[a]) @ Var("S"), signs.values)
    loss = soften(margins, c) if np.isfinite(c) else margins
    model = Model((Gram(k, "S"), LeastTrace(k, gram="S"), loss), name="mmmf_primal", maximize=False)
    solution = solve(model, solver, tol=unless_configured(solver, 1e-8))
    if not solution.values:
        solution.raise_for_status()
    root = Factor.of(solution.values["S"]).factor
    return _result(program, program.scaled(replace(zero, U=U @ root, V=V @ root)))


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
    r"""Lower bound on the optimum of `sdpdr.methods.mmmf` that any weights prove.

    Weights are clipped between 0 and c and scaled until the dual norm of :math:`Q \circ X` is one,
    or the largest of them is c; their sum is the bound. With offsets it is their sum less what
    these take off (see ``ridge``), which may be largest for smaller weights. The dual of the trace
    norm is the largest singular value. That of the max-norm is at most
    :math:`|\operatorname{diag}(a)^{-1/2} P \operatorname{diag}(b)^{-1/2}|_2` for any positive a
    and b that add up to one each.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The signs, as for `sdpdr.methods.mmmf`.
    Q : array_like of shape (m,) or (p, q)
        Weights of the signs row by row, or as a matrix, of which only observed positions count.
    c : float, default 1
    norm : {"trace", "max"}, default "trace"
    scales : pair of arrays of shapes (p,) and (q,), optional
        a and b, of any sum; the row and column sums of Q by default.
    rigorous : bool, default False
        Account for all rounding by a verified factorization, rather than by a margin of
        8 (p + q) machine epsilons.
    ridge : float, default inf
        :math:`\kappa`, the penalty of offsets: with P the matrix :math:`Q \circ X`, they take
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
    require_penalties(c, norm, ridge)
    signs = observed_signs(X)
    program = _program(signs, c, norm, ridge)
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


def _program(signs: Signs, c: float, norm: str, ridge: float = np.inf) -> Program:
    return Program(signs, SignHinge(signs.values), norm, c, ridge, 0)


def _result(program: Program, found: FactorModel, iterations: int = 0) -> MarginFactorization:
    signs = program.entries
    assert isinstance(signs, Signs)
    return MarginFactorization(
        U=found.U,
        V=found.V,
        value=found.value,
        bound=found.bound,
        signs=signs,
        multipliers=signs.values * found.weights,
        c=program.c,
        norm=program.norm,
        scales=found.scales,
        iterations=iterations,
        history=found.history,
        ridge=program.ridge,
        offsets=found.offsets,
    )
