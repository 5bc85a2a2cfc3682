"""Chosen pairs pulled apart, or kept from coming closer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.svec import Array, Index
from sdpdr.model import AtMost, Block, Maximize, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class Spread(Block):
    r"""Maximises the squared lengths of chosen pairs, :math:`\sum_f c_f |y_i - y_j|^2`.

    With L the Laplacian of the pairs weighted by c, this is :math:`\langle L, K\rangle`.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array of int, shape (p, 2)
    weights : array of shape (p,), optional
        c; all one by default.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, section 3.3.
    """

    n: int
    pairs: Index
    weights: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """Maximise the sum."""
        lengths = SquaredEdgeLengths(self.n, self.pairs)
        weights = np.ones(lengths.m) if self.weights is None else np.asarray(self.weights, float)
        yield Maximize(weights[None, :] @ lengths @ Var(self.gram))


@dataclass(frozen=True, eq=False)
class Apart(Block):
    r"""Keeps chosen pairs at least as far apart as they were, :math:`|y_i - y_j|^2 \ge D_{ij}`.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array of int, shape (p, 2)
    sqdist : array of shape (p,)
        D, squared.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, end of section 3.3.
    """

    n: int
    pairs: Index
    sqdist: Array
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row per pair."""
        lengths = SquaredEdgeLengths(self.n, self.pairs) @ Var(self.gram)
        yield AtMost(-lengths, -np.asarray(self.sqdist, dtype=float), symbol="−D_ij")
