"""Steps between nodes that carry the label of an action, and what actions do to an embedding."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs.build import connected
from sdpdr.graphs.nearest import knn
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import first_forest
from sdpdr.linalg.walks import linked_parts

Labels: TypeAlias = "str | Sequence[Hashable] | np.ndarray"


@dataclass(frozen=True, eq=False)
class Transitions:
    """Where each action leads to from each node; made by `transitions`.

    If equal actions are to move points by one and the same rigid motion, some nodes must
    coincide: from one place an action leads to one place only, and from two places to two.

    Attributes
    ----------
    names : tuple
        The labels of the actions, in the order of their first use.
    place : array of int, shape (n,)
        For each node the first of those that must coincide with it; itself, if there is none.
    moves : array of int, shape (actions, n)
        The place that an action leads to from a place, -1 where it was not tried.
    """

    names: tuple[Hashable, ...]
    place: Index
    moves: Index

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.place.size

    @property
    def coinciding(self) -> Index:
        """Pairs (first, other) of nodes that must coincide, shape (p, 2)."""
        other = np.flatnonzero(self.place != np.arange(self.n))
        return np.column_stack([self.place[other], other])

    def of(self, name: Hashable) -> tuple[Index, Index]:
        """Places before and after the steps of one action."""
        if name not in self.names:
            known = ", ".join(repr(a) for a in self.names)
            raise DataError(f"there is no action {name!r}, only {known}.")
        to = self.moves[self.names.index(name)]
        before = np.flatnonzero(to >= 0)
        return before, to[before]

    def pairs(self, near: ArrayLike | None = None) -> tuple[Index, Index]:
        """Pairs of places whose distance an action must not change, and the pairs they go to.

        Parameters
        ----------
        near : array_like of int, shape (p, 2), optional
            Consider these pairs of nodes only. Default: all.

        Returns
        -------
        before, after : arrays of int, shape (m, 2)
            No constraint follows from the others: links that would close a cycle are left out.
        """
        chosen = None if near is None else self._pairs(np.unique(self._keys(np.asarray(near))))
        found = [np.empty((0, 2), dtype=np.int64)], [np.empty((0, 2), dtype=np.int64)]
        for to in self.moves:
            if chosen is None:
                here = np.flatnonzero(to >= 0)
                before = here[np.column_stack(np.triu_indices(here.size, 1))]
            else:
                before = chosen[(to[chosen] >= 0).all(axis=1)]
            found[0].append(before)
            found[1].append(to[before])
        before, after = (np.concatenate(part) for part in found)
        kept = first_forest(np.column_stack([self._keys(before), self._keys(after)]))
        return before[kept], after[kept]

    def chains(self, edges: ArrayLike) -> tuple[Index, Index]:
        """The pairs that actions link to some edges, and the chain that each belongs to.

        All pairs of a chain must be equally long. The edges come first, in their order; chain -1
        holds places paired with themselves, of length zero.
        """
        own = self._keys(np.asarray(edges, dtype=np.int64).reshape(-1, 2))
        fresh = np.unique(own[own >= 0])
        seen = set(fresh.tolist())
        while fresh.size:
            found = set(self._links(fresh)[:, 0].tolist()) - seen
            seen |= found
            fresh = np.array(sorted(found), dtype=np.int64)
        known = np.array(sorted(seen), dtype=np.int64)
        chain = linked_parts(known.size, np.searchsorted(known, self._links(known)))
        others = np.setdiff1d(known, own)
        keys = np.concatenate([own, others])
        pairs = np.concatenate([self.place[np.asarray(edges, dtype=np.int64)], self._pairs(others)])
        at = np.searchsorted(known, np.maximum(keys, 0)).clip(max=max(known.size - 1, 0))
        return pairs, np.where(keys < 0, -1, chain[at] if known.size else -1)

    def _links(self, keys: Index) -> Index:
        """Links (there, here) from pairs to those that actions or their reverses take them to."""
        pairs, found = self._pairs(keys), [np.empty((0, 2), dtype=np.int64)]
        for to in self.moves:
            back = np.full(self.n, -1)
            back[to[to >= 0]] = np.flatnonzero(to >= 0)
            for there in (to, back):
                possible = (there[pairs] >= 0).all(axis=1)
                moved = self._keys(there[pairs[possible]])
                found.append(np.column_stack([moved, keys[possible]]))
        return np.concatenate(found)

    def _keys(self, pairs: Index) -> Index:
        """A number for each unordered pair of places, -1 for a place with itself."""
        low, high = np.sort(self.place[pairs.reshape(-1, 2)], axis=1).T
        return np.where(low == high, -1, low * self.n + high)

    def _pairs(self, keys: Index) -> Index:
        keys = keys[keys >= 0]
        return np.column_stack([keys // self.n, keys % self.n])


@checks_keywords
def transitions(
    graph: NeighborGraph,
    actions: Labels,
    lengths: Sequence[int] | None = None,
    inverse: Mapping[Hashable, Hashable] | None = None,
) -> Transitions:
    """Labelled steps between the nodes of a graph.

    Parameters
    ----------
    graph : NeighborGraph
        Graph of the states of all sequences, one after the other (``graph.index`` has the node
        of each).
    actions : str or sequence of labels
        What was done between each state and the next: n states in s sequences have n - s labels.
        A text is one label for each letter. ``None`` (or NaN) is an unknown action, which says
        nothing.
    lengths : sequence of int, optional
        Number of states of each sequence; by default there is one.
    inverse : mapping of labels, optional
        ``{"L": "R"}`` says that L undoes R; a step of L then counts as one of R backwards.

    Returns
    -------
    Transitions

    Raises
    ------
    ShapeError
        There is not one label for each step.
    DataError
        The lengths do not add up to the number of states, or the inverses name an action that
        does not occur or contradict each other.

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005.

    Examples
    --------
    >>> from sdpdr.graphs.transitions import transitions
    >>> from sdpdr import graphs
    >>> steps = transitions(graphs.path([1.0, 1.0, 1.0]), "RRR")
    >>> before, after = steps.pairs()
    >>> before.tolist(), after.tolist()
    ([[0, 1], [0, 2], [1, 2]], [[1, 2], [1, 3], [2, 3]])
    """
    starts = step_starts(len(graph.index), lengths)
    labels = _labels(actions, starts.size, len(graph.index))
    undoes = _inverses(inverse, labels)
    source, target = graph.index[starts], graph.index[starts + 1]
    there = (source >= 0) & (target >= 0) & np.array([a is not None for a in labels], dtype=bool)
    chosen = np.flatnonzero(there)
    source, target = source[chosen], target[chosen]
    base = [undoes.get(labels[k], labels[k]) for k in chosen]
    backwards = np.array([labels[k] in undoes for k in chosen], dtype=bool)
    source, target = np.where(backwards, target, source), np.where(backwards, source, target)
    names = tuple(dict.fromkeys(base))
    code = {name: k for k, name in enumerate(names)}
    action = np.array([code[name] for name in base], dtype=np.int64)
    place = _places(graph.n, source, target, action)
    moves = np.full((len(names), graph.n), -1)
    moves[action, place[source]] = place[target]
    return Transitions(names, place, moves)


def step_starts(states: int, lengths: Sequence[int] | None) -> Index:
    """The states that have a next one in their sequence."""
    if lengths is None:
        return np.arange(states - 1)
    sizes = [validate.positive_integer(f"lengths[{k}]", size) for k, size in enumerate(lengths)]
    if sum(sizes) != states:
        raise DataError(
            f"lengths add up to {sum(sizes)}, but there are {states} states. Give the number of "
            "states of each sequence, in the order of the rows."
        )
    return np.setdiff1d(np.arange(states), np.cumsum(sizes) - 1)


def _labels(actions: Labels, steps: int, states: int) -> list[Hashable]:
    if not isinstance(actions, Iterable):
        raise DataTypeError(f"actions={actions!r} is no sequence of labels.")
    labels = list(actions.tolist() if isinstance(actions, np.ndarray) else actions)
    if any(not isinstance(a, Hashable) for a in labels):
        raise ShapeError(
            "actions hold lists or arrays; pass one flat sequence of labels, and tell sequences "
            "apart by lengths."
        )
    # A missing value in a table is a number that is not equal to itself.
    labels = [None if a != a else a for a in labels]
    if len(labels) == steps:
        return labels
    words = f"{len(labels)} actions for {states} states in {states - steps} sequence(s)"
    if len(labels) == states:
        raise ShapeError(
            f"{words}: an action leads from a state to the next, so the last state of a sequence "
            f"has none. Drop its label; {steps} remain."
        )
    raise ShapeError(
        f"{words}: {steps} are needed, one for each step from a state to the next of its sequence."
    )


def _inverses(
    inverse: Mapping[Hashable, Hashable] | None, labels: list[Hashable]
) -> dict[Hashable, Hashable]:
    if not isinstance(inverse, (Mapping, type(None))):
        raise DataTypeError(
            f"inverse={inverse!r} is no mapping of actions to those that undo them, such as "
            "{'L': 'R'}."
        )
    found = dict(inverse or {})
    for name, other in found.items():
        for label in (name, other):
            if label not in labels:
                known = ", ".join(repr(a) for a in dict.fromkeys(labels) if a is not None)
                raise DataError(f"inverse names the action {label!r}, but there are only {known}.")
        if name == other or other in found:
            raise DataError(
                f"inverse[{name!r}] = {other!r} contradicts the rest: name each pair of opposite "
                "actions once, as in {'L': 'R'}."
            )
    if len(set(found.values())) < len(found):
        raise DataError("inverse gives one action two others that undo it: drop all but one.")
    return found


def _places(n: int, source: Index, target: Index, action: Index) -> Index:
    """The first node of each class of nodes that equal actions force to coincide."""
    place = np.arange(n)
    while True:
        links = [np.column_stack([np.arange(n), place])]
        for here, there in ((source, target), (target, source)):
            order = np.lexsort((place[here], action))
            a, b = order[:-1], order[1:]
            same = (action[a] == action[b]) & (place[here[a]] == place[here[b]])
            links.append(np.column_stack([there[a[same]], there[b[same]]]))
        label = linked_parts(n, np.concatenate(links))
        _, first, back = np.unique(label, return_index=True, return_inverse=True)
        found = first[back]
        if np.array_equal(found, place):
            return place
        place = found


@checks_keywords
def sequences(
    X: ArrayLike,
    n_neighbors: int = 6,
    lengths: Sequence[int] | None = None,
    *,
    metric: str = "euclidean",
    angles: bool = False,
    connect: str = "error",
) -> NeighborGraph:
    """Graph that joins each state to its nearest others, and to the next of its sequence.

    Every sequence is then connected; two of them need a state of one among the neighbours of
    the other.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        The states of all sequences, one sequence after the other.
    n_neighbors : int, default 6
    lengths : sequence of int, optional
        Number of states of each sequence; by default there is one.
    metric, angles
        As for `knn`.
    connect : {"error", "bridges", "mst", "largest", "none"}, default "error"
        What to do with sequences that no edge joins: raise, add the shortest edges between
        them, keep the largest part, or return them as they are.

    Returns
    -------
    NeighborGraph

    Raises
    ------
    DataError, DisconnectedGraphError
        As `knn`; and for lengths that do not add up to the number of states.

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005.

    Examples
    --------
    >>> from sdpdr.graphs import sequences
    >>> X = [[0.0], [1.0], [5.0], [6.0], [0.1]]
    >>> sequences(X, n_neighbors=1).edges.tolist()
    [[0, 1], [0, 4], [1, 2], [1, 4], [2, 3], [3, 4]]
    """
    graph = knn(X, n_neighbors, metric=metric, angles=angles, connect="none")
    starts = step_starts(len(graph.index), lengths)
    steps = np.column_stack([graph.index[starts], graph.index[starts + 1]])
    graph = graph.with_edges(steps[steps[:, 0] != steps[:, 1]])
    options = {"n_neighbors": n_neighbors, "lengths": lengths, "connect": connect}
    graph = replace(
        graph, provenance=replace(graph.provenance, method="sequences", options=options)
    )
    space = graph.provenance.space
    assert space is not None
    return connected(graph, space, connect, lambda: "take more neighbours")


@dataclass(frozen=True, eq=False)
class Motion:
    r"""A rigid motion, :math:`y \mapsto R\,y + c`, that comes closest to an action.

    Attributes
    ----------
    rotation : array of shape (d, d)
        R, orthogonal.
    shift : array of shape (d,)
        c.
    residual : float
        Root mean square distance of the points after a step from where the motion takes them.
    """

    rotation: Array
    shift: Array
    residual: float

    def __call__(self, Y: ArrayLike) -> Array:
        """Points, as rows, after the motion."""
        return np.asarray(np.asarray(Y, dtype=float) @ self.rotation.T + self.shift)


@checks_keywords
def motions(steps: Transitions, Y: ArrayLike) -> dict[Hashable, Motion]:
    """The rigid motion of each action, by orthogonal Procrustes.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)
        Points of the nodes. With all columns of an Action Respecting Embedding, residuals are
        zero up to the accuracy of the solver; with few, as small as the columns left out.

    Returns
    -------
    dict from label to Motion
        An action seen once, or at points on a line, has many motions; this is one of them.

    References
    ----------
    Schönemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31,
    1966.

    Examples
    --------
    >>> from sdpdr.graphs import motions
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> motions(steps, [[0.0], [1.0], [2.0]])["R"].shift
    array([1.])
    """
    points, found = _points(steps, Y), {}
    for name in steps.names:
        before, after = (points[k] for k in steps.of(name))
        here, there = before.mean(axis=0), after.mean(axis=0)
        rotation, _ = orthogonal_procrustes(after - there, before - here)
        away = (after - there) - (before - here) @ rotation.T
        residual = float(np.sqrt(np.mean(np.sum(np.square(away), axis=1))))
        found[name] = Motion(rotation, there - rotation @ here, residual)
    return found


@checks_keywords
def action_error(steps: Transitions, Y: ArrayLike) -> float:
    """Largest change of a distance by an action, relative to the mean length of a step.

    Zero, up to the accuracy of the solver, where all pairs of steps of equal actions move rigidly.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)
        All columns of an embedding of the nodes.

    Examples
    --------
    >>> from sdpdr.graphs import action_error
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> action_error(steps, [[0.0], [1.0], [2.0]]), action_error(steps, [[0.0], [1.0], [4.0]])
    (0.0, 1.0)
    """
    points, worst = _points(steps, Y), 0.0
    for name in steps.names:
        before, after = (points[k] for k in steps.of(name))
        for k in range(len(before) - 1):
            rest = np.linalg.norm(before[k + 1 :] - before[k], axis=1)
            moved = np.linalg.norm(after[k + 1 :] - after[k], axis=1)
            worst = max(worst, float(np.max(np.abs(moved - rest))))
    return worst / _mean_step(steps, points)


@checks_keywords
def step_variation(steps: Transitions, Y: ArrayLike) -> float:
    """Standard deviation of the lengths of equal actions' steps, over the mean length of all.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)

    Examples
    --------
    >>> from sdpdr.graphs import step_variation
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> step_variation(steps, [[0.0], [1.0], [2.0]]), step_variation(steps, [[0.0], [1.0], [4.0]])
    (0.0, 0.5)
    """
    points = _points(steps, Y)
    spread = [length - length.mean() for length in _step_lengths(steps, points)]
    size = float(np.sqrt(np.mean(np.square(np.concatenate(spread)))))
    return size / _mean_step(steps, points)


def _points(steps: Transitions, Y: ArrayLike) -> Array:
    points = np.asarray(Y, dtype=float)
    if points.ndim != 2 or len(points) != steps.n:
        raise ShapeError(
            f"Y has shape {points.shape}; pass a row for each of the {steps.n} nodes of the graph."
        )
    if not steps.names:
        raise DataError("there are no labelled steps to look at.")
    return points


def _step_lengths(steps: Transitions, points: Array) -> list[Array]:
    pairs = (steps.of(name) for name in steps.names)
    return [np.linalg.norm(points[after] - points[before], axis=1) for before, after in pairs]


def _mean_step(steps: Transitions, points: Array) -> float:
    mean = float(np.mean(np.concatenate(_step_lengths(steps, points))))
    if mean == 0.0:
        raise DataError("no step moves a point: the embedding is a single place.")
    return mean
