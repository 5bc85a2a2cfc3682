"""Counting iterations, keeping time, and telling the caller."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from sdpdr.solvers.lowrank.program import Options, Record


class Journal:
    """History of a run and its limits.

    Parameters
    ----------
    options : Options
    unit : float, default 1.0
        Factor that brings values of the solver to the units of the caller.

    Examples
    --------
    >>> journal = Journal(Options(max_iter=0))
    >>> journal.exhausted
    'max_iter'
    """

    def __init__(self, options: Options, unit: float = 1.0) -> None:
        self.records: list[Record] = []
        self.factorizations = 0
        self._options = options
        self._unit = unit
        self._start = perf_counter()
        self._bound: float | None = None
        self._gap: float | None = None

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

    def note(
        self,
        *,
        value: float,
        mu: float,
        infeasibility: float,
        stationarity: float,
        regularization: float,
        rank: int,
    ) -> None:
        """Keep a record of one iteration, with the last bound, and pass it to the caller."""
        record = Record(
            iteration=len(self.records),
            value=value * self._unit,
            bound=self._bound,
            mu=mu * self._unit,
            infeasibility=infeasibility,
            stationarity=stationarity,
            regularization=regularization,
            rank=rank,
            seconds=self.seconds,
            gap=self._gap,
        )
        self.records.append(record)
        if self._options.callback is not None:
            self._options.callback(record)

    def certify(self, bound: float, gap: float) -> None:
        """Enter a bound in the last record and in those that follow, which the caller is told."""
        self._bound, self._gap = bound * self._unit, gap
        if self.records:
            self.records[-1] = replace(self.records[-1], bound=self._bound, gap=gap)
