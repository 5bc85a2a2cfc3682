"""The iteration behind `sdpdr.factorize.nmf`, and the best factors of its programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import SolveFailedError
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix, factor_pair
from sdpdr.families.factor.nonnegative.polish import Polished, balanced, polish_factors
from sdpdr.model import Model
from sdpdr.model.blocks import FactorLift
from sdpdr.program import Factor
from sdpdr.solving.iterate.convex import ConvexIteration
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
    known : PartialMatrix
        The matrix.
    radius : float or None
        The distance :math:`|X - V|_F` that was allowed in the end; None for V = X.
    polished : Polished or None
        The last step, if it found W and H; None if they are those of a program.
    state : State or None
        To continue from.
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
        """Whether the product is the matrix, to the tolerance requested."""
        return self.status is IterationStatus.RANK_REACHED

    @property
    def n_starts(self) -> int:
        """The number of starts."""
        return 1 + max((r.start for r in self.history), default=-1)

    @property
    def excess(self) -> float:
        """The least excess of a program over rank k; twice a trace norm under ``"schur"``."""
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
        starts = f" and {self.n_starts} starts" if self.n_starts > 1 else ""
        return (
            f"Factorization({self.status.name} after {len(self.history)} programs{starts}: "
            f"error {self.error:.2e})"
        )


# Excess relative to the trace that would end an iteration: less than solvers reach, because the
# factors decide.
_NEVER = 1e-12
# Rounding error of the comparison with the error allowed.
_ROUNDING = 1e-9
# Relative error of a program's factors up to which they are polished before the start ends.
_POLISHED = 1e-2


@dataclass(eq=False)
class LiftSearch:
    """The factors sought, the limits of the search, and the best factors found.

    Attributes
    ----------
    known : PartialMatrix
    k : int
    tol : float
        Relative error at which a product counts as the matrix.
    polish : bool
        Whether factors are polished: those within one per cent, and the last ones of a start.
    starts, seed, max_iter : int
    radius : float or None
        Distance allowed, in place of ``tol``.
    best : Factorization or None
        Of the programs so far, or an earlier result to continue.
    errors : list of float
        Of each program's own factors.
    """

    known: PartialMatrix
    k: int
    tol: float
    polish: bool
    starts: int
    seed: int
    max_iter: int
    radius: float | None = None
    best: Factorization | None = None
    errors: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.errors = list(self.best.errors) if self.best else []

    @property
    def limit(self) -> float:
        """Relative error at which the search ends."""
        if self.radius is None:
            return self.tol
        return (1.0 + _ROUNDING) * self.radius / self.known.norm

    def start(self, init: tuple[ArrayLike, ArrayLike] | None) -> Factor | str:
        """The matrix of given factors, or "random"."""
        if init is None:
            return "random"
        W, H = balanced(*factor_pair("init", *init, self.known.shape, self.k))
        return Factor(np.vstack([np.eye(self.k), W, H.T]))

    def accept(self, W: Array, H: Array, last: bool) -> bool:
        """Whether factors, as they are or polished, end the search.

        Parameters
        ----------
        W, H : array
        last : bool
            Whether they are the last ones of their start, which are always polished.
        """
        W, H = np.maximum(W, 0.0), np.maximum(H, 0.0)
        self.errors.append(self.known.error(W, H))
        self._keep(W, H, self.errors[-1], None)
        if self.polish and (last or self.errors[-1] <= _POLISHED):
            found = polish_factors(self.known, W, H)
            self._keep(found.W, found.H, found.error, found)
        return self._so_far.error <= self.limit

    @property
    def _so_far(self) -> Factorization:
        status = IterationStatus.STALLED
        return self.best or Factorization(status, None, None, np.inf, (), (), self.known)

    def _keep(self, W: Array, H: Array, error: float, polished: Polished | None) -> None:
        if error < self._so_far.error:
            self.best = replace(self._so_far, W=W, H=H, error=error, polished=polished)

    def found(
        self, status: IterationStatus, history: Sequence[Record], state: State | None = None
    ) -> Factorization:
        """The result; the rank is reached only if the factors themselves multiply to the matrix."""
        if self._so_far.error <= self.limit:
            status = IterationStatus.RANK_REACHED
        elif status is IterationStatus.RANK_REACHED:
            status = IterationStatus.STALLED
        return replace(
            self._so_far,
            status=status,
            errors=tuple(self.errors),
            history=tuple(history),
            known=self.known,
            radius=self.radius,
            state=state,
        )

    def run(self, model: Model, **options: Any) -> Factorization:
        """Convex iteration on a lift of both factors."""
        iteration = ConvexIteration(
            model,
            self.k,
            variable="Z",
            restarts=self.starts - 1,
            seed=self.seed,
            max_iter=self.max_iter,
            tol=_NEVER,
            **options,
        )
        lift = FactorLift(self.k, *self.known.shape)
        earlier = None if self.best is None else self.best.state

        def accept(state: State) -> bool:
            assert state.last is not None
            # Programs without a point have no factors.
            self.errors.extend([np.inf] * (len(state.history) - len(self.errors) - 1))
            W, H = lift.read(state.last.values["Z"])
            last = iteration.done(state) or state.start > state.history[-1].start
            return self.accept(W, H.T, last)

        state = iteration.run(earlier, accept)
        self.errors.extend([np.inf] * (len(state.history) - len(self.errors)))
        return self.found(state.status, state.history, state)
