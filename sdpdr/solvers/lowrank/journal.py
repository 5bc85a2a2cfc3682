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

    @property
    def seconds(self) -> float:
        """Time since the start of the run."""
        return perf_counter() - self._start

    @property
    def exhausted(self) -> str | None:
        """The limit that has been reached, or None."""
        if len(self.records) >= self._options.max_iter:
            return "max_iter"
        if self._options.time_limit is not None and self.seconds > self._options.time_limit:
            return "time_limit"
        return None

    def note(
        self,
        *,
        value: float,
        mu: float,
        infeasibility: float,
        stationarity: float,
        regularization: float,
        rank: int,
        bound: float | None = None,
    ) -> None:
        """Keep a record of one iteration and pass it to the caller."""
        record = Record(
            iteration=len(self.records),
            value=value * self._unit,
            bound=None if bound is None else bound * self._unit,
            mu=mu * self._unit,
            infeasibility=infeasibility,
            stationarity=stationarity,
            regularization=regularization,
            rank=rank,
            seconds=self.seconds,
        )
        self.records.append(record)
        if self._options.callback is not None:
            self._options.callback(record)

    def certify(self, bound: float) -> None:
        """Enter a bound in the last record."""
        if self.records:
            self.records[-1] = replace(self.records[-1], bound=bound * self._unit)
