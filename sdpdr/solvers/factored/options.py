"""What the engine aims at and hands back; counting steps, keeping time, and telling the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal

from sdpdr.program.point import Point


@dataclass(frozen=True)
class Options:
    """What the engine aims at and when it gives up.

    Parameters
    ----------
    tol : float, default 1e-7
        Relative accuracy of feasibility, stationarity and the gap.
    max_iter : int, default 3000
        Limit on Newton steps.
    time_limit : float, optional
        Seconds after which the best point so far is returned.
    seed : int, default 0
        Of the first factors and of Lanczos vectors.
    rank : int, optional
        First number of columns of every factor. Default: about 2 log n, and never more than the
        bound of Barvinok and Pataki.
    max_rank : int, optional
        Largest number of columns.
    newton : {"auto", "cg", "direct"}, default "auto"
        What preconditions the conjugate gradients that solve Newton's equations. "direct": a
        sparse factorization of the equations themselves, wherever they are sparse. "cg": blocks,
        or dense factorizations of moderate order. By default blocks first, and a factorization
        where that is predicted to cost less than the products it saves.
    max_fill : int, default 20_000_000
        Nonzeros of a sparse Newton factor up to which "auto" factors.
    callback : callable, optional
        Called with a `Record` once per Newton step.
    """

    tol: float = 1e-7
    max_iter: int = 3000
    time_limit: float | None = None
    seed: int = 0
    rank: int | None = None
    max_rank: int | None = None
    newton: Literal["auto", "cg", "direct"] = "auto"
    max_fill: int = 20_000_000
    callback: Callable[[Record], Any] | None = None


@dataclass(frozen=True)
class Record:
    """One Newton step; value and bound as the person wrote the program, the rest relative.

    ``note`` says in words what changed with this step: a rank that grew or shrank, and why.
    """

    iteration: int
    value: float
    bound: float | None
    gap: float | None
    penalty: float
    infeasibility: float
    stationarity: float
    rank: int
    products: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """What the engine found.

    Attributes
    ----------
    point : Point
        Matrix variables as factors; multipliers of all rows.
    status : str
        ``converged``, ``stalled``, ``infeasible``, ``unbounded``, ``time_limit``, ``max_iter``,
        ``interrupted`` or ``out_of_memory``.
    value : float
        Objective at the point, as the person wrote it.
    bound : float or None
        Proved by the multipliers alone (see `sdpdr.program.certify`).
    iterations, products, factorizations : int
        Newton steps, products with the second derivative, and factorizations.
    message : str
        What happened, in a sentence.
    history : tuple of Record
    """

    point: Point
    status: str
    value: float
    bound: float | None
    iterations: int
    products: int
    factorizations: int
    message: str
    history: tuple[Record, ...] = field(default=(), repr=False)


class Journal:
    """History of a run and its limits.

    Parameters
    ----------
    options : Options

    Examples
    --------
    >>> Journal(Options(max_iter=0)).exhausted
    'max_iter'
    """

    def __init__(self, options: Options) -> None:
        self.records: list[Record] = []
        self.products = self.factorizations = 0
        self.bound: float | None = None
        self.gap: float | None = None
        self._options = options
        self._start = perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the start of the run."""
        return perf_counter() - self._start

    @property
    def exhausted(self) -> str | None:
        """The limit that has been reached, or None."""
        if len(self.records) >= self._options.max_iter:
            return "max_iter"
        return "time_limit" if self.late() else None

    def late(self) -> bool:
        """Whether time is up."""
        limit = self._options.time_limit
        return limit is not None and self.seconds > limit

    @property
    def left(self) -> float:
        """Seconds until time is up."""
        limit = self._options.time_limit
        return float("inf") if limit is None else limit - self.seconds

    def note(
        self, value: float, penalty: float, infeasibility: float, stationarity: float, rank: int
    ) -> None:
        """Keep a record of one step and pass it to the caller."""
        record = Record(
            iteration=len(self.records),
            value=value,
            bound=self.bound,
            gap=self.gap,
            penalty=penalty,
            infeasibility=infeasibility,
            stationarity=stationarity,
            rank=rank,
            products=self.products,
            seconds=self.seconds,
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
        """Enter a bound in the last record and in those that follow, which the caller is told."""
        self.bound, self.gap = bound, gap
        if self.records:
            self.records[-1] = replace(self.records[-1], bound=bound, gap=gap)
