"""Nonnegative matrix factorization by convex iteration on semidefinite programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import SolveFailedError
from sdpdr.families.factor.nmf.recipes import EXACT, nmf_lift
from sdpdr.families.factor.nonnegative.inputs import (
    norm_of,
    number_of_components,
    partial_matrix,
    residual,
)
from sdpdr.families.factor.nonnegative.least_squares import fit_factors
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING
from sdpdr.model.blocks.lift import FactorLift
from sdpdr.solvers.registry import first_usable
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Schur
from sdpdr.solving.iterate.records import IterationStatus, Record, State


@dataclass(frozen=True, eq=False)
class Factorization:
    """Nonnegative factors of a matrix, found by an iteration of programs.

    Attributes
    ----------
    status : IterationStatus
        ``RANK_REACHED`` only if W and H, as returned, multiply to the matrix to the tolerance, or
        to the error allowed.
    W : array of shape (n, k) or None
        None if no program was solved.
    H : array of shape (k, m) or None
    error : float
        :math:`|X - WH|_F / |X|_F` over the known entries; ``inf`` without factors.
    errors : tuple of float
        The same for each program's own factors, before polishing.
    history : tuple of Record
        One for each program.
    """

    status: IterationStatus
    W: Array | None
    H: Array | None
    error: float
    errors: tuple[float, ...]
    history: tuple[Record, ...]

    @property
    def excess(self) -> float:
        """The least excess of a program over rank k, twice a trace norm."""
        return min((r.excess for r in self.history if r.excess >= 0.0), default=float("nan"))

    def factors(self) -> tuple[Array, Array]:
        """W and H.

        Raises
        ------
        SolveFailedError
            There are none.
        """
        if self.W is None or self.H is None:
            raise SolveFailedError(f"no factors: {self.status.name}. {self.status.advice}")
        return self.W, self.H

    def rows(self) -> list[dict[str, Any]]:
        """The history as mappings with the error of each program, for `plot.rounds`."""
        return [
            {**asdict(record), "error": error}
            for record, error in zip(self.history, self.errors, strict=True)
        ]

    def __repr__(self) -> str:
        return (
            f"Factorization({self.status.name} after {len(self.history)} programs: error "
            f"{self.error:.2e})"
        )


def nmf(
    X: ArrayLike,
    n_components: int,
    *,
    error: float | None = None,
    sparsity: float | None = None,
    starts: int = 5,
    seed: int = 0,
    tol: float = 1e-6,
    max_iter: int = 40,
    **options: Any,
) -> Factorization:
    r"""Nonnegative factors of a given rank, by convex iteration and a polish.

    .. math:: X = W H,\qquad W \in R_+^{n \times k},\ H \in R_+^{k \times m}.

    `sdpdr.methods.nmf_lift` states it as a matrix of rank k, and `ConvexIteration` drives its
    solutions towards that rank: every program lowers
    :math:`\operatorname{tr}(\mathcal W - WW^T) + \operatorname{tr}(\mathcal H - H^TH)`, whose least
    value for given W and H is :math:`2 |X - WH|_*`. Their factors are polished by least squares on
    the equations X = W H themselves, and only factors that multiply to X are reported as a
    factorization.

    The method is local, and a start can stall, so several are made. A stall proves nothing about
    the nonnegative rank. If X has no factorization of rank k, the iteration ends ``STALLED`` near a
    factorization of least trace norm :math:`|X - WH|_*`, and the polish ends in one whose Frobenius
    norm is a local minimum. To look for a given error instead, pass ``error``.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Nonnegative; ``nan`` where an entry is missing.
    n_components : int
        k, from 1 to min(n, m).
    error : float, optional
        Look for :math:`|X - WH|_F \le \epsilon` (over known entries) instead of equality.
    sparsity : float, optional
        Hoyer's measure of the whole W. Such factors are not polished, which would change it, and
        W has Frobenius norm one.
    starts : int, default 5
        At most; they are random, with factors of norm :math:`|X|_2^{1/2}`.
    seed : int, default 0
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 40
        Programs in a start.
    **options
        Options of `ConvexIteration`: ``solver`` (by default ``"clarabel"`` up to 40 rows and
        columns, then ``"scs"``; ``"dense"`` where they are not installed), ``form``,
        ``accuracy``, ``time_limit``, ``progress``.

    Returns
    -------
    Factorization
        Failures are statuses, not exceptions.

    Raises
    ------
    DataError, ModelError
        As `sdpdr.methods.nmf_lift`.

    References
    ----------
    Vasiloglou thesis, section 4.2.7, (2.71)-(2.73), where the first direction is the identity, from
    which all columns of W stay alike; (2.111).

    Examples
    --------
    >>> from sdpdr.factorize import nmf
    >>> from sdpdr.datasets import random_nonnegative
    >>> X, _ = random_nonnegative(5, 4, rank=2)
    >>> found = nmf(X, 2)
    >>> found.status, found.error < 1e-12, bool(found.W.min() >= 0.0)
    (IterationStatus.RANK_REACHED, True, True)
    """
    V = partial_matrix(X)
    k = number_of_components(n_components, V.shape)
    for name, number in (("starts", starts), ("max_iter", max_iter)):
        validate.positive_integer(name, number)
    model = nmf_lift(V, k, error=error, sparsity=sparsity)
    lift, norm = FactorLift(k, *V.shape), norm_of(V)
    limit = tol if error is None else (1.0 + ROUNDING) * error / norm
    scale = 1.0 if sparsity is not None else np.sqrt(np.linalg.norm(np.nan_to_num(V), 2))
    solver = first_usable("clarabel" if sum(V.shape) <= EXACT else "scs", "dense")
    iteration = ConvexIteration(
        model, k, variable="Z", restarts=starts - 1, seed=seed, max_iter=max_iter, tol=NEGLIGIBLE,
        start="random",
        **{"solver": solver, "direction": Schur(k, float(scale), V.shape), **options},
    )  # fmt: skip
    best: tuple[float, Array | None, Array | None] = (np.inf, None, None)
    errors: list[float] = []

    def keep(W: Array, H: Array) -> float:
        nonlocal best
        relative = residual(V, W, H) / norm
        if relative < best[0]:
            best = relative, W, H
        return relative

    def accept(state: State) -> bool:
        assert state.last is not None
        # Programs without a point have no factors.
        errors.extend([np.inf] * (len(state.history) - len(errors) - 1))
        W, H = (np.maximum(F, 0.0) for F in lift.read(state.last.values["Z"]))
        errors.append(keep(W, H.T))
        if sparsity is None:
            keep(*fit_factors(V, W, H.T))
        return best[0] <= limit

    state = iteration.run(accept=accept)
    errors.extend([np.inf] * (len(state.history) - len(errors)))
    status = state.status
    if best[0] <= limit:
        status = IterationStatus.RANK_REACHED
    elif status is IterationStatus.RANK_REACHED:
        status = IterationStatus.STALLED
    return Factorization(status, best[1], best[2], best[0], tuple(errors), state.history)
