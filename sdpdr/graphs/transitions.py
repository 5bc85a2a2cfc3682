"""Steps between nodes that are labelled with actions, and graphs of sequences of states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs.build import connected
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.nearest import knn
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.pairs import first_forest
from sdpdr.linalg.walks import linked_parts

Labels: TypeAlias = "str | Sequence[Hashable] | np.ndarray"


@dataclass(frozen=True, eq=False)
class Transitions:
    """The node to which each action leads from each node; made by `transitions`.

    If equal actions move points by the same rigid motion, some nodes must coincide: from one
    position an action leads to one position only, and from two positions to two.

    Attributes
    ----------
    names : tuple
        The labels of the actions, in the order of their first use.
    place : array of int, shape (n,)
        For each node the first node that must coincide with it; itself if there is none.
    moves : array of int, shape (actions, n)
        The node that an action leads to from each node, -1 if it was not tried there.
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
        """Return the nodes before and after the steps of one action."""
        if name not in self.names:
            known = ", ".join(repr(a) for a in self.names)
            raise DataError(f"there is no action {name!r}, only {known}.")
        to = self.moves[self.names.index(name)]
        before = np.flatnonzero(to >= 0)
        return before, to[before]

    def pairs(self, near: ArrayLike | None = None) -> tuple[Index, Index]:
        """Return pairs of nodes whose distance an action must preserve, and the pairs after it.

        Parameters
        ----------
        near : array_like of int, shape (p, 2), optional
            Consider these pairs of nodes only. Default: all.

        Returns
        -------
        before, after : arrays of int, shape (m, 2)
            No constraint follows from the others: pairs that would close a cycle are left out.
        """
        chosen = None if near is None else self._pairs(np.unique(self._keys(np.asarray(near))))
        found = [np.empty((0, 2), dtype=np.intp)], [np.empty((0, 2), dtype=np.intp)]
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
        """Return the pairs that actions link to some edges, and the chain of each.

        All pairs of a chain must have equal lengths. The edges come first, in their order; chain
        -1 holds nodes paired with themselves, of length zero.
        """
        own = self._keys(np.asarray(edges, dtype=np.intp).reshape(-1, 2))
        fresh = np.unique(own[own >= 0])
        seen = set(fresh.tolist())
        while fresh.size:
            found = set(self._links(fresh)[:, 0].tolist()) - seen
            seen |= found
            fresh = np.array(sorted(found), dtype=np.intp)
        known = np.array(sorted(seen), dtype=np.intp)
        chain = linked_parts(known.size, np.searchsorted(known, self._links(known)))
        others = np.setdiff1d(known, own)
        keys = np.concatenate([own, others])
        pairs = np.concatenate([self.place[np.asarray(edges, dtype=np.intp)], self._pairs(others)])
        at = np.searchsorted(known, np.maximum(keys, 0)).clip(max=max(known.size - 1, 0))
        return pairs, np.where(keys < 0, -1, chain[at] if known.size else -1)

    def _links(self, keys: Index) -> Index:
        """Return links (after, before) between pairs by actions and their reverses."""
        pairs, found = self._pairs(keys), [np.empty((0, 2), dtype=np.intp)]
        for to in self.moves:
            back = np.full(self.n, -1)
            back[to[to >= 0]] = np.flatnonzero(to >= 0)
            for there in (to, back):
                possible = (there[pairs] >= 0).all(axis=1)
                moved = self._keys(there[pairs[possible]])
                found.append(np.column_stack([moved, keys[possible]]))
        return np.concatenate(found)

    def _keys(self, pairs: Index) -> Index:
        """Return a number for each unordered pair of nodes, -1 for a node with itself."""
        low, high = np.sort(self.place[pairs.reshape(-1, 2)], axis=1).T
        return np.where(low == high, -1, low * self.n + high)

    def _pairs(self, keys: Index) -> Index:
        """Return the pairs of nodes with the given numbers, without -1."""
        keys = keys[keys >= 0]
        return np.column_stack([keys // self.n, keys % self.n])


@takes_graph
def transitions(
    graph: NeighborGraph,
    actions: Labels,
    lengths: Sequence[int] | None = None,
    inverse: Mapping[Hashable, Hashable] | None = None,
) -> Transitions:
    """Return the labelled steps between the nodes of a graph.

    Parameters
    ----------
    graph : NeighborGraph
        Graph of the states of all sequences, one after the other (``graph.index`` has the node
        of each).
    actions : str or sequence of labels
        What was done between each state and the next: n states in s sequences have n - s labels.
        Each letter of a string is a label. ``None`` (or NaN) is an unknown action, which adds
        no constraint.
    lengths : sequence of int, optional
        Number of states of each sequence; by default there is one.
    inverse : mapping of labels, optional
        ``{"L": "R"}`` says that L undoes R; a step of L then counts as a reversed step of R.

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
    action = np.array([code[name] for name in base], dtype=np.intp)
    place = _places(graph.n, source, target, action)
    moves = np.full((len(names), graph.n), -1)
    moves[action, place[source]] = place[target]
    return Transitions(names, place, moves)


def step_starts(states: int, lengths: Sequence[int] | None) -> Index:
    """Return the states that have a successor in their sequence."""
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
    """A label for each step, None if it is unknown."""
    if not isinstance(actions, Iterable):
        raise DataTypeError(f"actions={actions!r} is not a sequence of labels.")
    labels = list(actions.tolist() if isinstance(actions, np.ndarray) else actions)
    if any(not isinstance(a, Hashable) for a in labels):
        raise ShapeError(
            "actions hold lists or arrays; pass one flat sequence of labels, and the lengths of "
            "sequences as lengths."
        )
    # NaN, a missing value in a table, is not equal to itself.
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
    """The action that each action undoes; an error if the mapping contradicts itself."""
    if not isinstance(inverse, (Mapping, type(None))):
        raise DataTypeError(
            f"inverse={inverse!r} is not a mapping of actions to those that undo them, such as "
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
        raise DataError("inverse has two actions that undo the same one: drop all but one.")
    return found


def _places(n: int, source: Index, target: Index, action: Index) -> Index:
    """Return for each node the first node that equal actions force to coincide with it."""
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
    """Graph that joins each state to its nearest others, and to the next state of its sequence.

    Every sequence is then connected; two sequences are joined if a state of one is among the
    neighbours of a state of the other.

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
        What to do with sequences that no edge joins: raise an error, add several edges or the
        shortest ones between them, keep the largest part, or return them as they are.

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
    return connected(graph, space, connect)
