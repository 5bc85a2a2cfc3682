"""Signed similarities of nodes, some of which have labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import listed
from sdpdr.families.limits import ROUNDING
from sdpdr.families.propagate.pencil import EnergyPencil
from sdpdr.graphs import NeighborGraph, edge_weights
from sdpdr.graphs.data import make_space
from sdpdr.graphs.neighbor_graph import Provenance
from sdpdr.graphs.pairs import from_pairs, from_table, sorted_pairs, upper_pairs
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.walks import connected_components

# Roundings of an entry of a form beside those of its sum: of differences, products, and A - lam B.
_OTHER_ROUNDINGS = 8
# Smallest heat weight, about the square root of the machine precision: smaller ones made pencils
# singular to rounding, or left a distant point without similar ones.
_LEAST_WEIGHT = 1e-8


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """The signed parts of S without its diagonal, labels or nan, and whether S was dense."""

    positive: sp.csr_array
    negative: sp.csr_array
    labels: Array
    is_dense: bool

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.labels.size)

    @cached_property
    def labelled(self) -> Index:
        """Nodes with a label."""
        return np.flatnonzero(~np.isnan(self.labels))

    @cached_property
    def unlabelled(self) -> Index:
        """Nodes without one."""
        return np.flatnonzero(np.isnan(self.labels))

    def energies(self, y: ArrayLike) -> tuple[float, float]:
        r"""The sums :math:`E_\pm(y) = \tfrac12\sum_{ij} (S_\pm)_{ij} (y_i - y_j)^2`."""
        values = np.asarray(y, dtype=float)
        above, below = (
            0.5 * float(pairs.data @ np.square(values[pairs.row] - values[pairs.col]))
            for pairs in (self.positive.tocoo(), self.negative.tocoo())
        )
        return above, below

    def ratio(self, y: ArrayLike) -> float:
        """:math:`E_+ / E_-` of a labelling; infinite if the lower vanishes, nan if both do."""
        above, below = self.energies(y)
        if below > 0.0:
            return above / below
        return math.inf if above > 0.0 else math.nan

    def labelling(self, spread: ArrayLike) -> Array:
        """Labels where known, and ``spread``, of shape (n_u,), elsewhere."""
        y = self.labels.copy()
        y[self.unlabelled] = spread
        return y

    @cached_property
    def pencil(self) -> EnergyPencil:
        r"""The forms :math:`A = P^T L_+ P` and :math:`B = P^T L_- P` of :math:`(\beta, y_u)`."""
        return EnergyPencil(*self._form(self.positive), *self._form(self.negative))

    def _form(self, similarity: sp.csr_array) -> tuple[Matrix, Matrix]:
        """The form P^T L P of some pairs, and a bound of the rounding of its entries."""
        pairs, known = sp.triu(similarity, 1).tocoo(), ~np.isnan(self.labels)
        # Labels share their scale, which is unknown 0; each other node is an unknown of its own.
        unknowns = np.where(known, 0, np.cumsum(~known))
        values = np.where(known, self.labels, 1.0)
        P = sp.csr_array((values, (np.arange(self.n), unknowns)))
        steps = sp.csr_array(P[pairs.row] - P[pairs.col])  # differences across pairs
        steps.eliminate_zeros()
        form = steps.T @ (sp.diags_array(pairs.data) @ steps)
        size = abs(steps).T @ (sp.diags_array(pairs.data) @ abs(steps))
        terms = (steps != 0).T.astype(float) @ (steps != 0).astype(float)
        terms.data = gamma(terms.data + _OTHER_ROUNDINGS)
        radius = size * terms
        if self.is_dense:
            return form.toarray(), radius.toarray()
        return sp.csr_array(form), sp.csr_array(radius)

    @cached_property
    def parts(self) -> Index:
        """Number of the connected component of every node, by similar pairs alone; shape (n,)."""
        return np.asarray(connected_components(self.positive)[1])

    @cached_property
    def unreached(self) -> Index:
        """Nodes that similar pairs connect to no label."""
        return np.flatnonzero(~np.isin(self.parts, self.parts[self.labelled]))

    @cached_property
    def is_separated(self) -> bool:
        """Whether no component of the similar pairs has two different labels."""
        parts, values = self.parts[self.labelled], self.labels[self.labelled]
        return len(set(zip(parts, values, strict=True))) == len(np.unique(parts))

    def require_reached(self) -> None:
        """Refuse components without a label, by a `DisconnectedGraphError` that names them."""
        if not self.unreached.size:
            return
        numbers = self.parts[self.unreached]
        components = [np.flatnonzero(self.parts == p) for p in dict.fromkeys(numbers.tolist())]
        raise DisconnectedGraphError(
            f"nodes {listed(components[0])} are connected to no labelled node by similar pairs "
            f"({len(components)} such components in all), so that any value suits them. Label one "
            "of them, connect them, or leave them out.",
            components,
        )

    def require_two_values(self) -> None:
        """Refuse constant labels."""
        values = self.labels[self.labelled]
        if np.ptp(values) == 0.0:
            raise DataError(
                f"labels must take two values; all {values.size} of them are {values[0]:g}. With "
                "one value (one class) every shift of a labelling is as good as the labelling."
            )

    def restricted(self, kept: Index) -> LabelledGraph:
        """The graph of some of its nodes, in ascending order."""
        if len(kept) == self.n:
            return self
        positive, negative = (part[kept][:, kept] for part in (self.positive, self.negative))
        return LabelledGraph(positive, negative, self.labels[kept], self.is_dense)


def labelled_graph(S: Any, y: ArrayLike) -> LabelledGraph:
    r"""Check similarities and labels, and split the former by sign.

    :math:`S_+ = \max(S, 0)`, :math:`S_- = \max(-S, 0)`. The diagonal is left out, since no energy
    contains the similarity of a node to itself.

    Parameters
    ----------
    S : array_like or sparse array of shape (n, n)
        Symmetric. Dense ones are solved by dense factorizations, sparse ones by sparse ones.
    y : array_like of shape (n,)
        Labels, or ratings; nan where not known.

    Returns
    -------
    LabelledGraph
        With ``labels``, ``positive``, ``negative``, ``unreached`` nodes, ``energies(y)`` and their
        ``ratio(y)``, and ``restricted(nodes)``.

    Raises
    ------
    ShapeError
        The arguments do not fit together.
    DataError
        An entry is not finite, S is not symmetric, no node has a label, or all have.

    References
    ----------
    Tong thesis, section 3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.propagation import labelled_graph
    >>> S = [[0.0, 1.0, -0.5], [1.0, 0.0, 0.0], [-0.5, 0.0, 0.0]]
    >>> graph = labelled_graph(S, [1.0, np.nan, -1.0])
    >>> graph.energies([1.0, 0.0, -1.0]), graph.ratio([1.0, 0.0, -1.0])
    ((1.0, 2.0), 0.5)
    """
    instead = "NaN and infinity are no similarities. Write 0 where nothing is known."
    even = validate.symmetric("S", S, sparse=True, within=ROUNDING, instead=instead)
    n, labels = even.shape[0], np.array(y, dtype=float)
    if labels.shape != (n,):
        raise ShapeError(f"y must have shape ({n},), one label a node; it has {labels.shape}.")
    if np.isinf(labels).any():
        raise DataError(f"y[{np.flatnonzero(np.isinf(labels))[0]}] is infinite.")
    known = ~np.isnan(labels)
    if not known.any():
        raise DataError("no node has a label: there is nothing to spread. nan stands for unknown.")
    if known.all():
        raise DataError("every node has a label: there is nothing to find. nan stands for unknown.")
    pairs = sp.coo_array(even)

    def part(sign: float) -> sp.csr_array:
        kept = (sign * pairs.data > 0.0) & (pairs.row != pairs.col)
        entries = sign * pairs.data[kept], (pairs.row[kept], pairs.col[kept])
        return sp.csr_array(entries, shape=(n, n))

    return LabelledGraph(part(1.0), part(-1.0), labels, not sp.issparse(even))


@checks_keywords
def near_and_far(
    X: ArrayLike,
    n_neighbors: int = 7,
    *,
    metric: str = "euclidean",
    weights: str = "binary",
) -> sp.csr_array:
    """Sparse similarities: weights for nearest neighbours, -1 for each point and its furthest one.

    Two points are similar if either is among the other's nearest, and dissimilar if either is
    furthest from the other. The furthest points are found exactly.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D)
    n_neighbors : int, default 7
    metric : {"euclidean", "cosine"}, default "euclidean"
        As for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Weights of near points, as for `sdpdr.graphs.edge_weights`. Coinciding points have 1. With
        ``"heat"`` edges weigh at least 1e-8, so that a point far from all others is similar to its
        nearest ones.

    Returns
    -------
    csr_array of shape (n, n)

    Raises
    ------
    DataError
        As `sdpdr.graphs.knn`.

    Examples
    --------
    >>> from sdpdr.propagation import near_and_far
    >>> near_and_far([[0.0], [1.0], [3.0], [9.0]], n_neighbors=1).toarray()
    array([[ 0.,  1.,  0., -1.],
           [ 1.,  0.,  1., -1.],
           [ 0.,  1.,  0.,  1.],
           [-1., -1.,  1.,  0.]])
    """
    validate.choice("metric", metric, ("euclidean", "cosine"))
    space = make_space(X, metric, at_least=2)
    edges = upper_pairs(from_table(space.nearest(validate.n_neighbors(n_neighbors, space.n))))
    sqdist = space.sqdist(*edges.T)
    apart = sqdist > 0.0  # a graph has no edges of length zero, so these weigh one
    made = Provenance("near_and_far", space=space)
    graph = NeighborGraph(space.n, edges[apart], sqdist[apart], provenance=made)
    values = np.ones(len(edges))
    values[apart] = edge_weights(graph, weights)
    if weights == "heat":
        values = np.maximum(values, _LEAST_WEIGHT)
    half = sp.csr_array((values, tuple(edges.T)), shape=(space.n, space.n))
    near = half + half.T
    furthest = sorted_pairs(np.column_stack([np.arange(space.n), space.furthest()]))[0]
    far = from_pairs(space.n, furthest).astype(float)
    return sp.csr_array(near - (far - far.multiply(near != 0)))


def pearson(R: ArrayLike) -> Array:
    r"""Correlations of rows over the entries that are known in both.

    .. math::

        S_{ij} = \frac{\sum_k (r_{ik} - \bar r_i)(r_{jk} - \bar r_j)}
        {\sqrt{\sum_k (r_{ik} - \bar r_i)^2}\,\sqrt{\sum_k (r_{jk} - \bar r_j)^2}} ,

    sums over the columns k known in both rows, means over all entries known in one. Zero where a
    square root vanishes: no common column, or no variation there.

    Parameters
    ----------
    R : array_like of shape (n, p)
        nan where not known.

    Returns
    -------
    array of shape (n, n)

    Raises
    ------
    DataError, ShapeError
        A row has no known entry, or an entry is infinite.

    References
    ----------
    Tong thesis, section 3.2.3.

    Examples
    --------
    >>> from sdpdr.propagation import pearson
    >>> nan = float("nan")
    >>> pearson([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [nan, 1.0, 2.0]]).round(3).tolist()
    [[1.0, -1.0, 0.707], [-1.0, 1.0, -0.707], [0.707, -0.707, 1.0]]
    """
    ratings = np.asarray(R, dtype=float)
    if ratings.ndim != 2:
        raise ShapeError(f"ratings must have shape (n, p); they have {ratings.shape}.")
    if np.isinf(ratings).any():
        i, j = np.argwhere(np.isinf(ratings))[0]
        raise DataError(f"rating [{i}, {j}] is infinite; write nan where nothing is known.")
    known = ~np.isnan(ratings)
    counts = known.sum(axis=1)
    if not counts.all():
        raise DataError(f"row {int(np.argmin(counts))} has no known entry; drop it.")
    mean = np.nansum(ratings, axis=1) / counts
    centred = np.where(known, ratings - mean[:, None], 0.0)
    squares = np.square(centred) @ known.T
    below = np.sqrt(squares * squares.T)
    varies = below > 1e-12 * np.square(centred).max(initial=0.0)  # by more than rounding
    return np.asarray(np.where(varies, centred @ centred.T / np.where(varies, below, 1.0), 0.0))
