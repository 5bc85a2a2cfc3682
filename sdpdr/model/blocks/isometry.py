"""Isometry: constraints on the lengths of a graph's edges, and on pairs that actions move."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError, UnknownNameError
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model.affine import Affine, Var
from sdpdr.model.model import Block
from sdpdr.model.relaxations import relax, soften
from sdpdr.model.terms import AtMost, Equal, Term


@dataclass(frozen=True)
class Band(ChecksKeywords):
    """Squared lengths may change by a relative ``width`` either way.

    Parameters
    ----------
    width : float
        In (0, 1).
    """

    width: float

    def __post_init__(self) -> None:
        if not 0.0 < self.width < 1.0:
            raise ModelError(f"the width of a band must lie in (0, 1); it is {self.width}.")


@dataclass(frozen=True)
class Slack(ChecksKeywords):
    r"""Lengths may change, and changes are penalized.

    Parameters
    ----------
    weight : float
        The penalty :math:`\nu` of a change v, which is (q - d)/d if ``relative``, and q - d
        otherwise.
    penalty : {"square", "absolute"}, default "square"
        :math:`\tfrac\nu2 v^2` or :math:`\nu |v|`. With the absolute penalty the program is
        unbounded when :math:`\nu` is below a sharp threshold; with the square never.
    relative : bool, default False
        Whether changes are measured relative to the length, which keeps short edges from being
        nearly free.
    """

    weight: float
    penalty: Literal["square", "absolute"] = "square"
    relative: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise ModelError(f"the weight of slack must be positive; it is {self.weight}.")
        if self.penalty not in ("square", "absolute"):
            raise UnknownNameError("penalty", self.penalty, ("square", "absolute"))


Relation: TypeAlias = "str | Band | Slack"

RELATIONS = ("inequality", "equality", "band:0.05", "slack:1.0")
"""How relations of lengths are written; `Band` and `Slack` can also be passed themselves."""


def as_relation(given: Relation, name: str = "isometry", others: Sequence[str] = ()) -> Relation:
    """Return a relation of lengths, with a band or slack that is written as text read.

    Parameters
    ----------
    given : {"inequality", "equality", "band:0.05", "slack:1.0"}, Band or Slack
    name : str, default "isometry"
        The parameter, for errors.
    others : sequence of str, optional
        What else the parameter can be, for errors.

    Raises
    ------
    UnknownNameError
        For a relation that is none of these.
    ModelError
        The width or the weight is not a number, or cannot be one.

    Examples
    --------
    >>> as_relation("band:0.05"), as_relation("equality")
    (Band(width=0.05), 'equality')
    """
    if isinstance(given, (Band, Slack)):
        return given
    kind, colon, number = given.partition(":") if isinstance(given, str) else ("", "", "")
    if not colon and kind in ("inequality", "equality"):
        return kind
    if not colon or kind not in ("band", "slack"):
        raise UnknownNameError(name, given, (*others, *RELATIONS))
    try:
        value = float(number)
    except ValueError:
        words = f"{name}={given!r} needs a number after the colon, as in '{kind}:0.05'."
        raise ModelError(words) from None
    return Band(value) if kind == "band" else Slack(value)


class SquaredLengths(Block):
    """Base of blocks that prescribe or bound squared lengths, one row for each."""

    exact: bool
    relative: bool

    @property
    def label(self) -> str:
        """The usual word for these rows."""
        return "isometry"

    @abstractmethod
    def lengths(self) -> tuple[Affine, Array]:
        """The squared lengths, and those before."""

    def terms(self) -> Iterable[Term]:
        """One row for each length."""
        q, d = self.lengths()
        side = Equal if self.exact else AtMost
        yield side((1.0 / d) * q, 1.0) if self.relative else side(q, d, symbol="d_ij")


@dataclass(frozen=True, eq=False)
class Lengths(SquaredLengths):
    r"""Squared edge lengths kept exactly, or kept from growing.

    :math:`K_{ii} + K_{jj} - 2 K_{ij} = d_{ij}` (or :math:`\le d_{ij}`) for every edge.

    Parameters
    ----------
    graph : NeighborGraph
    exact : bool
        Equality rather than inequality.
    relative : bool, default False
        Divide each row by its :math:`d_{ij}`.
    gram : str, default "K"
    """

    graph: NeighborGraph
    exact: bool
    relative: bool = False
    gram: str = "K"

    def lengths(self) -> tuple[Affine, Array]:
        """Those of all edges."""
        lengths = SquaredEdgeLengths(self.graph.n, self.graph.edges)
        return lengths @ Var(self.gram), self.graph.sqdist


@takes_graph
def Isometry(graph: NeighborGraph, relation: Relation = "inequality", gram: str = "K") -> Block:
    r"""Block that keeps the local geometry of a graph.

    Parameters
    ----------
    graph : NeighborGraph
    relation : {"inequality", "equality", "band:0.05", "slack:1.0"}, Band or Slack
        With q the squared lengths after unfolding and d those before: ``"inequality"``, the
        default, is q <= d, ``"equality"`` q = d, ``"band:0.05"`` or ``Band(0.05)`` is
        .95 d <= q <= 1.05 d, and ``"slack:10"`` or ``Slack(10)`` penalizes q - d.
    gram : str, default "K"

    Returns
    -------
    Block
        Labelled ``isometry``.

    Raises
    ------
    UnknownNameError
        For a relation that is none of these.

    References
    ----------
    Vasiloglou thesis, section 3.1; inequality form: Sun, Boyd, Xiao, Diaconis, SIAM Review 48(4),
    2006.

    Examples
    --------
    >>> from sdpdr.blocks import Isometry
    >>> from sdpdr import graphs
    >>> Isometry(graphs.path([1.0, 1.0]), "band:0.1").label
    'isometry'
    """

    def lengths(exact: bool, relative: bool = False) -> Block:
        return Lengths(graph, exact, relative, gram)

    return related(lengths, relation)


def related(lengths: Callable[..., Block], relation: Relation) -> Block:
    """A block of lengths in one of the relations.

    Parameters
    ----------
    lengths : callable
        Makes the block from ``exact`` and ``relative``.
    relation : {"inequality", "equality", "band:0.05", "slack:1.0"}, Band or Slack

    Raises
    ------
    UnknownNameError
        For a relation that is none of these.
    """
    relation = as_relation(relation)
    if relation == "inequality":
        return lengths(exact=False)
    if relation == "equality":
        return lengths(exact=True)
    if isinstance(relation, Band):
        return relax(lengths(exact=True), relation.width)
    assert isinstance(relation, Slack)
    exact = lengths(exact=True, relative=relation.relative)
    return soften(exact, relation.weight, square=relation.penalty == "square")


@dataclass(frozen=True, eq=False)
class Actions(Block):
    r"""An action moves points rigidly: it preserves the distances between points.

    :math:`q_{ij}(K) - q_{i'j'}(K) = 0` for steps i → i' and j → j' of one action, where
    :math:`q_{ij}(K) = K_{ii} + K_{jj} - 2 K_{ij}` is a squared length. The right-hand sides are
    zero, so these rows add nothing to the dual's objective.

    Parameters
    ----------
    n : int
        Number of points.
    before, after : array_like of int, shape (m, 2)
        Pairs (i, j), and the pairs (i', j') to which the action moves them, as
        `sdpdr.graphs.Transitions.pairs` lists them.
    gram : str, default "K"

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005.

    Examples
    --------
    >>> from sdpdr.blocks import Actions
    >>> Actions(4, [[0, 1], [1, 2]], [[1, 2], [2, 3]]).label
    'actions'
    """

    n: int
    before: Index
    after: Index
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each pair."""
        maps = [SquaredEdgeLengths(self.n, pairs) for pairs in (self.before, self.after)]
        yield Equal((maps[0] - maps[1]) @ Var(self.gram), 0.0)


@dataclass(frozen=True, eq=False)
class Coinciding(Block):
    r"""Makes pairs of points coincide, :math:`K_{ii} + K_{jj} - 2 K_{ij} = 0`.

    For positive semidefinite K this is :math:`K (e_i - e_j) = 0`. Feasible K are then singular, so
    the program has no interior; the reduction ``face`` removes this exactly.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array_like of int, shape (m, 2)
    gram : str, default "K"

    Examples
    --------
    >>> from sdpdr.blocks import Coinciding
    >>> Coinciding(3, [[0, 2]]).label
    'coinciding'
    """

    n: int
    pairs: Index
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each pair."""
        yield Equal(SquaredEdgeLengths(self.n, self.pairs) @ Var(self.gram), 0.0)
