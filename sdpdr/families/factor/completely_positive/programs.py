"""Convex iteration towards a completely positive factor, and certificates by a program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.families.factor.completely_positive.recipes import copositive_cut, cp_lift, cut_of
from sdpdr.families.factor.nonnegative.copositive import (
    Refutation,
    confirmed,
    multiplier_certificate,
)
from sdpdr.families.factor.nonnegative.symmetric import (
    UnitScaled,
    obvious_certificate,
    symmetric_matrix,
)
from sdpdr.program import Factor
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.solve import solve


def cp_iteration(
    X: ArrayLike, n_components: int, start: ArrayLike | None = None, seed: int = 0, **options: Any
) -> ConvexIteration:
    r"""The convex iteration towards :math:`A = B B^T`, not yet run.

    Over :math:`B \ge 0`, :math:`B B^T \preceq A` each program maximises
    :math:`\langle B_t, B\rangle`, so that :math:`|B|_F^2` never falls; what is missing to tr A is
    the excess of its records. The first :math:`B_0` is random,
    :math:`b_{il} = u_{il} (2 a_{ii} / k)^{1/2}` with u uniform in [0, 1].

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, doubly nonnegative.
    n_components : int
        k.
    start : array_like of shape (n, k), optional
        :math:`B_0`.
    seed : int, default 0
        Of the random one.
    **options
        Of `ConvexIteration`; ``direction`` is ``"schur"`` by default.

    Returns
    -------
    ConvexIteration

    Raises
    ------
    DataError, ShapeError
        As `sdpdr.methods.cp_lift`.

    References
    ----------
    Vasiloglou thesis, section 4.2.8; with its own direction, ``"trailing"``, each program minimises
    the inner product with a projector in place of it.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> cp_iteration(B @ B.T, 2).run().reached
    True
    """
    A = symmetric_matrix(X)
    model = cp_lift(A, n_components)
    if start is None:
        first = random_factor(A, n_components, np.random.default_rng(seed))
    else:
        first = np.asarray(start, dtype=float)
        if first.shape != (len(A), n_components):
            raise ShapeError(
                f"start must have shape ({len(A)}, {n_components}); it has {first.shape}."
            )
    lifted = Factor(np.vstack([np.eye(n_components), first]))
    options = {"direction": "schur", "seed": seed, **options}
    return ConvexIteration(model, n_components, start=lifted, **options)


def random_factor(A: Array, k: int, rng: np.random.Generator) -> Array:
    """Non-negative, with rows about as long as those of a factor of A.

    Examples
    --------
    >>> random_factor(np.eye(3), 2, np.random.default_rng(0)).shape
    (3, 2)
    """
    return rng.random((len(A), k)) * np.sqrt(2.0 * np.diag(A) / k)[:, None]


def copositive_certificate(
    X: ArrayLike,
    *,
    tol: float = 1e-8,
    solver: str | Solver = "clarabel",
    form: str = "cvxpy",
    time_limit: float | None = None,
) -> Refutation | None:
    r"""A proof that a matrix is not completely positive, by semidefinite programming.

    Solves `sdpdr.methods.copositive_cut` for A scaled to unit diagonal. The answer of the solver is
    not trusted: M is moved until the identity of its multipliers holds exactly, and up to order 15
    `sdpdr.nonnegative.copositivity` tests it again.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    tol : float, default 1e-8
        A certificate counts if no completely positive matrix is within this share of
        :math:`|A|_F`, at unit diagonal.
    solver, form : see `sdpdr.solve`
    time_limit : float, optional

    Returns
    -------
    Refutation or None
        None proves nothing.

    Examples
    --------
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> found = copositive_certificate(1.8 * np.eye(5) + cycle + cycle.T)
    >>> found
    Refutation(<M, A> = -0.555556: M is copositive by the multipliers of level one, confirmed)
    """
    A = symmetric_matrix(X)
    obvious = obvious_certificate(A, tol)
    if obvious is not None:
        return confirmed(obvious, A)
    unit = UnitScaled.of(A)
    solution = solve(
        copositive_cut(unit.matrix),
        solver,
        form,
        tol=unless_configured(solver, tol),
        time_limit=time_limit,
        progress=False,
    )
    if not solution.values:
        return None
    found = multiplier_certificate(*cut_of(solution), unit.matrix)
    return unit.refuted(found.proof, found.matrix, tol)
