"""`NeighborGraph`: an undirected graph whose edges have squared lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array

from sdpdr.base import checks as validate
from sdpdr.base.advice import either
from sdpdr.base.arrays import LARGEST, SMALLEST, Array, Index, is_admissible
from sdpdr.base.attributes import Advising
from sdpdr.base.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.base.rows import listed, numbered
from sdpdr.graphs.pairs import (
    clique_pairs,
    from_pairs,
    smallest_k,
    smallest_radius,
    sorted_pairs,
)
from sdpdr.graphs.space import Space
from sdpdr.linalg.walks import connected_components, linked_parts, members

# Up to this many points, the message of an error may search for advice.
ADVICE_POINTS = 2000


def _unset() -> Index:
    """An empty array, which stands for a default."""
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Provenance:
    """How a graph was made.

    Parameters
    ----------
    method : str
        Name of the function that made it.
    options : mapping
        What was passed to it.
    space : Space, optional
        Source of the lengths of further pairs; ``None`` if only the edges are known.
    neighborhoods : sparse array of bool, optional
        Entry (i, j) is true when j lies in the neighbourhood of i; by default the edges themselves.
    """

    method: str = "edges"
    options: Mapping[str, object] = field(default_factory=dict)
    space: Space | None = None
    neighborhoods: csr_array | None = None

    def __str__(self) -> str:
        return f"{self.method}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"

    def take(self, nodes: Index) -> Provenance:
        """Restrict to some of the nodes, in the order given."""
        near = self.neighborhoods
        return replace(
            self,
            space=None if self.space is None else self.space.take(nodes),
            neighborhoods=None if near is None else csr_array(near[nodes][:, nodes]),
        )


@dataclass(frozen=True, eq=False, repr=False)
class NeighborGraph:
    """Undirected graph with squared edge lengths; immutable.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : array_like of int, shape (m, 2)
        Each edge once, as (i, j) with i < j, sorted. `sdpdr.graphs.from_edges` takes edges in
        any order.
    sqdist : array_like of float, shape (m,)
        SQUARED edge lengths, positive.
    counts : array_like of shape (n,), optional
        How many of the original points each node stands for (duplicates are merged into one
        node). Default: one each.
    index : array_like of int, shape (n_original,), optional
        The node of each original point, -1 where the point was dropped. Default: 0, ..., n - 1.
    provenance : Provenance, optional
        How the graph was made.

    Raises
    ------
    DataError
        An edge is out of range, a loop, repeated or unsorted; a length is not positive and
        finite; a count is not positive; an index is out of range.
    ShapeError
        The arrays do not fit together.

    Examples
    --------
    >>> from sdpdr.graphs import NeighborGraph
    >>> graph = NeighborGraph(3, [[0, 1], [1, 2]], [1.0, 4.0])
    >>> graph
    NeighborGraph(n=3, m=2, made by edges())
    >>> graph.laplacian().toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    n: int
    edges: Index
    sqdist: Array
    counts: np.ndarray = field(default_factory=_unset)
    index: Index = field(default_factory=_unset)
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        n = validate.positive_integer("n", self.n)
        edges = _checked_edges(n, self.edges)
        counts = np.asarray(self.counts)
        index = np.asarray(self.index)
        checked = {
            "n": n,
            "edges": _fixed(edges),
            "sqdist": _fixed(_checked_sqdist(self.sqdist, len(edges))),
            "counts": _fixed(_checked_counts(n, counts if counts.size else np.ones(n, int))),
            "index": _fixed(_checked_index(n, index if index.size else np.arange(n))),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_points(cls, edges: Index, index: Index, provenance: Provenance) -> NeighborGraph:
        """Make a graph of edges between the points of the provenance, with their lengths."""
        space = provenance.space
        assert space is not None
        sqdist = space.sqdist(*edges.T)
        return cls(space.n, edges, sqdist, np.bincount(index), index, provenance)

    def __repr__(self) -> str:
        return f"NeighborGraph(n={self.n}, m={self.m}, made by {self.provenance})"

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def degree(self) -> Index:
        """Number of edges at each node, shape (n,)."""
        return np.bincount(self.edges.ravel(), minlength=self.n)

    @property
    def masses(self) -> Array | None:
        """The counts as weights of the nodes, shape (n,); None if all are one."""
        return None if np.all(self.counts == 1) else self.counts.astype(float)

    @cached_property
    def components(self) -> Index:
        """Label of the connected component of each node, shape (n,)."""
        return _fixed(linked_parts(self.n, self.edges))

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return int(self.components.max()) + 1

    @property
    def is_connected(self) -> bool:
        """Whether there is a path between any two nodes."""
        return self.n_components == 1

    def adjacency(self, weights: ArrayLike | None = None) -> csr_array:
        """Symmetric sparse matrix of shape (n, n) of the weights of edges, by default ones."""
        values = np.ones(self.m) if weights is None else np.asarray(weights, dtype=float)
        self._require_one_each(values.shape)
        half = csr_array((values, tuple(self.edges.T)), shape=(self.n, self.n))
        return csr_array(half + half.T)

    def _require_one_each(self, shape: tuple[int, ...]) -> None:
        if shape != (self.m,):
            raise ShapeError(
                f"weights have shape {shape} but the graph has {self.m} edges. "
                "Pass one weight for each row of graph.edges."
            )

    def laplacian(self, weights: Any = None) -> Any:
        r"""Weighted Laplacian :math:`L(w) = \sum_e w_e b_e b_e^T`, :math:`b_e = e_i - e_j`.

        Parameters
        ----------
        weights : array_like or expression of shape (m,), optional
            Default: ones. They may be negative.

        Returns
        -------
        csr_array or expression of shape (n, n)

        Examples
        --------
        The largest connectivity of a path whose weights add up to one:

        >>> import numpy as np
        >>> import sdpdr
        >>> from sdpdr import graphs, lambda_min, maximize, scalar
        >>> w = scalar("w", 2, nonnegative=True)
        >>> L = graphs.path([1.0, 1.0]).laplacian(w)
        >>> model = maximize(lambda_min(L + np.ones((3, 3)))) + (w.sum() == 1.0)
        >>> round(sdpdr.solve(model).value, 4)
        0.5
        """
        if isinstance(weights, Advising):  # an expression, whose operators do the rest
            self._require_one_each(getattr(weights, "shape", ()))
            i, j = self.edges.T
            places = np.concatenate(
                [i * self.n + i, j * self.n + j, i * self.n + j, j * self.n + i]
            )
            signs = np.repeat([1.0, 1.0, -1.0, -1.0], self.m)
            shape = (self.n**2, self.m)
            spread = csr_array((signs, (places, np.tile(np.arange(self.m), 4))), shape=shape)
            return (spread @ weights).reshape(self.n, self.n)
        W = self.adjacency(weights)
        return csr_array(diags_array(W.sum(axis=1)) - W)

    def ways_to_connect(self) -> str:
        """Advice on making the same graph connected, with a number if it is cheap to find."""
        made, space = self.provenance, self.provenance.space
        if space is None:
            return "add edges between the components"
        if made.method == "complete":
            return "give distances between the components"
        return (
            f"{self.more_neighbors()}, or connect='bridges' to add several edges between the "
            "components, or connect='mst' to add the shortest missing edges, or connect='largest' "
            "to keep the largest component only"
        )

    def more_neighbors(self) -> str:
        """Advice on more neighbours that connect the graph, with a number if it is cheap."""
        made, space = self.provenance, self.provenance.space
        if space is not None and space.n <= ADVICE_POINTS and made.method == "knn":
            return f"take n_neighbors={smallest_k(space)}, the smallest that connects"
        if space is not None and space.n <= ADVICE_POINTS and made.method == "radius":
            return f"take radius={smallest_radius(space)!r}, the smallest that connects"
        return "take more neighbours"

    def require_connected(self, advice: str = "") -> NeighborGraph:
        """Return the graph itself, or raise a `DisconnectedGraphError` with the advice."""
        if self.is_connected:
            return self
        advice = advice or self.ways_to_connect()
        parts = self._parts()
        sizes = listed([len(part) for part in parts])
        strays = np.flatnonzero(np.isin(self.index, np.concatenate(parts[1:])))
        made = either(f" made by {self.provenance}", "")
        raise DisconnectedGraphError(
            f"the graph{made} has {len(parts)} components, of sizes {sizes}. "
            f"Points outside the largest: {numbered(strays)}. "
            f"Methods that spread points apart need a connected graph: {advice}.",
            parts,
        )

    def lengths(self, positions: Array) -> Array:
        """PLAIN lengths of the edges, shape (m,), for coordinates of the nodes, shape (n, r)."""
        i, j = self.edges.T
        return np.linalg.norm(positions[i] - positions[j], axis=1)

    def of_samples(self, values: Array) -> Array:
        """Map values of the nodes, or rows of them, to the samples; nan where dropped."""
        found = np.full((self.index.size, *values.shape[1:]), np.nan)
        has_node = self.index >= 0
        found[has_node] = values[self.index[has_node]]
        return found

    @property
    def first_samples(self) -> Index:
        """The first sample of each node, shape (n,)."""
        nodes, first = np.unique(self.index, return_index=True)
        return first[nodes >= 0]

    def largest_component(self) -> NeighborGraph:
        """Component with most nodes (on ties, the one with the smallest node)."""
        return self.subgraph(np.sort(self._parts()[0]))

    def subgraph(self, nodes: ArrayLike) -> NeighborGraph:
        """Graph on some distinct nodes, which become 0, 1, ... in the order given.

        Points of all other nodes get -1 in ``index``.
        """
        nodes = validate.numbers("nodes", nodes, self.n, "nodes", distinct=True)
        # One entry more than there are nodes, so that index -1 finds -1 at the end.
        renumbered = np.full(self.n + 1, -1)
        renumbered[nodes] = np.arange(len(nodes))
        kept = (renumbered[self.edges] >= 0).all(axis=1)
        edges, position = sorted_pairs(renumbered[self.edges[kept]])
        sqdist = np.empty(len(edges))
        sqdist[position] = self.sqdist[kept]
        return NeighborGraph(
            n=len(nodes),
            edges=edges,
            sqdist=sqdist,
            counts=self.counts[nodes],
            index=renumbered[self.index],
            provenance=self.provenance.take(nodes),
        )

    def with_edges(self, pairs: ArrayLike) -> NeighborGraph:
        """Add pairs of nodes as edges, with their lengths taken from the data of the graph.

        Raises
        ------
        DataError
            The graph was made from edges alone, so the lengths are not known; or a pair is a
            loop, or one of its ends is not a node.
        """
        space = self.provenance.space
        if space is None:
            raise DataError(
                f"the graph made by {self.provenance} knows only the lengths of its own edges, "
                "and further edges need more. Make it from points or a full distance matrix, "
                "with graphs.knn, graphs.radius or graphs.complete."
            )
        added = validate.pairs("pairs", pairs)
        edges, position = sorted_pairs(np.vstack([self.edges, added]))
        sqdist = space.sqdist(*_checked_edges(self.n, edges).T)
        sqdist[position[: self.m]] = self.sqdist
        return replace(self, edges=edges, sqdist=sqdist)

    @property
    def joining(self) -> np.ndarray:
        """Whether an edge joins components of the neighbourhoods, as ``connect`` does; shape (m,).

        Examples
        --------
        >>> from sdpdr import graphs
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     graph = graphs.knn([[0.0], [1.0], [5.0], [6.0]], n_neighbors=1, connect="mst")
        >>> graph.edges[graph.joining].tolist()
        [[1, 2]]
        """
        near = self.provenance.neighborhoods
        if near is None:
            return np.zeros(self.m, dtype=bool)
        parts = connected_components(near)[1]
        i, j = self.edges.T
        return np.asarray(parts[i] != parts[j])

    def with_cliques(self) -> NeighborGraph:
        """Add an edge between any two points of one neighbourhood.

        Keeping these lengths keeps the angles between the edges at each point. With A the
        directed neighbourhood matrix the edges are the off-diagonal pattern of
        :math:`A^T A + A + A^T`. Pairs whose precomputed distance is not known get none.

        Raises
        ------
        DataError
            As for `with_edges`.

        References
        ----------
        Tong thesis 2.2.4; Weinberger and Saul, "Unsupervised learning of image manifolds by
        semidefinite programming", IJCV 70 (2006).
        """
        near = self.provenance.neighborhoods
        pairs = clique_pairs(from_pairs(self.n, self.edges) if near is None else near)
        space = self.provenance.space
        return self.with_edges(pairs[space.known(*pairs.T)] if space is not None else pairs)

    def _parts(self) -> list[Index]:
        """Nodes of each component, the largest component first."""
        return sorted(members(self.components), key=len, reverse=True)


def _fixed(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be written to."""
    array = array.copy()
    array.flags.writeable = False
    return array


def _checked_edges(n: int, edges: ArrayLike) -> Index:
    """Check pairs (i, j) of n nodes: i < j, sorted and distinct."""
    array = validate.pairs("edges", edges)
    i, j = array.T
    outside = (array < 0).any(axis=1) | (array >= n).any(axis=1)
    _refuse(outside, array, f"is no pair of nodes, which are numbered from 0 to {n - 1}")
    _refuse(i == j, array, "is a loop: an edge joins two different nodes")
    ahead = (i[1:] > i[:-1]) | ((i[1:] == i[:-1]) & (j[1:] > j[:-1]))
    _refuse(
        (i > j) | ~np.append(True, ahead),
        array,
        "is out of order: edges must be (i, j) with i < j, sorted and distinct. "
        "graphs.from_edges does that for you",
    )
    return array


def _refuse(wrong: ArrayLike, edges: np.ndarray, fault: str) -> None:
    """Raise an error for the first edge that is wrong."""
    if np.any(wrong):
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(f"edge {row}, ({edges[row, 0]}, {edges[row, 1]}), {fault}.")


def _checked_sqdist(sqdist: ArrayLike, m: int) -> Array:
    """Check SQUARED lengths of m edges: positive and finite."""
    array = np.asarray(sqdist, dtype=float)
    if array.shape != (m,):
        raise ShapeError(f"sqdist has shape {array.shape} but there are {m} edges: pass one each.")
    wrong = np.flatnonzero(~((array > 0) & is_admissible(array)))
    if wrong.size:
        raise DataError(
            f"edge {wrong[0]} has squared length {array[wrong[0]]}; it must be positive and "
            f"finite, from {SMALLEST:g} to {LARGEST:g}. Merge points that coincide, and rescale "
            "data whose squares are beyond."
        )
    return array


def _checked_counts(n: int, counts: np.ndarray) -> np.ndarray:
    """Check the number of points of each of n nodes."""
    if counts.shape != (n,):
        raise ShapeError(f"counts has shape {counts.shape} but there are {n} nodes: pass one each.")
    if counts.dtype.kind not in "iu" or not (counts > 0).all():
        raise DataError("counts must be positive whole numbers: each node stands for a point.")
    return counts.astype(np.intp)


def _checked_index(n: int, index: np.ndarray) -> Index:
    """Check the node of each original point: one of n, or -1."""
    whole = index.ndim == 1 and index.dtype.kind in "iu"
    if not whole or index.min() < -1 or index.max() >= n:
        raise DataError(
            f"index must hold, for each original point, its node from 0 to {n - 1}, or -1 where "
            "the point was dropped."
        )
    return index.astype(np.intp)
