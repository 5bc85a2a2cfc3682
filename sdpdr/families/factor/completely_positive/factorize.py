"""Completely positive factorization: a factor, a proof that there is none, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import Progress, show_progress
from sdpdr.families.factor.completely_positive.records import CpFactorization, CpStatus
from sdpdr.families.factor.completely_positive.search import CpSearch, columns_to_try
from sdpdr.families.factor.nonnegative.copositive import confirmed
from sdpdr.families.factor.nonnegative.dominant import components
from sdpdr.families.factor.nonnegative.symmetric import (
    obvious_certificate,
    symmetric_matrix,
    without_rounding,
)
from sdpdr.families.factor.nonnegative.symmetric_nmf import unit_residual
from sdpdr.solvers.base import Solver


def completely_positive(
    X: ArrayLike,
    n_components: int | tuple[int, int] | None = None,
    *,
    starts: int = 3,
    draws: int = 10,
    certificate: bool = True,
    tol: float = 1e-8,
    max_iter: int = 40,
    seed: int = 0,
    solver: str | Solver = "auto",
    form: str = "auto",
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> CpFactorization:
    r"""Factor a symmetric matrix as :math:`A = B B^T` with :math:`B \ge 0`, or prove it impossible.

    To decide whether a matrix is completely positive is NP-hard. What is tried, cheapest first:

    1. A negative entry or eigenvalue: not completely positive.
    2. Rank two at most, diagonal dominance, and dominance after scaling: B can be written down.
    3. No three places joined, and not dominant after scaling: not completely positive.
    4. Five places that are not completely positive by Horn's matrix, whatever the order
       (`sdpdr.nonnegative.horn_certificate`); beyond order 15 the places of longer odd cycles
       (`sdpdr.nonnegative.odd_cycle_certificate`).
    5. ``draws`` random factors, polished by least squares, and a copositive certificate
       (`copositive_certificate`), up to order 15.
    6. For each number k of columns, draws again and then ``starts`` runs of `cp_iteration`, every
       one polished; the best of either for longer.

    With any number of columns allowed, parts of A that no entry joins are decided one by one.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    n_components : int or (int, int), optional
        k, or the first and last k to try one after the other. By default the rank r of A, then
        r + 1, r + 3, r + 7 and so on up to the bound `sdpdr.nonnegative.cp_rank_bound`; since
        columns of zeros can be added, the last one contains all others.
    starts : int, default 3
        Runs of the iteration for each k; 0 for none.
    draws : int, default 10
        Random factors to polish for each k; 0 for none.
    certificate : bool, default True
        Whether to look for failing places and ask for a copositive certificate.
    tol : float, default 1e-8
        A residual up to which B counts as a factor, :math:`|A - B B^T|_F / |A|_F` at unit diagonal;
        also the distance from A, in the same measure, that a certificate must prove.
    max_iter : int, default 40
        Programs in each run.
    seed : int, default 0
    solver, form : see `sdpdr.solve`
        Of the iteration.
    time_limit : float, optional
        Seconds for everything.
    progress : bool or callable, optional
        Show progress; by default on a terminal only. A callable is given a mapping for each
        program and draw.

    Returns
    -------
    CpFactorization
        ``status`` is ``CP``, ``NOT_CP`` or ``UNDECIDED``; that a search stalled is never taken for
        a proof.

    Raises
    ------
    DataError
        A is not square, not symmetric or not finite, or k is below the rank of A or above the
        bound.

    References
    ----------
    Vasiloglou thesis, section 4.2.8.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]])
    >>> found = completely_positive(B @ B.T, 3)
    >>> found.status, found.factor.shape, found.residual < 1e-12
    (CpStatus.CP, (4, 3), True)
    >>> completely_positive([[1.0, 2.0], [2.0, 1.0]])
    CpFactorization(NOT_CP: an eigenvalue is negative, <M, A> = -1)
    """
    A = symmetric_matrix(X)
    search = CpSearch(
        starts=validate.positive_integer("starts", starts, at_least=0),
        draws=validate.positive_integer("draws", draws, at_least=0),
        certificate=certificate,
        tol=validate.positive_number("tol", tol),
        max_iter=validate.positive_integer("max_iter", max_iter),
        seed=seed,
        solver=solver,
        form=form,
        deadline=Deadline(time_limit),
    )
    obvious = obvious_certificate(A, tol)
    if obvious is not None:
        return CpFactorization.refuted(A, confirmed(obvious, A))
    A = without_rounding(A)
    columns = columns_to_try(A, n_components)
    with show_progress(progress, "completely positive factorization") as report:
        search.report = report
        if n_components is None:
            return _joined(A, [(p, search.decide(A[np.ix_(p, p)])) for p in components(A)])
        kept = np.flatnonzero(np.diag(A) > 0.0)
        found = search.decide(A[np.ix_(kept, kept)], columns)
        return found if kept.size == len(A) else _joined(A, [(kept, found)])


def _joined(A: Array, parts: Sequence[tuple[Index, CpFactorization]]) -> CpFactorization:
    """What is known of a matrix of whose parts the rest is zero."""
    widths = [part.factor.shape[1] for _, part in parts]
    B, last = np.zeros((len(A), sum(widths))), np.cumsum(widths)
    for (places, part), right in zip(parts, last, strict=True):
        B[places, right - part.factor.shape[1] : right] = part.factor
    attempts = tuple(a for _, part in parts for a in part.attempts)
    proofs = {part.proof for _, part in parts}
    whole = CpFactorization(
        CpStatus.CP,
        B,
        unit_residual(A, B),
        proofs.pop() if len(proofs) == 1 else "parts",
        holds=True,
        attempts=attempts,
        timed_out=any(part.timed_out for _, part in parts),
    )
    for places, part in parts:
        if part.certificate is not None:
            found = part.certificate.within(places, len(A))
            return replace(
                whole, status=part.status, proof=part.proof, certificate=found, holds=False
            )
    if any(part.status is CpStatus.UNDECIDED for _, part in parts):
        holds = True if all(part.holds for _, part in parts) else None
        return replace(whole, status=CpStatus.UNDECIDED, proof="", holds=holds)
    return whole
