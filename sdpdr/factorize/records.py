"""What a factorization by iteration leaves: factors, how well they fit, and how they were found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sdpdr.errors import SolveFailedError
from sdpdr.iterate import IterationStatus, Record, State
from sdpdr.linalg.svec import Array
from sdpdr.nonnegative.partial import PartialMatrix
from sdpdr.nonnegative.polish import Polished


@dataclass(frozen=True, eq=False)
class Factorization:
    """Non-negative factors of a matrix, found by an iteration of programs.

    Attributes
    ----------
    status : IterationStatus
        ``RANK_REACHED`` only where W and H, as they are returned, multiply to the matrix to the
        tolerance, or to the error allowed.
    W : array of shape (n, k) or None
        None where no program has an answer.
    H : array of shape (k, m) or None
    error : float
        :math:`|X - WH|_F / |X|_F` over the known entries; ``inf`` without factors.
    errors : tuple of float
        The same for each program's own factors, before polishing.
    history : tuple of Record
        One for each program.
    known : PartialMatrix
        The matrix.
    radius : float or None
        The distance :math:`|X - V|_F` that was allowed in the end; None where V = X.
    polished : Polished or None
        The last step, by which W and H were found; None if they are those of a program.
    state : State or None
        To go on from.
    """

    status: IterationStatus
    W: Array | None
    H: Array | None
    error: float
    errors: tuple[float, ...]
    history: tuple[Record, ...]
    known: PartialMatrix
    radius: float | None = None
    polished: Polished | None = None
    state: State | None = None

    @property
    def reached(self) -> bool:
        """Whether the product is the matrix, as far as was asked."""
        return self.status is IterationStatus.RANK_REACHED

    @property
    def n_starts(self) -> int:
        """How many starts were made."""
        return 1 + max((r.start for r in self.history), default=-1)

    @property
    def excess(self) -> float:
        """Least excess over the rank of any program; twice a trace norm under ``"schur"``."""
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
        """The history as plain mappings with the error of each program, as for `plot.rounds`."""
        return [
            {**asdict(record), "error": error}
            for record, error in zip(self.history, self.errors, strict=True)
        ]

    def __repr__(self) -> str:
        starts = f" and {self.n_starts} starts" if self.n_starts > 1 else ""
        return (
            f"Factorization({self.status.name} after {len(self.history)} programs{starts}: "
            f"error {self.error:.2e})"
        )
