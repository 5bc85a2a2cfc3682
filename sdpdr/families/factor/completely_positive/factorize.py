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
from sdpdr.families.factor.nonnegative.cycles import horn_certificate, odd_cycle_certificate
from sdpdr.families.factor.nonnegative.dominant import (
    components,
    dominant_factor,
    has_triangle,
    is_dominant,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.symmetric import (
    UnitScaled,
    cp_rank_bound,
    numerical_rank,
    obvious_certificate,
    symmetric_matrix,
    without_rounding,
)
from sdpdr.families.factor.nonnegative.symmetric_nmf import (
    polish_square,
    square_residual,
    unit_residual,
)
from sdpdr.program import as_dense
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


# Order up to which the certificate of level one is asked for: its program has a matrix for each
# place.
LARGEST_CUT = 15
# Gap relative to the trace below which a factor of the iteration is polished on the way.
_NEAR = 2e-2
# Steps of polishing: on the way, of a draw or an end, and at most of the best for some k, as far as
# this number of operations allows.
_BRIEF, _USUAL, _LONG = 30, 300, 3000
_OPERATIONS = 2e9


@dataclass
class CpSearch:
    """How to look for a factor, and what has been tried."""

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
    told: int = 0

    def decide(self, A: Array, columns: tuple[int, ...] | None = None) -> CpFactorization:
        """Decide on a matrix without empty rows."""
        asked = columns is not None
        columns = columns_to_try(A, None) if columns is None else columns
        wide = None
        for proof, B in _written(A):
            if not unit_residual(A, B) <= self.tol:
                continue
            if not asked or B.shape[1] <= columns[-1]:
                B = np.pad(B, ((0, 0), (0, max((columns[0] if asked else 0) - B.shape[1], 0))))
                return CpFactorization.of(A, CpStatus.CP, (), B, proof=proof, holds=True)
            wide = proof
        known = wide is not None or len(A) <= 4
        if not known and not has_triangle(A):
            unit = UnitScaled.of(A).matrix
            clear = triangle_free_certificate(unit)
            if clear is not None and clear.is_beyond(self.tol, unit):
                refuted = triangle_free_certificate(A)
                if refuted is not None:
                    return CpFactorization.refuted(A, confirmed(refuted, A))
        if self.certificate and not known:
            failing = horn_certificate(A, tol=self.tol, seed=self.seed, deadline=self.deadline)
            if failing is None and len(A) > LARGEST_CUT:
                failing = odd_cycle_certificate(A, tol=self.tol, deadline=self.deadline)
            if failing is not None:
                return CpFactorization.refuted(A, failing)
        return self.search(A, columns, True if known else None)

    def search(self, A: Array, columns: tuple[int, ...], holds: bool | None) -> CpFactorization:
        """Look for factors, and for a certificate after the first draws."""
        attempts: list[CpAttempt] = []
        for attempt in self.attempts(A, columns, ask=self.certificate and holds is None):
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
        self, A: Array, columns: tuple[int, ...], ask: bool
    ) -> Iterator[CpAttempt | Refutation]:
        """Attempts in their order, until the time is over."""
        unit = UnitScaled.of(A)
        for k in columns:
            rng = np.random.default_rng([self.seed, k])
            for make, count in ((self.draw, self.draws), (self.climb, self.starts)):
                tried = []
                for number in range(count):
                    if self.deadline.is_over():
                        return
                    tried.append(make(unit, k, number, rng))
                    yield tried[-1]
                if ask and len(A) <= LARGEST_CUT and not self.deadline.is_over():
                    left = self.deadline.left()
                    found = copositive_certificate(A, tol=self.tol, time_limit=left)
                    if found is not None:
                        yield found
                        return
                ask = False
                if tried and not self.deadline.is_over():
                    yield self.longer(unit, min(tried, key=lambda a: a.residual))

    def draw(self, unit: UnitScaled, k: int, draw: int, rng: np.random.Generator) -> CpAttempt:
        """Polish a random factor."""
        B = random_factor(unit.matrix, k, rng)
        attempt = CpAttempt(k, "draw", draw, *self.polished(unit, B, _USUAL))
        self._tell(k, attempt.residual)
        return attempt

    def longer(self, unit: UnitScaled, attempt: CpAttempt) -> CpAttempt:
        """Polish on from the end of an attempt; its programs are not listed again."""
        steps = int(max(_USUAL, min(_LONG, _OPERATIONS / attempt.factor.size**3)))
        factor, residual = self.polished(unit, attempt.factor / unit.root[:, None], steps)
        self._tell(attempt.n_components, residual)
        return replace(attempt, factor=factor, residual=residual, history=())

    def climb(self, unit: UnitScaled, k: int, start: int, rng: np.random.Generator) -> CpAttempt:
        """Run the iteration at unit diagonal, polishing on the way where it is near."""
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
            self._tell(k, square_residual(A, B))
            near = 1.0 - float(np.sum(B**2)) / len(A) <= _NEAR
            if near and polish_square(A, B, max_iter=_BRIEF).residual <= self.tol:
                break
        factor, residual = self.polished(unit, B, _USUAL)
        missing = float(np.sum(root**2) - np.sum((root * B) ** 2))
        return CpAttempt(
            k, "iteration", start, factor, residual, missing, state.status, tuple(state.rows())
        )

    def polished(self, unit: UnitScaled, B: Array, steps: int) -> tuple[Array, float]:
        """A factor of the matrix itself from one of it at unit diagonal, as far as time allows."""
        found = polish_square(unit.matrix, B, max_iter=steps, stop=self.deadline.is_over)
        return unit.root[:, None] * found.factor, found.residual

    def _tell(self, k: int, residual: float) -> None:
        if self.report is not None:
            spent = self.deadline.spent
            self.report(
                {"iteration": self.told, "n_components": k, "value": residual, "seconds": spent}
            )
        self.told += 1


def columns_to_try(A: Array, asked: int | tuple[int, int] | None) -> tuple[int, ...]:
    """The numbers of columns to try; the rank is counted at unit diagonal."""
    rank = numerical_rank(UnitScaled.of(A).matrix)
    most = cp_rank_bound(len(A), rank)
    if asked is None:
        steps = [rank + 2**j - 1 for j in range(most.bit_length() + 1)]
        return (*(k for k in steps if k < most), most)
    low, high = asked if isinstance(asked, tuple) else (asked, asked)
    low, high = (validate.positive_integer("n_components", k) for k in (low, high))
    if not rank <= low <= high <= most:
        raise DataError(
            f"n_components={asked} is out of range: X has rank {rank}, so no factor has fewer "
            f"columns, and no completely positive matrix of order {len(A)} and that rank needs "
            f"more than {most}."
        )
    return tuple(range(low, high + 1))


def _written(A: Array) -> Iterator[tuple[str, Array]]:
    """Factors that can be written down, and what they rest on."""
    rank = numerical_rank(UnitScaled.of(A).matrix)
    if rank <= 2:
        yield "rank", small_rank_factor(A, rank)
    if is_dominant(A):
        yield "dominant", dominant_factor(A)
    scaled = scaled_dominant_factor(A)
    if scaled is not None:
        yield "scaled dominant", scaled
