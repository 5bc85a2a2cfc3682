"""Looking for a completely positive factor, from what is cheap to what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress
from sdpdr.families.factor.completely_positive.programs import (
    copositive_certificate,
    cp_iteration,
    random_factor,
)
from sdpdr.families.factor.completely_positive.records import CpAttempt, CpFactorization, CpStatus
from sdpdr.families.factor.nonnegative.copositive import Refutation, confirmed
from sdpdr.families.factor.nonnegative.dominant import (
    dominant_factor,
    has_triangle,
    is_dominant,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.five_cycles import horn_certificate
from sdpdr.families.factor.nonnegative.odd_cycles import odd_cycle_certificate
from sdpdr.families.factor.nonnegative.symmetric import (
    at_unit_diagonal,
    cp_rank_bound,
    numerical_rank,
)
from sdpdr.families.factor.nonnegative.symmetric_nmf import (
    polish_square,
    square_residual,
    unit_residual,
)
from sdpdr.program import as_dense
from sdpdr.solvers.base import Solver

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
            unit = at_unit_diagonal(A)[0]
            clear = triangle_free_certificate(unit)
            if clear is not None and clear.distance > self.tol * float(np.linalg.norm(unit)):
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
        unit, root, _ = at_unit_diagonal(A)
        for k in columns:
            rng = np.random.default_rng([self.seed, k])
            for make, count in ((self.draw, self.draws), (self.climb, self.starts)):
                tried = []
                for number in range(count):
                    if self.deadline.is_over():
                        return
                    tried.append(make(unit, root, k, number, rng))
                    yield tried[-1]
                if ask and len(A) <= LARGEST_CUT and not self.deadline.is_over():
                    left = self.deadline.left()
                    found = copositive_certificate(A, tol=self.tol, time_limit=left)
                    if found is not None:
                        yield found
                        return
                ask = False
                if tried and not self.deadline.is_over():
                    yield self.longer(unit, root, min(tried, key=lambda a: a.residual))

    def draw(
        self, unit: Array, root: Array, k: int, draw: int, rng: np.random.Generator
    ) -> CpAttempt:
        """Polish a random factor."""
        attempt = CpAttempt(
            k, "draw", draw, *self.polished(unit, root, random_factor(unit, k, rng), _USUAL)
        )
        self._tell(k, attempt.residual)
        return attempt

    def longer(self, unit: Array, root: Array, attempt: CpAttempt) -> CpAttempt:
        """Polish on from the end of an attempt; its programs are not listed again."""
        steps = int(max(_USUAL, min(_LONG, _OPERATIONS / attempt.factor.size**3)))
        factor, residual = self.polished(unit, root, attempt.factor / root[:, None], steps)
        self._tell(attempt.n_components, residual)
        return replace(attempt, factor=factor, residual=residual, history=())

    def climb(
        self, unit: Array, root: Array, k: int, start: int, rng: np.random.Generator
    ) -> CpAttempt:
        """Run the iteration at unit diagonal, polishing on the way where it is near."""
        iteration = cp_iteration(
            unit, k, random_factor(unit, k, rng), self.seed,
            max_iter=self.max_iter, solver=self.solver, form=self.form, progress=False,
            time_limit=self.deadline.left(),
        )  # fmt: skip
        state, B = iteration.init(), np.zeros((len(unit), k))
        while not iteration.done(state) and not self.deadline.is_over():
            state = iteration.step(state)
            if state.best is not None:
                B = np.maximum(as_dense(state.gram())[k:, :k], 0.0)
            self._tell(k, square_residual(unit, B))
            near = 1.0 - float(np.sum(B**2)) / len(unit) <= _NEAR
            if near and polish_square(unit, B, max_iter=_BRIEF).residual <= self.tol:
                break
        factor, residual = self.polished(unit, root, B, _USUAL)
        missing = float(np.sum(root**2) - np.sum((root[:, None] * B) ** 2))
        return CpAttempt(
            k, "iteration", start, factor, residual, missing, state.status, tuple(state.rows())
        )

    def polished(self, unit: Array, root: Array, B: Array, steps: int) -> tuple[Array, float]:
        """A factor of the matrix itself from one of it at unit diagonal, as far as time allows."""
        found = polish_square(unit, B, max_iter=steps, stop=self.deadline.is_over)
        return root[:, None] * found.factor, found.residual

    def _tell(self, k: int, residual: float) -> None:
        if self.report is not None:
            spent = self.deadline.spent
            self.report(
                {"iteration": self.told, "n_components": k, "value": residual, "seconds": spent}
            )
        self.told += 1


def columns_to_try(A: Array, asked: int | tuple[int, int] | None) -> tuple[int, ...]:
    """The numbers of columns to try; the rank is counted at unit diagonal."""
    rank = numerical_rank(at_unit_diagonal(A)[0])
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
    rank = numerical_rank(at_unit_diagonal(A)[0])
    if rank <= 2:
        yield "rank", small_rank_factor(A, rank)
    if is_dominant(A):
        yield "dominant", dominant_factor(A)
    scaled = scaled_dominant_factor(A)
    if scaled is not None:
        yield "scaled dominant", scaled
