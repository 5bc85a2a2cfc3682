"""Best-first branch and bound: what is open, what was dropped, and what that proves."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.progress import Advised, Progress, show_progress

# Nodes between two reports of progress.
_REPORT = 100


class SearchStatus(Advised):
    """How a search stands; the value of each member is advice."""

    CLOSED = "The bounds meet to the tolerance: no factorization is better by more than that."
    NODE_LIMIT = "The limit of nodes was reached; go on with `start=` this result."
    TIME_LIMIT = "The time limit was reached; go on with `start=` this result."
    INTERRUPTED = "Interrupted; both bounds hold, go on with `start=` this result."


@dataclass(frozen=True, eq=False)
class GlobalSearch:
    """Bounds on the error of the best factorization, and the best one found.

    Attributes
    ----------
    W, H : array
        The best factorization found.
    upper : float
        Its error, :math:`|V - WH|_F`.
    lower : float
        No factorization of the kind searched for has a smaller error.
    norm : float
        Of V.
    status : SearchStatus
    nodes : int
        That were split, over all calls.
    argument : str
        What proves the lower bound.
    """

    W: Array
    H: Array
    upper: float
    lower: float
    norm: float
    status: SearchStatus
    nodes: int
    argument: str
    problem: Branching | None = field(default=None, repr=False)
    frontier: Frontier | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """The distance of the bounds, relative to the norm of V."""
        return (self.upper - self.lower) / self.norm

    def __repr__(self) -> str:
        return (
            f"GlobalSearch({self.status.name} after {self.nodes} nodes: relative error in "
            f"[{self.lower / self.norm:.6g}, {self.upper / self.norm:.6g}])"
        )


@dataclass(frozen=True)
class SearchLimits:
    """When a search ends, and who is shown how it goes."""

    tol: float
    max_nodes: int
    time_limit: float | None
    progress: Progress | bool | None

    def __post_init__(self) -> None:
        validate.positive_number("tol", self.tol)
        validate.positive_integer("max_nodes", self.max_nodes)
        if self.time_limit is not None:
            validate.positive_number("time_limit", self.time_limit)


@dataclass
class Frontier:
    """The open nodes of a search, and the least bound among those that were dropped.

    Bounds are on the squared error.
    """

    heap: list[tuple[float, int, Any]] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)
    dropped: float = np.inf
    count: int = 0
    nodes: int = 0

    def copy(self) -> Frontier:
        """One that may be worked on without changing this one."""
        return Frontier(list(self.heap), set(self.seen), self.dropped, self.count, self.nodes)

    def push(self, bound: float, node: Hashable) -> None:
        """Add a node, unless it was added before.

        It counts as seen only once it is in the heap, so that nothing is lost if an interrupt
        falls in between.
        """
        if node in self.seen:
            return
        self.count += 1
        heapq.heappush(self.heap, (bound, self.count, node))
        self.seen.add(node)

    def bound(self) -> float:
        """The least bound of any node, open or dropped."""
        return min(self.heap[0][0] if self.heap else np.inf, self.dropped)


class Branching(ABC):
    """What a search branches over.

    Attributes
    ----------
    given : array
        The matrix to be factored.
    V : array
        The same, or its transpose.
    k : int
    best : tuple of W and H
    upper : float
        Squared error of the best.
    least : float
        What no error falls below, whatever the search finds.
    """

    search: ClassVar[str]
    least: float = 0.0
    given: Array

    def __init__(self, V: Array, k: int) -> None:
        self.V, self.k, self.norm = V, k, float(np.linalg.norm(V))
        self.best, self.upper = (np.zeros((len(V), k)), np.zeros((k, V.shape[1]))), np.inf

    @abstractmethod
    def begun(self) -> tuple[float, Hashable]:
        """The bound of the whole, and its node; may improve the best on the way."""

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked of the matrix, in words."""

    @abstractmethod
    def children(self, node: Any) -> Iterable[tuple[float, Hashable]]:
        """The parts of a node with their bounds; may improve the best on the way."""

    @abstractmethod
    def argument(self, nodes: int, lower: float) -> str:
        """What proves a lower bound after so many nodes were split."""

    @property
    def factors(self) -> tuple[Array, Array]:
        """The best ones, of the matrix as it was given."""
        return self.best

    def offer(self, W: Array, H: Array) -> None:
        """Keep factors if they are the best so far."""
        error = float(np.sum((self.V - W @ H) ** 2))
        if error < self.upper:
            self.best, self.upper = (W, H), error


