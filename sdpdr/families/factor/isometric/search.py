"""The augmented Lagrangian method for isometric factors, and its results."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import Advised, Progress, show_progress
from sdpdr.families.factor.isometric.problem import IsometricProblem, Multipliers


class IsometricStatus(Advised):
    """How a search for isometric factors ended; the value of each member is advice."""

    SETTLED = (
        "Lengths hold to the tolerance and the objective has stopped falling. This is a local "
        "optimum; `bound` says how much better others may be at most."
    )
    STALLED = (
        "The errors of lengths (or of the product, if it is a constraint) have stopped falling: "
        "perhaps there are no such factors. Take more components, fewer neighbours, or "
        "product='penalty'."
    )
    ITERATION_LIMIT = (
        "The limit of rounds was reached: check `dist` and `rec`, and continue with start=(W, H) "
        "if they are not small enough."
    )
    TIME_LIMIT = "The time limit was reached; the best factors so far are returned."
    INTERRUPTED = "Interrupted; the best factors so far are returned."
    DIVERGED = (
        "Distances grew without limit. Take a smaller pull, objective='none', or product='penalty'."
    )


@dataclass(frozen=True)
class IsometricRound:
    """One round between two updates of the multipliers.

    Attributes
    ----------
    objective : float
    rec, dist, spread : float
        As of `IsometricFactors`.
    slope : float
        Norm of the projected gradient of the Lagrangian.
    length_penalty, product_penalty : float
        Relative to the squares of all lengths and of all data.
    steps : int
        Of the inner method.
    seconds : float
        Since the beginning.
    """

    objective: float
    rec: float
    dist: float
    spread: float
    slope: float
    length_penalty: float
    product_penalty: float
    steps: int
    seconds: float


@dataclass(frozen=True, eq=False)
class IsometricFactors:
    r"""Nonnegative factors, how well they fit and how well they keep lengths.

    Attributes
    ----------
    W : array of shape (n, k)
        A row for each node of the graph.
    H : array of shape (k, m)
    status : IsometricStatus
    rec : float
        :math:`|V - WH|_F / |V|_F`.
    dist : float
        :math:`|(|w_i - w_j|^2 - d_{ij})|_2 / |d|_2` over the edges, of SQUARED lengths.
    spread : float
        Sum of squared distances of the pairs pulled apart; 0 without an objective.
    objective : float
        The objective that was minimized: :math:`\tfrac12 \mathrm{rec}^2 -
        \beta\,\mathrm{spread}/S`, without the first term if the product was a constraint, and
        without the second if there are no pairs.
    rec_bound : float
        No factors of k columns have a smaller ``rec``, isometric or not (Eckart-Young).
    spread_bound : float
        No placement with the lengths of the graph has a larger spread.
    bound : float
        No factors with exact lengths have a smaller objective: both bounds combined.
    multipliers : array of shape (edges,)
        Of the lengths: the rate at which the objective rises with the squared length of an edge.
    history : tuple of IsometricRound
    """

    W: Array
    H: Array
    status: IsometricStatus
    rec: float
    dist: float
    spread: float
    objective: float
    bound: float
    rec_bound: float
    spread_bound: float
    multipliers: Array
    history: tuple[IsometricRound, ...]

    @property
    def gap(self) -> float:
        """Distance of the objective to ``bound``, in the units of the objective."""
        return self.objective - self.bound

    def rows(self) -> list[dict[str, Any]]:
        """The history as mappings, for a table or a figure."""
        return [asdict(record) for record in self.history]

    def __repr__(self) -> str:
        return (
            f"IsometricFactors({self.status.name}: rec {self.rec:.2%} (at least "
            f"{self.rec_bound:.2%}), dist {self.dist:.1e})"
        )


# An error above this share of the last round's doubles its penalty.
_CUT = 0.5
# Largest penalty, relative to the squares of the lengths or of the data.
_STIFFEST = 1e6
# First penalty of lengths, relative to that of the product.
_LENGTHS = 0.1
# A spread so many times the largest that lengths allow is diverging.
_RUNAWAY = 1e3
# Rounds in which errors must fall by a tenth; otherwise they have stalled.
_PATIENCE, _PROGRESS = 10, 0.9


@dataclass
class IsometricSearch:
    """Rounds of L-BFGS-B, each followed by an update of multipliers and penalties."""

    problem: IsometricProblem
    tol: float
    max_iter: int
    inner_iter: int
    time_limit: float | None

    def run(self, x: Array, progress: Progress | bool | None) -> IsometricFactors:
        """All rounds, with the best factors reached."""
        self.deadline = Deadline(self.time_limit)
        of = self.problem.lagrangian
        self.size = float(np.sum(of.counts * of.X**2)), float(np.sum(of.graph.sqdist**2)) or 1.0
        at = Multipliers(
            np.zeros(of.graph.m),
            np.zeros_like(of.X) if self.problem.exact else None,
            _LENGTHS / self.size[1],
            1.0 / self.size[0],
        )
        self.history: list[IsometricRound] = []
        best = x, at
        status = IsometricStatus.ITERATION_LIMIT
        with show_progress(progress, "isometric factors") as report:
            try:
                while len(self.history) < self.max_iter:
                    if self.deadline.is_over():
                        status = IsometricStatus.TIME_LIMIT
                        break
                    found, slope, steps = self._descend(x, at)
                    if not self._is_sound(found):
                        status = IsometricStatus.DIVERGED
                        break
                    x = found
                    self.history.append(self._record(x, at, slope, steps))
                    if min(self.history, key=self._merit) is self.history[-1]:
                        best = x, at
                    if report is not None:
                        last = asdict(self.history[-1])
                        report({**last, "iteration": len(self.history), "value": last["objective"]})
                    ended = self._verdict()
                    if ended is not None:
                        status = ended
                        break
                    at = self._updated(x, at)
            except KeyboardInterrupt:
                status = IsometricStatus.INTERRUPTED
        return self._result(*best, status)

    def _descend(self, x: Array, at: Multipliers) -> tuple[Array, float, int]:
        """The point of a round, the norm of its projected gradient, and the steps taken."""

        def stop(z: Array) -> None:
            if self.deadline.is_over():
                raise StopIteration

        found = minimize(
            self.problem.lagrangian.flat,
            x,
            args=(at,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * x.size,
            callback=stop,
            options={"maxiter": self.inner_iter, "maxcor": 10, "ftol": 1e-15, "gtol": 1e-10},
        )
        projected = np.where(found.x > 0.0, found.jac, np.minimum(found.jac, 0.0))
        return found.x, float(np.linalg.norm(projected)), int(found.nit)

    def _updated(self, x: Array, at: Multipliers) -> Multipliers:
        """First-order multipliers, and penalties doubled if errors fell too little."""
        of = self.problem.lagrangian
        W, H = of.split(x)
        lengths = at.lengths - at.length_penalty * of.length_errors(W)
        stiff = min(self._fell("dist") * at.length_penalty, _STIFFEST / self.size[1])
        firm, product = at.product_penalty, at.product
        if product is not None:
            product = product - firm * of.counts * (W @ H - of.X)
            firm = min(self._fell("rec") * firm, _STIFFEST / self.size[0])
        return Multipliers(lengths, product, stiff, firm)

    def _fell(self, name: str) -> float:
        """Two if an error fell by less than half, else one."""
        if len(self.history) < 2:
            return 1.0
        before, now = (getattr(record, name) for record in self.history[-2:])
        return 2.0 if now > max(_CUT * before, self.tol) else 1.0

    def _record(self, x: Array, at: Multipliers, slope: float, steps: int) -> IsometricRound:
        return IsometricRound(
            **self._measures(x),
            slope=slope,
            length_penalty=at.length_penalty * self.size[1],
            product_penalty=at.product_penalty * self.size[0],
            steps=steps,
            seconds=self.deadline.spent,
        )

    def _measures(self, x: Array) -> dict[str, float]:
        of = self.problem.lagrangian
        W, H = of.split(x)
        rec = float(np.sqrt(np.sum(of.counts * (W @ H - of.X) ** 2) / self.size[0]))
        dist = float(np.linalg.norm(of.length_errors(W)) / np.sqrt(self.size[1]))
        spread = self.problem.unit**2 * of.spread(W)
        objective = self.problem.objective(rec, spread)
        return {"objective": objective, "rec": rec, "dist": dist, "spread": spread}

    def _violation(self, record: IsometricRound) -> float:
        return max(record.dist, record.rec) if self.problem.exact else record.dist

    def _merit(self, record: IsometricRound) -> tuple[float, float]:
        """The key of the best round: its error above ``tol``, then its objective."""
        violation = self._violation(record)
        return (violation if violation > self.tol else 0.0), record.objective

    def _verdict(self) -> IsometricStatus | None:
        """Whether the search has settled or stalled."""
        errors = [self._violation(record) for record in self.history]
        if errors[-1] > self.tol:
            if len(errors) <= _PATIENCE:
                return None
            lately, before = min(errors[-_PATIENCE:]), min(errors[:-_PATIENCE])
            stalled = min(lately, before) > self.tol and lately > _PROGRESS * before
            return IsometricStatus.STALLED if stalled else None
        if len(errors) < 2:
            return None
        before, now = (record.objective for record in self.history[-2:])
        settled = abs(before - now) <= self.tol * max(abs(now), self.tol)
        return IsometricStatus.SETTLED if settled else None

    def _is_sound(self, x: Array) -> bool:
        spread = self._measures(x)["spread"]
        return bool(np.isfinite(x).all()) and spread <= _RUNAWAY * max(
            self.problem.spread_bound, self.problem.spread_unit
        )

    def _result(self, x: Array, at: Multipliers, status: IsometricStatus) -> IsometricFactors:
        of, (W, H) = self.problem.lagrangian, self.problem.unpacked(x)
        tension = at.lengths - at.length_penalty * of.length_errors(of.split(x)[0])
        return IsometricFactors(
            W=W,
            H=H,
            status=status,
            **self._measures(x),
            bound=self.problem.bound,
            rec_bound=self.problem.rec_bound,
            spread_bound=self.problem.spread_bound,
            multipliers=tension / self.problem.unit**2,
            history=tuple(self.history),
        )
