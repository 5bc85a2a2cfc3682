"""Anchors, whose coordinates are known, and points whose Gram matrix is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg import QuadraticForms
from sdpdr.model.affine import Affine, Var
from sdpdr.model.blocks.isometry import Relation, SquaredLengths, related
from sdpdr.model.blocks.lift import FactorLift
from sdpdr.model.model import Block
from sdpdr.model.terms import Term
from sdpdr.program.point import PsdVariable


@dataclass(frozen=True, eq=False)
class Coordinates(Block):
    r"""Declares :math:`Z = \begin{pmatrix} I & Y^T \\ Y & K \end{pmatrix} \succeq 0`.

    That is :math:`K \succeq Y Y^T`: K holds the inner products of the unknown points, and Y their
    projections to the r dimensions in which the anchors have coordinates.

    Parameters
    ----------
    n : int
        Number of unknown points.
    r : int
        Dimension of the known coordinates.
    gram : str, default "Z"
        Name of the variable, of order r + n.

    References
    ----------
    Biswas and Ye, "Semidefinite programming for ad hoc wireless sensor network localization",
    IPSN 2004.
    """

    n: int
    r: int
    gram: str = "Z"

    def variables(self) -> Iterable[PsdVariable]:
        """The bordered matrix."""
        yield PsdVariable(self.gram, self.r + self.n)

    def terms(self) -> Iterable[Term]:
        """The leading block is the identity."""
        return FactorLift(self.r, self.n, gram=self.gram).terms()


@dataclass(frozen=True, eq=False)
class AnchoredLengths(SquaredLengths):
    r"""Squared lengths of edges of which one end may be an anchor.

    Between unknown points :math:`K_{ii} + K_{jj} - 2K_{ij}`, and from an anchor at
    :math:`a_k` to an unknown point :math:`|a_k|^2 - 2 a_k^T y_j + K_{jj}`. Either is
    :math:`f^T Z f` for a vector f. Edges between anchors have no row.

    Parameters
    ----------
    graph : NeighborGraph
    anchors : array of int, shape (p,)
        Nodes of known coordinates.
    coordinates : array of shape (p, r)
    exact : bool
        Equality rather than inequality.
    relative : bool, default False
        Divide each row by its squared length.
    gram : str, default "Z"
    """

    graph: NeighborGraph
    anchors: Index
    coordinates: Array
    exact: bool
    relative: bool = False
    gram: str = "Z"

    def lengths(self) -> tuple[Affine, Array]:
        """Those of edges with an unknown end."""
        vectors = positions(self.graph.n, self.anchors, self.coordinates)
        kept = np.flatnonzero(~np.isin(self.graph.edges, self.anchors).all(axis=1))
        i, j = self.graph.edges[kept].T
        lengths = QuadraticForms(vectors[i] - vectors[j])
        return lengths @ Var(self.gram), self.graph.sqdist[kept]


@checks_keywords
def AnchoredIsometry(
    graph: NeighborGraph,
    anchors: Index,
    coordinates: Array,
    relation: Relation = "inequality",
    gram: str = "Z",
) -> Block:
    """`AnchoredLengths` in one of the relations of `Isometry`.

    Parameters
    ----------
    graph, anchors, coordinates, gram
        As of `AnchoredLengths`.
    relation : {"inequality", "equality", "band:0.05", "slack:1.0"}, Band or Slack

    Returns
    -------
    Block
        Labelled ``isometry``.

    Raises
    ------
    UnknownNameError
    """

    def lengths(exact: bool, relative: bool = False) -> Block:
        return AnchoredLengths(graph, anchors, coordinates, exact, relative, gram)

    return related(lengths, relation)


def positions(n: int, anchors: Index, coordinates: Array) -> sp.csr_array:
    """Vectors p_i of shape (n, r + unknown) with inner products p_i^T Z p_j of all n points.

    Row i is (a_k, 0) for the anchor i = anchors[k], and a unit vector for an unknown point.
    """
    known = np.zeros(n, dtype=bool)
    known[anchors] = True
    unknown = np.flatnonzero(~known)
    p, r = coordinates.shape
    if len(anchors) != p:
        raise ShapeError(f"there are {len(anchors)} anchors, but coordinates of {p} points.")
    row = np.concatenate([np.repeat(anchors, r), unknown])
    column = np.concatenate([np.tile(np.arange(r), p), r + np.arange(unknown.size)])
    value = np.concatenate([np.ravel(coordinates), np.ones(unknown.size)])
    return sp.csr_array((value, (row, column)), shape=(n, r + unknown.size))
