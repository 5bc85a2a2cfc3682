"""Best-first branch and bound: open nodes, discarded nodes, and the bound that they prove."""

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
    """How a search ended; the value of each member is advice."""

    CLOSED = "The bounds meet to the tolerance: no factorization is better by more than that."
    NODE_LIMIT = "The limit of nodes was reached; continue with `start=` this result."
    TIME_LIMIT = "The time limit was reached; continue with `start=` this result."
    INTERRUPTED = "Interrupted; both bounds hold, continue with `start=` this result."


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
        No factorization in the range of the search has a smaller error.
    norm : float
        Of V.
    status : SearchStatus
    nodes : int
        Number of nodes that were split, over all calls.
    argument : str
        The proof of the lower bound, in words.
    """

    W: Array
    H: Array
    upper: float
    lower: float
    norm: float
    status: SearchStatus
    nodes: int
    argument: str
    problem: BranchingProblem | None = field(default=None, repr=False)
    queue: NodeQueue | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """The distance between the bounds, relative to the norm of V."""
        return (self.upper - self.lower) / self.norm

    def __repr__(self) -> str:
        return (
            f"GlobalSearch({self.status.name} after {self.nodes} nodes: relative error in "
            f"[{self.lower / self.norm:.6g}, {self.upper / self.norm:.6g}])"
        )


@dataclass
class NodeQueue:
    """The open nodes of a search by their bounds, and the least bound of the discarded ones.

    Bounds are on the squared error.
    """

    heap: list[tuple[float, int, Any]] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)
    discarded: float = np.inf
    split: int = 0

    def copy(self) -> NodeQueue:
        """A queue of its own, so that a result stays as it is when it is continued."""
        return NodeQueue(self.heap.copy(), self.seen.copy(), self.discarded, self.split)

    def push(self, bound: float, node: Hashable) -> None:
        """Add a node, unless it was added before.

        It counts as seen only once it is in the heap, so an interrupt in between loses nothing.
        """
        if node in self.seen:
            return
        heapq.heappush(self.heap, (bound, len(self.seen), node))
        self.seen.add(node)

    def bound(self) -> float:
        """The least bound of any node, open or discarded."""
        return min(self.heap[0][0] if self.heap else np.inf, self.discarded)


class BranchingProblem(ABC):
    """A factorization problem whose set of factors can be split into nodes.

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
        A lower bound on the error that needs no search.
    """

    search: ClassVar[str]
    least: float = 0.0
    given: Array

    def __init__(self, V: Array, k: int) -> None:
        self.V, self.k, self.norm = V, k, float(np.linalg.norm(V))
        self.best, self.upper = (np.zeros((len(V), k)), np.zeros((k, V.shape[1]))), np.inf

    @abstractmethod
    def root(self) -> tuple[float, Hashable]:
        """The bound of the whole set, and its node; may improve the best factors."""

    @property
    @abstractmethod
    def question(self) -> str:
        """The set of factors, in words."""

    @abstractmethod
    def children(self, node: Any) -> Iterable[tuple[float, Hashable]]:
        """The parts of a node with their bounds; may improve the best factors."""

    @abstractmethod
    def argument(self, nodes: int, lower: float) -> str:
        """The proof of a lower bound after so many nodes were split, in words."""

    @property
    def factors(self) -> tuple[Array, Array]:
        """The best factors of the given matrix."""
        return self.best

    def offer(self, W: Array, H: Array) -> None:
        """Keep factors if they are the best so far."""
        error = float(np.sum((self.V - W @ H) ** 2))
        if error < self.upper:
            self.best, self.upper = (W, H), error

    def cut(self, tol: float) -> float:
        """The bound from which on a node cannot hold anything better by more than ``tol``."""
        return max(0.0, float(np.sqrt(self.upper)) - tol * self.norm) ** 2


def branch_and_bound(
    problem: BranchingProblem,
    start: GlobalSearch | None,
    *,
    tol: float,
    max_nodes: int,
    time_limit: float | None,
    progress: Progress | bool | None,
) -> GlobalSearch:
    """Split the node of least bound until the bounds meet or a limit is reached.

    An interrupt ends the search as a limit does and keeps the queue complete: a node is removed
    only after its parts were added.

    Parameters
    ----------
    problem : BranchingProblem
    start : GlobalSearch or None
        A result of the same search to continue, which stays as it is.
    tol : float
        Distance between the bounds, relative to the norm of the matrix, that ends the search.
    max_nodes : int
        Nodes to split at most.
    time_limit : float or None
        Seconds.
    progress : bool or callable, optional

    Raises
    ------
    DataError, ShapeError
        A limit is out of range, or ``start`` belongs to another search or another matrix.
    """
    validate.positive_number("tol", tol)
    validate.positive_integer("max_nodes", max_nodes)
    if time_limit is not None:
        validate.positive_number("time_limit", time_limit)
    if start is None:
        queue = NodeQueue()
        queue.push(*problem.root())
    else:
        problem, queue = _reopened(start, problem)
    try:
        status = _search(problem, queue, tol, queue.split + max_nodes, time_limit, progress)
    except KeyboardInterrupt:
        status = SearchStatus.INTERRUPTED
    upper = float(np.sqrt(problem.upper))
    lower = min(max(problem.least, float(np.sqrt(queue.bound()))), upper)
    argument = problem.argument(queue.split, lower)
    return GlobalSearch(
        *problem.factors, upper, lower, problem.norm, status, queue.split, argument, problem, queue
    )


def _reopened(
    start: GlobalSearch, requested: BranchingProblem
) -> tuple[BranchingProblem, NodeQueue]:
    """The problem of an earlier search, and a copy of its queue."""
    problem, queue = start.problem, start.queue
    if not isinstance(problem, type(requested)) or queue is None:
        raise DataError(f"start must be a result of {requested.search}.")
    same = np.array_equal(problem.given, requested.given)
    if problem.question != requested.question or not same:
        raise ShapeError(
            f"start is a search for {problem.question} of a {problem.given.shape} matrix; it can "
            f"be continued for the same matrix only, and not for {requested.question}."
        )
    return problem, queue.copy()


def _search(
    problem: BranchingProblem,
    queue: NodeQueue,
    tol: float,
    last: int,
    time_limit: float | None,
    progress: Progress | bool | None,
) -> SearchStatus:
    deadline = Deadline(time_limit)
    with show_progress(progress, problem.question) as report:
        while queue.heap and queue.heap[0][0] < problem.cut(tol):
            if queue.split >= last:
                return SearchStatus.NODE_LIMIT
            if deadline.is_over():
                return SearchStatus.TIME_LIMIT
            if report is not None and queue.split % _REPORT == 0:
                report(_record(problem, queue, deadline.spent))
            _split(problem, queue, tol)
    return SearchStatus.CLOSED


def _split(problem: BranchingProblem, queue: NodeQueue, tol: float) -> None:
    bound, _, node = queue.heap[0]
    parts = list(problem.children(node))
    cut = problem.cut(tol)
    for own, part in parts:
        # A part has at least its parent's bound, so it stands behind the parent in the heap.
        least = max(bound, own)
        if least >= cut:
            queue.discarded = min(queue.discarded, least)
        else:
            queue.push(least, part)
    queue.split += 1
    heapq.heappop(queue.heap)


def _record(problem: BranchingProblem, queue: NodeQueue, seconds: float) -> dict[str, float]:
    upper, lower = np.sqrt(problem.upper), np.sqrt(min(queue.bound(), problem.upper))
    return {
        "iteration": queue.split,
        "value": upper / problem.norm,
        "bound": lower / problem.norm,
        "gap": (upper - lower) / problem.norm,
        "seconds": seconds,
    }
