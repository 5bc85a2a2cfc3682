"""Completely positive factorization: a factor, a proof that there is none, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress, show_progress
from sdpdr.families.factor.completely_positive.programs import (
    copositive_certificate,
    cp_iteration,
    random_factor,
)
from sdpdr.families.factor.completely_positive.records import CpAttempt, CpFactorization, CpStatus
from sdpdr.families.factor.nonnegative.copositive import Refutation, confirmed
from sdpdr.families.factor.nonnegative.dominant import (
    components,
    dominant_factor,
    has_triangle,
    is_dominant,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.horn import horn_certificate
from sdpdr.families.factor.nonnegative.polish import polish_square
from sdpdr.families.factor.nonnegative.symmetric import (
    UnitScaled,
    cp_rank_bound,
    numerical_rank,
    obvious_certificate,
    symmetric_matrix,
    without_rounding,
)
from sdpdr.families.factor.nonnegative.symmetric_nmf import square_residual, unit_residual
from sdpdr.program import as_dense
from sdpdr.solvers.base import Solver

# Order up to which the certificate of level one is requested: its program has a matrix for each
# row.
LARGEST_CUT = 15
# Gap relative to the trace below which the factor of a program is polished during the iteration,
# and the steps of that polish.
_NEAR, _BRIEF = 2e-2, 30
# Steps of the polish of a draw or an iteration, and of the best one for some number of columns, of
# which there are fewer where they would take more than this number of operations.
_USUAL, _LONG, _OPERATIONS = 300, 3000, 2e9


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

    Deciding whether a matrix is completely positive is NP-hard. These steps are tried, the cheapest
    first:

    1. A negative entry or eigenvalue: not completely positive.
    2. Rank two at most, diagonal dominance, and dominance after scaling: B can be written down.
    3. No three rows joined by nonzero entries, and not dominant after scaling: not completely
       positive.
    4. Five rows that are not completely positive by Horn's matrix, whatever the order
       (`sdpdr.nonnegative.horn_certificate`).
    5. ``draws`` random factors, polished by least squares, and a copositive certificate
       (`copositive_certificate`), up to order 15.
    6. For each number k of columns, draws again and then ``starts`` runs of `cp_iteration`, each
       polished; the best of either for longer.

    If any number of columns is allowed, disconnected blocks of A are decided one by one.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    n_components : int or (int, int), optional
        k, or the first and last k to try one after the other. By default the rank r of A, then
        r + 1, r + 3, r + 7 and so on up to the bound `sdpdr.nonnegative.cp_rank_bound`; since
        zero columns can be added, the last one contains all others.
    starts : int, default 3
        Runs of the iteration for each k; 0 for none.
    draws : int, default 10
        Random factors to polish for each k; 0 for none.
    certificate : bool, default True
        Whether to search for a copositive certificate (steps 4 and 5).
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
        By default on a terminal only. A callable receives a mapping for each program and draw.

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
            return _joined(
                A, [(rows, search.decide(A[np.ix_(rows, rows)])) for rows in components(A)]
            )
        kept = np.flatnonzero(np.diag(A) > 0.0)
        found = search.decide(A[np.ix_(kept, kept)], columns)
        return found if kept.size == len(A) else _joined(A, [(kept, found)])


def _joined(A: Array, parts: Sequence[tuple[Index, CpFactorization]]) -> CpFactorization:
    """The answer for a block-diagonal matrix from the answers for its blocks."""
    widths = [part.factor.shape[1] for _, part in parts]
    B, ends = np.zeros((len(A), sum(widths))), np.cumsum(widths)
    for (rows, part), end in zip(parts, ends, strict=True):
        B[rows, end - part.factor.shape[1] : end] = part.factor
    proofs = {part.proof for _, part in parts}
    whole = CpFactorization(
        CpStatus.CP,
        B,
        unit_residual(A, B),
        proofs.pop() if len(proofs) == 1 else "parts",
        holds=True,
        attempts=tuple(a for _, part in parts for a in part.attempts),
        timed_out=any(part.timed_out for _, part in parts),
    )
    for rows, part in parts:
        if part.certificate is not None:
            found = part.certificate.within(rows, len(A))
            return replace(
                whole, status=part.status, proof=part.proof, certificate=found, holds=False
            )
    if any(part.status is CpStatus.UNDECIDED for _, part in parts):
        holds = True if all(part.holds for _, part in parts) else None
        return replace(whole, status=CpStatus.UNDECIDED, proof="", holds=holds)
    return whole


@dataclass
class CpSearch:
    """The options of a search for a factor, and the number of reports so far."""

    starts: int
    draws: int
    certificate: bool
    tol: float
    max_iter: int
    seed: int
    solver: str | Solver
    form: str
    deadline: Deadline
    report: Progress | None = None
    reported: int = 0

    def decide(self, A: Array, columns: tuple[int, ...] | None = None) -> CpFactorization:
        """Decide on a matrix without empty rows."""
        written = self._written(A, columns)
        if isinstance(written, CpFactorization):
            return written
        # Up to order four, doubly nonnegative matrices are completely positive.
        known = written or len(A) <= 4
        if not known:
            certificate = self._certificate(A)
            if certificate is not None:
                return CpFactorization.refuted(A, certificate)
        return self.search(A, columns or columns_to_try(A, None), True if known else None)

    def _written(self, A: Array, columns: tuple[int, ...] | None) -> CpFactorization | bool:
        """A factor in closed form; or whether there is one, with more columns than allowed."""
        wide = False
        for proof, B in _closed_forms(A):
            if not unit_residual(A, B) <= self.tol:
                continue
            if columns is None or B.shape[1] <= columns[-1]:
                missing = 0 if columns is None else max(columns[0] - B.shape[1], 0)
                B = np.pad(B, ((0, 0), (0, missing)))
                return CpFactorization.of(A, CpStatus.CP, (), B, proof=proof, holds=True)
            wide = True
        return wide

    def _certificate(self, A: Array) -> Refutation | None:
        """A certificate that needs no program."""
        if not has_triangle(A):
            unit = UnitScaled.of(A).matrix
            clear = triangle_free_certificate(unit)
            if clear is not None and clear.is_beyond(self.tol, unit):
                found = triangle_free_certificate(A)
                if found is not None:
                    return confirmed(found, A)
        if not self.certificate:
            return None
        return horn_certificate(A, tol=self.tol, seed=self.seed, deadline=self.deadline)

    def search(self, A: Array, columns: tuple[int, ...], holds: bool | None) -> CpFactorization:
        """Search for factors, and for a certificate after the first draws."""
        attempts: list[CpAttempt] = []
        for attempt in self.attempts(A, columns, certify=self.certificate and holds is None):
            if isinstance(attempt, Refutation):
                return CpFactorization.refuted(A, attempt, attempts)
            attempts.append(attempt)
            if attempt.residual <= self.tol:
                return CpFactorization.of(
                    A, CpStatus.CP, attempts, attempt.factor, proof="search", holds=True
                )
        over = self.deadline.is_over()
        return CpFactorization.of(A, CpStatus.UNDECIDED, attempts, holds=holds, timed_out=over)

    def attempts(
        self, A: Array, columns: tuple[int, ...], certify: bool
    ) -> Iterator[CpAttempt | Refutation]:
        """Attempts in turn, until the time is over."""
        unit = UnitScaled.of(A)
        for k in columns:
            rng = np.random.default_rng([self.seed, k])
            for attempt, count in ((self.draw, self.draws), (self.climb, self.starts)):
                tried = []
                for number in range(count):
                    if self.deadline.is_over():
                        return
                    tried.append(attempt(unit, k, number, rng))
                    yield tried[-1]
                if certify and len(A) <= LARGEST_CUT and not self.deadline.is_over():
                    left = self.deadline.left()
                    found = copositive_certificate(A, tol=self.tol, time_limit=left)
                    if found is not None:
                        yield found
                        return
                certify = False
                if tried and not self.deadline.is_over():
                    yield self._longer(unit, min(tried, key=lambda a: a.residual))

    def draw(self, unit: UnitScaled, k: int, draw: int, rng: np.random.Generator) -> CpAttempt:
        """Polish a random factor."""
        factor, residual = self._polished(unit, random_factor(unit.matrix, k, rng))
        self._report(k, residual)
        return CpAttempt(k, "draw", draw, factor, residual)

    def climb(self, unit: UnitScaled, k: int, start: int, rng: np.random.Generator) -> CpAttempt:
        """Run the iteration at unit diagonal, and polish its factors where they are near."""
        A, root = unit.matrix, unit.root[:, None]
        iteration = cp_iteration(
            A, k, random_factor(A, k, rng), self.seed,
            max_iter=self.max_iter, solver=self.solver, form=self.form, progress=False,
            time_limit=self.deadline.left(),
        )  # fmt: skip
        state, B = iteration.init(), np.zeros((len(A), k))
        while not iteration.done(state) and not self.deadline.is_over():
            state = iteration.step(state)
            if state.best is not None:
                B = np.maximum(as_dense(state.gram())[k:, :k], 0.0)
            self._report(k, square_residual(A, B))
            near = 1.0 - float(np.sum(B**2)) / len(A) <= _NEAR
            if near and square_residual(A, polish_square(A, B, max_iter=_BRIEF)) <= self.tol:
                break
        factor, residual = self._polished(unit, B)
        missing = float(np.sum(root**2) - np.sum((root * B) ** 2))
        return CpAttempt(
            k, "iteration", start, factor, residual, missing, state.status, tuple(state.rows())
        )

    def _longer(self, unit: UnitScaled, attempt: CpAttempt) -> CpAttempt:
        """Continue the polish of an attempt; its programs are not listed again."""
        steps = int(max(_USUAL, min(_LONG, _OPERATIONS / attempt.factor.size**3)))
        factor, residual = self._polished(unit, attempt.factor / unit.root[:, None], steps)
        self._report(attempt.n_components, residual)
        return replace(attempt, factor=factor, residual=residual, history=())

    def _polished(self, unit: UnitScaled, B: Array, steps: int = _USUAL) -> tuple[Array, float]:
        """A factor of the matrix itself from one of it at unit diagonal, and its residual."""
        found = polish_square(unit.matrix, B, max_iter=steps, stop=self.deadline.is_over)
        return unit.root[:, None] * found, square_residual(unit.matrix, found)

    def _report(self, k: int, residual: float) -> None:
        if self.report is not None:
            spent = self.deadline.spent
            self.report(
                {"iteration": self.reported, "n_components": k, "value": residual, "seconds": spent}
            )
        self.reported += 1


def columns_to_try(A: Array, requested: int | tuple[int, int] | None) -> tuple[int, ...]:
    """The numbers of columns to try; the rank is counted at unit diagonal."""
    rank = numerical_rank(UnitScaled.of(A).matrix)
    most = cp_rank_bound(len(A), rank)
    if requested is None:
        steps = [rank + 2**j - 1 for j in range(most.bit_length() + 1)]
        return (*(k for k in steps if k < most), most)
    low, high = requested if isinstance(requested, tuple) else (requested, requested)
    low, high = (validate.positive_integer("n_components", k) for k in (low, high))
    if not rank <= low <= high <= most:
        raise DataError(
            f"n_components={requested} is out of range: X has rank {rank}, so no factor has fewer "
            f"columns, and no completely positive matrix of order {len(A)} and that rank needs "
            f"more than {most}. Pass {rank} to {most}."
        )
    return tuple(range(low, high + 1))


def _closed_forms(A: Array) -> Iterator[tuple[str, Array]]:
    """Factors in closed form, and their names among the proofs."""
    rank = numerical_rank(UnitScaled.of(A).matrix)
    if rank <= 2:
        yield "rank", small_rank_factor(A, rank)
    if is_dominant(A):
        yield "dominant", dominant_factor(A)
    scaled = scaled_dominant_factor(A)
    if scaled is not None:
        yield "scaled dominant", scaled