def explore(problem: Branching, start: GlobalSearch | None, limits: SearchLimits) -> GlobalSearch:
    """Split the node of least bound until the bounds meet or a limit is reached.

    An interrupt ends the search as a limit does, and leaves the frontier whole: a node is taken
    out only after its parts are in.

    Parameters
    ----------
    problem : Branching
        What is asked, not yet begun.
    start : GlobalSearch or None
        A result of the same search to go on from, which stays as it is.
    limits : SearchLimits

    Raises
    ------
    DataError, ShapeError
        The result is of another search, or of another matrix.
    """
    if start is None:
        frontier = Frontier()
        frontier.push(*problem.begun())
    else:
        problem, frontier = _reopened(start, problem)
    try:
        status = _status(problem, frontier, limits)
    except KeyboardInterrupt:
        status = SearchStatus.INTERRUPTED
    upper = float(np.sqrt(problem.upper))
    lower = min(max(problem.least, float(np.sqrt(frontier.bound()))), upper)
    return GlobalSearch(
        *problem.factors,
        upper,
        lower,
        problem.norm,
        status,
        frontier.nodes,
        problem.argument(frontier.nodes, lower),
        problem,
        frontier,
    )


def _reopened(start: GlobalSearch, asked: Branching) -> tuple[Branching, Frontier]:
    """What an earlier search branched over, and a frontier of its own."""
    problem, frontier = start.problem, start.frontier
    if not isinstance(problem, type(asked)) or frontier is None:
        raise DataError(f"start must be a result of {asked.search}.")
    if problem.question != asked.question or not np.array_equal(problem.given, asked.given):
        raise ShapeError(
            f"start is a search for {problem.question} of a {problem.given.shape} matrix; it can "
            f"be continued for the same matrix only, and not for {asked.question}."
        )
    return problem, frontier.copy()


def _status(problem: Branching, frontier: Frontier, limits: SearchLimits) -> SearchStatus:
    deadline, ahead = Deadline(limits.time_limit), frontier.nodes + limits.max_nodes
    with show_progress(limits.progress, problem.question) as report:
        while frontier.heap and frontier.heap[0][0] < _cut(problem, limits.tol):
            if frontier.nodes >= ahead:
                return SearchStatus.NODE_LIMIT
            if deadline.is_over():
                return SearchStatus.TIME_LIMIT
            if report is not None and frontier.nodes % _REPORT == 0:
                report(_record(problem, frontier, deadline.spent))
            _split(problem, frontier, limits.tol)
    return SearchStatus.CLOSED


def _cut(problem: Branching, tol: float) -> float:
    """The bound from which a node is not worth a look."""
    return max(0.0, float(np.sqrt(problem.upper)) - tol * problem.norm) ** 2


def _split(problem: Branching, frontier: Frontier, tol: float) -> None:
    bound, _, node = frontier.heap[0]
    parts = list(problem.children(node))
    cut = _cut(problem, tol)
    for own, part in parts:
        # A part has its parent's bound at least, and so stands behind it in the heap.
        least = max(bound, own)
        if least >= cut:
            frontier.dropped = min(frontier.dropped, least)
        else:
            frontier.push(least, part)
    frontier.nodes += 1
    heapq.heappop(frontier.heap)


def _record(problem: Branching, frontier: Frontier, seconds: float) -> dict[str, float]:
    upper, lower = np.sqrt(problem.upper), np.sqrt(min(frontier.bound(), problem.upper))
    return {
        "iteration": frontier.nodes,
        "value": upper / problem.norm,
        "bound": lower / problem.norm,
        "gap": (upper - lower) / problem.norm,
        "seconds": seconds,
    }
