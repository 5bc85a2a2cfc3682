"""How far an iterate is from optimal, when it is worth a proof, and when a run gets nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.direction import Errors
from sdpdr.solvers.lowrank.general.lowest import lowest
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.interior.boxes import MARGIN

_PATIENCE = 60
_ANYWHERE = 1e-6  # relative distance from a floor at which a random point is on it
_MOVED = 0.01  # share of the objective that counts as progress
# Gap that is promised, as a share of the one to prove, at which a proof is worth its time; the
# next; and what stationarity adds to it once multipliers are reinforced: measured on unfolding
# with temporal order, 300 to 3000 points, where it was 0.002 to 0.01.
_WORTHY, _NEXT, _OF_SLOPE = 0.5, 0.3, 0.01


@dataclass(frozen=True)
class BoxedErrors(Errors):
    """Relative measures of how far an iterate is from optimality at its ranks.

    ``violation`` is that of rows whose penalty is the method's own, ``missed`` that of limits.
    """

    violation: float
    missed: float

    @property
    def promise(self) -> float:
        """The gap that can be proved, more or less."""
        return max(self.gap, _OF_SLOPE * self.stationarity)


class Floor:
    r"""What the objective of no matrix of the same trace is below.

    Since :math:`\langle C, K\rangle \ge \lambda_{\min}(C) \operatorname{tr} K` for every
    :math:`K \succeq 0`, a point that is there is optimal wherever the trace is limited,
    whatever its multipliers: those of all other rows are zero, and what the iteration has for them
    is noise that proves less.

    Parameters
    ----------
    problem : FactorProblem
    seed : int
        Seed of Lanczos vectors.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> spheres = methods.density_map(graphs.cycle(8), bandwidth=1.0)
    >>> problem = compile_problem(spheres.to_sdp())
    >>> corners = np.vstack([np.eye(4), -np.eye(4)])
    >>> cost = float(problem.blocks[0].forms.values(corners)[0])
    >>> Floor(problem, seed=0).reached(cost, [corners], 1e-6)
    True
    """

    def __init__(self, problem: FactorProblem, seed: int) -> None:
        at_zero = np.append(1.0, np.zeros(problem.m))
        self._lowest: list[float] | None = None
        if problem.free.shape[1] or any(block.scalar for block in problem.blocks):
            return
        # With fewer rows than points the point determines the multipliers, and they are needed.
        if problem.m <= max(block.n for block in problem.blocks):
            return
        self._lowest = [
            float(np.min(lowest(block.forms.slack(at_zero), block.face, 1, seed)[0], initial=0.0))
            for block in problem.blocks
        ]
        # Where the objective is the trace itself, as in unfolding, every point is there.
        random = np.random.default_rng(seed)
        any_point = [b.project(random.standard_normal((b.n, 1))) for b in problem.blocks]
        pairs = zip(problem.blocks, any_point, strict=True)
        value = sum(float(b.forms.values(f)[0]) for b, f in pairs)
        if self.reached(value, any_point, _ANYWHERE):
            self._lowest = None

    def value(self, factors: Sequence[Array]) -> float:
        """The floor at a point; minus infinity where scalars have costs of their own."""
        if self._lowest is None:
            return -np.inf
        pairs = zip(self._lowest, factors, strict=True)
        return sum((low * float(np.sum(np.square(f))) for low, f in pairs), start=0.0)

    def reached(self, value: float, factors: Sequence[Array], gap: float) -> bool:
        """Whether an objective is there, but for a relative gap."""
        return abs(value - self.value(factors)) <= gap * abs(value)


class Progress:
    """What a run has come to, and what it waits for.

    Parameters
    ----------
    tol : float
        Accuracy to stop at.
    content : float, default 0.0
        Gap to prove before that; zero if none is requested.
    floor : Floor, optional
        Where a proof needs no multipliers.

    Attributes
    ----------
    tol : float
    """

    def __init__(self, tol: float, content: float = 0.0, floor: Floor | None = None) -> None:
        self.tol, self._content, self._floor = tol, content, floor
        self._best, self._since, self._value = np.inf, 0, np.inf
        self._due = _WORTHY * content

    def note(self, errors: BoxedErrors, value: float, scale: float) -> None:
        """Take another iterate into account: its errors and its objective."""
        moved = abs(value - self._value) > _MOVED * scale
        if moved or errors.worst < 0.99 * self._best:
            self._since, self._value = 0, value
        self._best, self._since = min(self._best, errors.worst), self._since + 1

    def begin_anew(self) -> None:
        """Forget the least error so far: another penalty has others."""
        self._best = np.inf

    @property
    def is_stuck(self) -> bool:
        """Whether it gets nowhere."""
        return self._since > _PATIENCE

    def take_a_proof(
        self, errors: BoxedErrors, value: float = np.nan, factors: Sequence[Array] = ()
    ) -> bool:
        """Whether a proof is due, and if so, have the next one wait.

        At the floor of the objective it is due at once, and once.
        """
        if max(errors.missed, errors.violation) >= MARGIN * self.tol:
            return False
        if self._floor is not None and self._floor.reached(value, factors, self._content):
            self._floor = None
            return True
        if errors.promise >= self._due:
            return False
        self._due = _NEXT * errors.promise
        return True
