"""The answer about a matrix that may be completely positive, and the attempts behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.progress import Advised
from sdpdr.families.factor.nonnegative.copositive import PROOFS, Refutation
from sdpdr.families.factor.nonnegative.symmetric_nmf import unit_residual
from sdpdr.solving.iterate.records import IterationStatus

FOUND: Mapping[str, str] = MappingProxyType(
    {
        "rank": "rank two at most",
        "dominant": "diagonally dominant",
        "scaled dominant": "diagonally dominant after scaling",
        "search": "found by search",
        "parts": "blocks found in different ways",
    }
)
"""How a factor was found, by name."""


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
class CpAttempt:
    r"""One search for a factor.

    Attributes
    ----------
    n_components : int
        k.
    kind : {"draw", "iteration"}
        A polished random factor, or a convex iteration with its polished result.
    start : int
        Number among its kind, from 0.
    factor : array of shape (n, k)
    residual : float
        Of the factor, see `CpFactorization`.
    gap : float
        For an iteration, :math:`\operatorname{tr} A - |B|_F^2` before polishing, where
        :math:`B B^T \preceq A`; else ``nan``.
    status : IterationStatus or None
    history : tuple of mappings
        Its programs.
    """

    n_components: int
    kind: str
    start: int
    factor: Array
    residual: float
    gap: float = float("nan")
    status: IterationStatus | None = None
    history: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"CpAttempt({self.kind} {self.start}, k={self.n_components}: {self.residual:.1e})"


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
        A key of `FOUND`, or of ``PROOFS`` of copositive matrices; empty if undecided.
    certificate : Refutation or None
        If the matrix is refuted.
    holds : bool or None
        Whether A is completely positive with any number of columns, if known: a factor with more
        columns than requested may be known, and up to order four all doubly nonnegative matrices
        are completely positive.
    attempts : tuple of CpAttempt
        Of each block of A in turn, if it was decided block by block.
    timed_out : bool
        Whether a time limit ended the search.
    """

    status: CpStatus
    factor: Array
    residual: float
    proof: str = ""
    certificate: Refutation | None = None
    holds: bool | None = None
    attempts: tuple[CpAttempt, ...] = ()
    timed_out: bool = False

    @classmethod
    def of(
        cls,
        A: Array,
        status: CpStatus,
        attempts: Sequence[CpAttempt] = (),
        factor: Array | None = None,
        **known: Any,
    ) -> CpFactorization:
        """With a factor and its residual; by default the best one tried, or zero columns."""
        if factor is None:
            best = min(attempts, key=lambda a: a.residual, default=None)
            factor = np.zeros((len(A), 0)) if best is None else best.factor
        residual = unit_residual(A, factor)
        return cls(status, factor, residual, attempts=tuple(attempts), **known)

    @classmethod
    def refuted(
        cls, A: Array, certificate: Refutation, attempts: Sequence[CpAttempt] = ()
    ) -> CpFactorization:
        """With a certificate."""
        status, proof = CpStatus.NOT_CP, certificate.proof
        return cls.of(A, status, attempts, proof=proof, certificate=certificate, holds=False)

    @property
    def gap(self) -> float:
        r"""The least :math:`\operatorname{tr} A - |B|_F^2` of the iterations, or ``nan``."""
        gaps = [a.gap for a in self.attempts if not np.isnan(a.gap)]
        return min(gaps) if gaps else float("nan")

    @property
    def n_components(self) -> int:
        """Number of columns of the factor."""
        return int(self.factor.shape[1])

    def residuals(self) -> dict[int, float]:
        """The best residual for each number of columns tried."""
        found: dict[int, float] = {}
        for a in self.attempts:
            found[a.n_components] = min(a.residual, found.get(a.n_components, np.inf))
        return found

    def rows(self) -> list[dict[str, Any]]:
        """All programs of all iterations, one start after the other, for `sdpdr.plot.rounds`."""
        rows: list[dict[str, Any]] = []
        runs = [a for a in self.attempts if a.history]
        for start, attempt in enumerate(runs):
            for row in attempt.history:
                added = {"n_components": attempt.n_components, "start": start}
                rows.append({**row, **added, "iteration": len(rows)})
        return rows

    def __repr__(self) -> str:
        if self.status is CpStatus.CP:
            words = f"{FOUND[self.proof]}, {self.n_components} columns"
            return f"CpFactorization(CP: {words}, residual {self.residual:.1e})"
        if self.certificate is not None:
            words = f"{PROOFS[self.proof]}, <M, A> = {self.certificate.value:.6g}"
            return f"CpFactorization(NOT_CP: {words})"
        return f"CpFactorization(UNDECIDED: best residual {self.residual:.1e})"
