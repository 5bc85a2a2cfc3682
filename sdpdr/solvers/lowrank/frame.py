"""Options, journal and results that the engines share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline, in_seconds

# Nonzeros of a Newton factor: 4 GB.
MAX_FILL = 300_000_000


@dataclass(frozen=True)
class Options:
    """Accuracy and limits of an engine.

    Parameters
    ----------
    tol : float, default 1e-8
        Relative certified gap aimed at; of the augmented Lagrangian also the accuracy of
        feasibility and stationarity.
    enough : float, optional
        Gap that the user requested, of which ``tol`` is a part. The interior point for rows of
        any kind, whose points keep all limits, stops at half of it.
    max_iter : int, default 3000
        Limit on Newton steps, over all ranks and stages.
    time_limit : float, optional
        Seconds after which the best point so far is returned.
    seed : int, default 0
        Seed of initial factors, landmarks and Lanczos vectors.
    rank : int, optional
        First number of columns of every factor. Default, for programs on edges: between three
        and six, by the spectrum of the Isomap start; eight if lengths have hard lower limits; the
        rank expected from the graph if the program goes to conjugate gradients. For others about
        2 log n. If a start is given, its number of columns.
    max_rank : int, optional
        Largest number of columns. Default: the bound of Barvinok and Pataki.
    newton : {"auto", "cg", "direct"}, default "auto"
        The preconditioner of conjugate gradients for Newton's equations of the augmented
        Lagrangian. "direct": a sparse factorization of the equations, if they are sparse. "cg":
        blocks, or dense factorizations of moderate order. By default blocks first, and a
        factorization if it is predicted to cost less than the products that it saves. The
        interior-point method always factorizes.
    max_fill : int, optional
        Nonzeros of a Newton factor (12 bytes each) up to which one is computed. Default: 300
        million for the interior-point method, 20 million for preconditioners.
    callback : callable, optional
        Called with a `StepRecord` once for every Newton step.
    keep : callable, optional
        Called with the factor and the weights of every better point of an edge program.
    """

    tol: float = 1e-8
    enough: float | None = None
    max_iter: int = 3000
    time_limit: float | None = None
    seed: int = 0
    rank: int | None = None
    max_rank: int | None = None
    newton: Literal["auto", "cg", "direct"] = "auto"
    max_fill: int | None = None
    callback: Callable[[StepRecord], Any] | None = None
    keep: Callable[[Array, Array], Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One Newton step; value and bound in the units of the caller, the rest relative.

    ``value`` is the objective of the iterate, feasible or not; ``bound`` and the ``gap`` to a
    feasible point are None until there is a certificate. The interior-point method reports its
    barrier ``mu`` and the ``regularization`` of its matrix, the augmented Lagrangian its
    ``penalty`` and the ``products`` so far. ``note`` reports changes, such as a rank that grew.
    """

    iteration: int
    value: float
    bound: float | None
    gap: float | None
    infeasibility: float
    stationarity: float
    rank: int
    seconds: float
    mu: float | None = None
    regularization: float | None = None
    penalty: float | None = None
    products: int = 0
    note: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """The result of an engine; each engine adds its point.

    Attributes
    ----------
    status : str
        ``converged``, ``stalled``, ``infeasible``, ``unbounded``, ``time_limit``, ``max_iter``,
        ``interrupted`` or ``out_of_memory``.
    value : float
        Objective at the point, in the units of the caller.
    bound : float or None
        Proved by the multipliers alone; None or infinite if they prove nothing.
    iterations, products, factorizations : int
        Newton steps, products with the second derivative, and factorizations.
    message : str
        The outcome, in a sentence.
    history : tuple of StepRecord
    """

    status: str
    value: float
    bound: float | None
    message: str
    iterations: int
    products: int
    factorizations: int
    history: tuple[StepRecord, ...] = field(repr=False)

    @property
    def gap(self) -> float:
        """Relative distance of the bound from the value.

        It can be slightly negative where the point violates limits.
        """
        bound = np.inf if self.bound is None else self.bound
        return float((bound - self.value) / max(abs(self.value), np.finfo(float).tiny))


class Journal:
    """History of a run and its limits.

    Parameters
    ----------
    options : Options
    unit : float, default 1.0
        Factor that brings values of the engine to the units of the caller.

    Examples
    --------
    >>> journal = Journal(Options(max_iter=0))
    >>> journal.exhausted
    'max_iter'
    """

    def __init__(self, options: Options, unit: float = 1.0) -> None:
        self.records: list[StepRecord] = []
        self.products = self.factorizations = 0
        self._options, self._unit = options, unit
        self.deadline = Deadline(options.time_limit)
        self.late = self.deadline.is_over
        self._bound: float | None = None
        self._gap: float | None = None

    @property
    def exhausted(self) -> str | None:
        """The limit that has been reached, or None."""
        if len(self.records) >= self._options.max_iter:
            return "max_iter"
        return "time_limit" if self.late() else None

    def note(self, value: float, *, mu: float | None = None, **measured: Any) -> None:
        """Keep a record of one step, with the last bound, and pass it to the caller.

        Parameters
        ----------
        value, mu : float
            In the units of the engine.
        measured : Any
            What else a `StepRecord` says of a step.
        """
        record = StepRecord(
            iteration=len(self.records),
            value=value * self._unit,
            bound=self._bound,
            gap=self._gap,
            seconds=self.deadline.spent,
            mu=None if mu is None else mu * self._unit,
            products=self.products,
            **measured,
        )
        self.records.append(record)
        if self._options.callback is not None:
            self._options.callback(record)

    def remark(self, words: str) -> None:
        """Add an explanation to the last record."""
        if self.records:
            last = self.records[-1]
            self.records[-1] = replace(last, note=f"{last.note} {words}".strip())

    def certify(self, bound: float, gap: float) -> None:
        """Enter a bound in the last record and in those that follow."""
        self._bound, self._gap = bound * self._unit, gap
        if self.records:
            self.records[-1] = replace(self.records[-1], bound=self._bound, gap=gap)

    def totals(self) -> dict[str, Any]:
        """The counts and the history of the run, as fields of `Result`."""
        return {
            "iterations": len(self.records),
            "products": self.products,
            "factorizations": self.factorizations,
            "history": tuple(self.records),
        }


def pataki(m: int) -> int:
    """Rank that an optimal matrix need not exceed: r (r + 1) / 2 <= m.

    Examples
    --------
    >>> [pataki(m) for m in (1, 3, 100)]
    [1, 2, 13]
    """
    return int((np.sqrt(8.0 * m + 1.0) - 1.0) / 2.0)


def ending(status: str, options: Options) -> str:
    """Why a run ended, as the second half of a sentence; empty where it converged."""
    if status == "converged":
        return ""
    return {
        "stalled": f"; no further progress towards tol = {options.tol:.0e} was possible",
        "infeasible": "; the rows contradict each other",
        "unbounded": "; the objective improves for ever along a ray",
        "max_iter": f"; stopped after max_iter = {options.max_iter} steps",
        "time_limit": f"; stopped after {in_seconds(options.time_limit)} seconds",
        "interrupted": "; stopped by the user",
        "out_of_memory": "; the next step did not fit into memory",
    }[status]
