"""Completely positive factorization: a factor, a proof that there is none, or neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised
from sdpdr.families.factor.completely_positive.recipes import copositive_cut
from sdpdr.families.factor.completely_positive.symmetric import best_square, square_residual
from sdpdr.families.factor.nonnegative.copositive import (
    LARGEST,
    PROOFS,
    Refutation,
    certified,
    multiplier_matrix,
    obvious_certificate,
    unit_scaled,
)
from sdpdr.families.factor.nonnegative.dominant import (
    components,
    dominant_factor,
    has_triangle,
    is_dominant,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix
from sdpdr.families.limits import ROUNDING
from sdpdr.linalg.svec import smat
from sdpdr.program import as_dense
from sdpdr.solvers.registry import first_usable
from sdpdr.solving.solve import solve

# The ways in which a factor was found, by name.
FOUND = {
    "rank": "rank two at most",
    "dominant": "diagonally dominant",
    "scaled dominant": "diagonally dominant after scaling",
    "search": "found by search",
    "parts": "blocks found in different ways",
}


class CpStatus(Advised):
    """The answer; the value of each member explains it."""

    CP = "A nonnegative factor was found; it fits to `residual`."
    NOT_CP = (
        "There is none with any number of columns: `certificate` holds a copositive matrix whose "
        "inner product with the matrix is negative."
    )
    UNDECIDED = (
        "Neither a factor of the requested size nor a proof that there is none was found, which "
        "proves nothing. Allow more columns (`n_components`), more `starts` or more time."
    )


@dataclass(frozen=True, eq=False)
class CpFactorization:
    r"""A factor, a certificate, or neither.

    Attributes
    ----------
    status : CpStatus
    factor : array of shape (n, k)
        B >= 0: the factor, or the best one found, also for a refuted matrix if any was tried.
    residual : float
        :math:`|D (A - B B^T) D|_F / |D A D|_F` with :math:`D = \operatorname{diag}(A)^{-1/2}`:
        independent of the scaling of rows.
    proof : str
        How the factor was found, or why the certificate holds; empty if undecided.
    certificate : Refutation or None
        If the matrix is refuted.
    holds : bool or None
        Whether A is completely positive with any number of columns, if known: a factor with more
        columns than requested may be known, and up to order four all doubly nonnegative matrices
        are completely positive.
    timed_out : bool
        Whether a time limit ended the search.
    """

    status: CpStatus
    factor: Array
    residual: float
    proof: str = ""
    certificate: Refutation | None = None
    holds: bool | None = None
    timed_out: bool = False

    def __repr__(self) -> str:
        if self.status is CpStatus.CP:
            words = f"{FOUND[self.proof]}, {self.factor.shape[1]} columns"
            return f"CpFactorization(CP: {words}, residual {self.residual:.1e})"
        if self.certificate is not None:
            words = f"{PROOFS[self.proof]}, <M, A> = {self.certificate.value:.6g}"
            return f"CpFactorization(NOT_CP: {words})"
        return f"CpFactorization(UNDECIDED: best residual {self.residual:.1e})"


@checks_keywords
def completely_positive(
    X: ArrayLike,
    n_components: int | None = None,
    *,
    starts: int = 10,
    certificate: bool = True,
    tol: float = 1e-8,
    seed: int = 0,
    time_limit: float | None = None,
) -> CpFactorization:
    r"""Factor a symmetric matrix as :math:`A = B B^T` with :math:`B \ge 0`, or prove it impossible.

    Deciding whether a matrix is completely positive is NP-hard. These steps are tried, the cheapest
    first:

    1. A negative entry or eigenvalue: not completely positive.
    2. Rank two at most, diagonal dominance, and dominance after scaling: B can be written down.
    3. No three rows joined by nonzero entries, and not dominant after scaling: not completely
       positive.
    4. For each number k of columns, least squares from ``starts`` random factors. After the first k
       and up to order 15, a certificate of the program `sdpdr.methods.copositive_cut`, made exact.

    If any number of columns is allowed, disconnected blocks of A are decided one by one.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    n_components : int, optional
        k. By default the rank r of A, then r + 1, r + 3, r + 7 and so on up to a number that always
        suffices; since zero columns can be added, the last one contains all others.
    starts : int, default 10
        Random factors to begin from for each k; 0 for none.
    certificate : bool, default True
        Whether to search for a copositive certificate by the program (step 4).
    tol : float, default 1e-8
        A residual up to which B counts as a factor, :math:`|A - B B^T|_F / |A|_F` at unit diagonal;
        also the distance from A, in the same measure, that a certificate must prove.
    seed : int, default 0
    time_limit : float, optional
        Seconds for everything.

    Returns
    -------
    CpFactorization
        ``status`` is ``CP``, ``NOT_CP`` or ``UNDECIDED``; a stalled search is never taken for a
        proof.

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
    >>> import numpy as np
    >>> from sdpdr.factorize import completely_positive
    >>> B = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]])
    >>> found = completely_positive(B @ B.T, 3)
    >>> found.status, found.factor.shape, found.residual < 1e-12
    (CpStatus.CP, (4, 3), True)
    >>> completely_positive([[1.0, 2.0], [2.0, 1.0]])
    CpFactorization(NOT_CP: an eigenvalue is negative, <M, A> = -1)
    """
    A = symmetric_matrix(X)
    search = _Search(
        validate.positive_integer("starts", starts, at_least=0),
        certificate,
        validate.positive_number("tol", tol),
        seed,
        Deadline(time_limit),
    )
    obvious = obvious_certificate(A, tol)
    if obvious is not None:
        return _refuted(obvious, np.zeros((len(A), 0)), 1.0)
    used = np.diag(A) > 0.0
    A = np.where(used[:, None] & used, np.maximum(A, 0.0), 0.0)
    blocks = components(A) if n_components is None else [np.flatnonzero(used)]
    parts = [search.decide(A[np.ix_(rows, rows)], n_components) for rows in blocks]
    factors = [np.zeros((len(A), part.factor.shape[1])) for part in parts]
    for rows, part, factor in zip(blocks, parts, factors, strict=True):
        factor[rows] = part.factor
    B = np.hstack(factors)
    residual = unit_residual(A, B)
    for rows, part in zip(blocks, parts, strict=True):
        if part.certificate is not None:
            return _refuted(part.certificate.within(rows, len(A)), B, residual)
    undecided = any(part.status is CpStatus.UNDECIDED for part in parts)
    proofs = {part.proof for part in parts}
    return CpFactorization(
        CpStatus.UNDECIDED if undecided else CpStatus.CP,
        B,
        residual,
        "" if undecided else proofs.pop() if len(proofs) == 1 else "parts",
        holds=True if all(part.holds for part in parts) else None,
        timed_out=any(part.timed_out for part in parts),
    )


def _refuted(certificate: Refutation, factor: Array, residual: float) -> CpFactorization:
    proof = certificate.proof
    return CpFactorization(CpStatus.NOT_CP, factor, residual, proof, certificate, holds=False)


@dataclass
class _Search:
    """The options of `completely_positive`."""

    starts: int
    certificate: bool
    tol: float
    seed: int
    deadline: Deadline

    def decide(self, A: Array, n_components: int | None) -> CpFactorization:
        """Decide on a matrix without empty rows."""
        unit, root = unit_scaled(A)
        values = np.linalg.eigvalsh(unit)
        rank = int(np.sum(values > ROUNDING * values[-1]))
        columns = _columns(len(A), rank, n_components)
        # Up to order four, doubly nonnegative matrices are completely positive.
        known = len(A) <= 4
        for proof, B in _closed_forms(A, rank):
            residual = unit_residual(A, B)
            if residual > self.tol:
                continue
            if n_components is None or B.shape[1] <= n_components:
                B = np.pad(B, ((0, 0), (0, max((n_components or 0) - B.shape[1], 0))))
                return CpFactorization(CpStatus.CP, B, residual, proof, holds=True)
            known = True
        best, least = np.zeros((len(A), 0)), 1.0
        if not known and not has_triangle(A):
            clear, found = triangle_free_certificate(unit), triangle_free_certificate(A)
            if clear is not None and clear.is_beyond(self.tol, unit) and found is not None:
                return _refuted(found, best, least)
        certify = self.certificate and not known and len(A) <= LARGEST
        for k in columns:
            # Rows are about as long as those of a factor.
            B, residual = best_square(
                unit, k, self.starts, self.seed,
                size=np.sqrt(2.0 / k), tol=self.tol, deadline=self.deadline,
            )  # fmt: skip
            if residual < least:
                best, least = root[:, None] * B, residual
            if least <= self.tol:
                return CpFactorization(CpStatus.CP, best, least, "search", holds=True)
            if self.deadline.is_over():
                break
            if certify:
                found = _program_certificate(A, self.tol, self.deadline)
                if found is not None:
                    return _refuted(found, best, least)
                certify = False
        return CpFactorization(
            CpStatus.UNDECIDED,
            best,
            least,
            holds=True if known else None,
            timed_out=self.deadline.is_over(),
        )


def _columns(n: int, rank: int, requested: int | None) -> tuple[int, ...]:
    r"""The numbers of columns to try, from the rank to one that always suffices.

    That is r(r+1)/2 - 1 for rank r from two on (Berman and Shaked-Monderer, 2003), n up to order
    four, and n(n+1)/2 - 4 from five on (Shaked-Monderer, Bomze, Jarre and Schachinger, 2013).
    """
    by_rank = rank if rank <= 2 else rank * (rank + 1) // 2 - 1
    most = min(by_rank, n if n <= 4 else n * (n + 1) // 2 - 4)
    if requested is None:
        steps = [rank + 2**j - 1 for j in range(most.bit_length() + 1)]
        return (*(k for k in steps if k < most), most)
    k = validate.positive_integer("n_components", requested)
    if not rank <= k <= most:
        raise DataError(
            f"n_components={k} is out of range: X has rank {rank}, so no factor has fewer "
            f"columns, and no completely positive matrix of order {n} and that rank needs "
            f"more than {most}. Pass {rank} to {most}."
        )
    return (k,)


def _closed_forms(A: Array, rank: int) -> Iterator[tuple[str, Array]]:
    """Factors in closed form, and their names among the proofs."""
    if rank <= 2:
        yield "rank", small_rank_factor(A, rank)
    if is_dominant(A):
        yield "dominant", dominant_factor(A)
    scaled = scaled_dominant_factor(A)
    if scaled is not None:
        yield "scaled dominant", scaled


def _program_certificate(A: Array, tol: float, deadline: Deadline) -> Refutation | None:
    """A certificate by `copositive_cut` at unit diagonal, whose multipliers are made exact."""
    solution = solve(
        copositive_cut(unit_scaled(A)[0]),
        first_usable("clarabel", "dense"),
        "gram",
        tol=tol,
        time_limit=deadline.left(),
        progress=False,
    )
    if not solution.values:
        return None
    M = smat(np.asarray(solution.values["M"]))
    parts = np.array([as_dense(solution.values[f"P{i}"]) for i in range(len(M))])
    return certified("multipliers", multiplier_matrix(M, parts), A, tol)


def unit_residual(A: Array, B: Array) -> float:
    """The residual of both at unit diagonal, so that short rows count as much as long ones."""
    root = np.sqrt(np.where(np.diag(A) > 0.0, np.diag(A), 1.0))
    return square_residual(A / np.outer(root, root), B / root[:, None])
