"""Counting steps, keeping time, and telling the caller."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from sdpdr.solvers.factored.options import Options, Record


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
