"""Actions as rigid motions: pairs of points that keep their distance when both move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdpdr.graphs.arrays import Index
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.combine import Summed
from sdpdr.model import Block, Equal, Var
from sdpdr.model.terms import Term


class _Changes(Summed):
    """Squared lengths of pairs less those of the pairs they go to."""

    def formula(self, variable: str) -> tuple[str, str]:
        """Typical row in mathematics."""
        plain, latex = self.maps[0].formula(variable)
        return f"{plain} − (same, moved)", rf"{latex} - (\text{{same, moved}})"


@dataclass(frozen=True, eq=False)
class Actions(Block):
    r"""An action moves points rigidly: what it takes two points to is as far apart as they were.

    :math:`q_{ij}(K) - q_{i'j'}(K) = 0` for steps i → i' and j → j' of one action, where
    :math:`q_{ij}(K) = K_{ii} + K_{jj} - 2 K_{ij}` is a squared length. The rows are homogeneous,
    so that they add nothing to the dual's objective.

    Parameters
    ----------
    n : int
        Number of points.
    before, after : array_like of int, shape (m, 2)
        Pairs (i, j) and the pairs (i', j') they go to, as
        `sdpdr.graphs.Transitions.pairs` lists them.
    gram : str, default "K"

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005.

    Examples
    --------
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
        yield Equal(_Changes([maps[0], -maps[1]]) @ Var(self.gram), 0.0)


@dataclass(frozen=True, eq=False)
class Coinciding(Block):
    r"""Pairs of points that are one point, :math:`K_{ii} + K_{jj} - 2 K_{ij} = 0`.

    For positive semidefinite K this is :math:`K (e_i - e_j) = 0`. It leaves the cone without
    interior, which the reduction ``face`` cures exactly.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array_like of int, shape (m, 2)
    gram : str, default "K"

    Examples
    --------
    >>> Coinciding(3, [[0, 2]]).label
    'coinciding'
    """

    n: int
    pairs: Index
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each pair."""
        yield Equal(SquaredEdgeLengths(self.n, self.pairs) @ Var(self.gram), 0.0)
