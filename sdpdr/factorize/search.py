"""The loops behind `sdpdr.factorize.nmf`: programs, candidates, and a judge of candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks import FactorLift
from sdpdr.errors import ShapeError
from sdpdr.factorize.records import Factorization
from sdpdr.iterate import ConvexIteration, IterationStatus, Record, State
from sdpdr.linalg.svec import Array
from sdpdr.model import Model
from sdpdr.nonnegative.partial import PartialMatrix
from sdpdr.nonnegative.polish import Polished, balanced, polish_factors, random_factors
from sdpdr.program import Factor

# Share of the trace that ends an iteration by itself: less than solvers reach, because it is the
# factors that are judged.
_NEVER = 1e-12
# Rounding in a comparison with the error allowed.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Search:
    """What is sought, and for how long.

    Attributes
    ----------
    known : PartialMatrix
    k : int
    tol : float
        Relative error at which a product counts as the matrix.
    polish_at : float or None
        Relative error at which factors are polished; None for never.
    starts, seed, max_iter : int
    radius : float or None
        Distance allowed, in place of ``tol``.
    """

    known: PartialMatrix
    k: int
    tol: float
    polish_at: float | None
    starts: int
    seed: int
    max_iter: int
    radius: float | None = None

    @property
    def limit(self) -> float:
        """Relative error at which the search ends."""
        if self.radius is None:
            return self.tol
        return (1.0 + _ROUNDING) * self.radius / self.known.norm

    def start(self, init: tuple[ArrayLike, ArrayLike] | None) -> Factor | str:
        """The matrix of given factors; "random" without."""
        if init is None:
            return "random"
        W, H = (np.asarray(F, dtype=float) for F in init)
        n, m = self.known.shape
        if W.shape != (n, self.k) or H.shape != (self.k, m):
            raise ShapeError(
                f"init must be factors of shapes ({n}, {self.k}) and ({self.k}, {m}); they have "
                f"{W.shape} and {H.shape}."
            )
        W, H = balanced(W, H)
        return Factor(np.vstack([np.eye(self.k), W, H.T]))

    def drawn(self, start: int) -> tuple[Array, Array]:
        """Random factors, scaled to the matrix."""
        return random_factors(self.known, self.k, [self.seed, start])


@dataclass(eq=False)
class Judge:
    """Looks at the factors of every program, and remembers the best."""

    search: Search
    errors: list[float] = field(default_factory=list)
    W: Array | None = None
    H: Array | None = None
    error: float = float("inf")
    polished: Polished | None = None

    def accept(self, W: Array, H: Array, last: bool) -> bool:
        """Whether factors, as they are or polished, are what is sought.

        Parameters
        ----------
        W, H : array
        last : bool
            Whether their start ends with them: they are then polished in any case.
        """
        known, polish_at = self.search.known, self.search.polish_at
        W, H = np.maximum(W, 0.0), np.maximum(H, 0.0)
        self.errors.append(known.error(W, H))
        self._keep(W, H, self.errors[-1], None)
        if polish_at is not None and (last or self.errors[-1] <= polish_at):
            found = polish_factors(known, W, H)
            self._keep(found.W, found.H, found.error, found)
        return self.error <= self.search.limit

    def _keep(self, W: Array, H: Array, error: float, polished: Polished | None) -> None:
        if error < self.error:
            self.W, self.H, self.error, self.polished = W, H, error, polished

    def found(
        self, status: IterationStatus, history: tuple[Record, ...], state: State | None = None
    ) -> Factorization:
        """The result; a rank is reached only if the factors themselves say so."""
        if self.error <= self.search.limit:
            status = IterationStatus.RANK_REACHED
        elif status is IterationStatus.RANK_REACHED:
            status = IterationStatus.STALLED
        return Factorization(
            status=status,
            W=self.W,
            H=self.H,
            error=self.error,
            errors=tuple(self.errors),
            history=history,
            known=self.search.known,
            radius=self.search.radius,
            polished=self.polished,
            state=state,
        )

    @classmethod
    def of(cls, search: Search, earlier: Factorization | None) -> Judge:
        """A new one, or one that remembers an earlier result."""
        if earlier is None:
            return cls(search)
        return cls(
            search, list(earlier.errors), earlier.W, earlier.H, earlier.error, earlier.polished
        )


def search_lift(
    search: Search, model: Model, resume: Factorization | None, **options: Any
) -> Factorization:
    """Convex iteration on a lift of both factors."""
    iteration = ConvexIteration(
        model,
        search.k,
        variable="Z",
        restarts=search.starts - 1,
        seed=search.seed,
        max_iter=search.max_iter,
        tol=_NEVER,
        **options,
    )
    lift = FactorLift(search.k, *search.known.shape)
    judge = Judge.of(search, resume)

    def accept(state: State) -> bool:
        assert state.last is not None
        judge.errors.extend([np.inf] * (len(state.history) - len(judge.errors) - 1))
        W, H = lift.read(state.last.values["Z"])
        last = iteration.done(state) or state.start > state.history[-1].start
        return judge.accept(W, H.T, last)

    state = iteration.run(None if resume is None else resume.state, accept)
    judge.errors.extend([np.inf] * (len(state.history) - len(judge.errors)))
    return judge.found(state.status, state.history, state)
