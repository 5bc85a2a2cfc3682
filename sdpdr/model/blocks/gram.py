"""The Gram matrix: centring, variance, pairs pulled apart, side information."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Products, QuadraticForms, SquaredEdgeLengths, Trace
from sdpdr.model.affine import Var
from sdpdr.model.model import Block, Declaration
from sdpdr.model.terms import AtMost, Equal, Maximize, Term
from sdpdr.program.point import PsdVariable


@dataclass(frozen=True, eq=False)
class Gram(Declaration):
    r"""Declares a Gram matrix :math:`K \in S^n,\ K \succeq 0` of n points.

    Parameters
    ----------
    n : int
        Number of points.
    gram : str, default "K"
        Name of the variable.
    """

    n: int
    gram: str = "K"

    def variables(self) -> Iterable[PsdVariable]:
        """The Gram matrix."""
        yield PsdVariable(self.gram, self.n)


@dataclass(frozen=True, eq=False)
class Centered(Block):
    r"""Puts the mean of the points at the origin, :math:`K \mathbf 1 = 0`.

    For positive semidefinite K this equals :math:`\mathbf 1^T K \mathbf 1 = 0`. Feasible K are then
    singular, so the program has no interior; the reduction ``face`` removes this exactly.

    Parameters
    ----------
    n : int
        Number of points.
    weights : array of shape (n,), optional
        How many points each node stands for; all one by default.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, section 3.1; Weinberger and Saul, CVPR 2004.
    """

    n: int
    weights: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """K c = 0."""
        yield Equal(Products(self.n, self.weights) @ Var(self.gram), 0.0)


@dataclass(frozen=True, eq=False)
class Variance(Block):
    r"""Maximises the variance of centred points, :math:`\operatorname{tr} K = \sum_i |y_i|^2`.

    Parameters
    ----------
    n : int
        Number of points.
    weights : array of shape (n,), optional
        How many points each node stands for; the objective is then the sum of
        :math:`c_i K_{ii}`.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, section 3.1; Weinberger and Saul, CVPR 2004.
    """

    n: int
    weights: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """Maximise the (weighted) trace."""
        yield Maximize(Trace(self.n, self.weights) @ Var(self.gram))


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


@dataclass(frozen=True, eq=False)
class Dependence(Block):
    r"""Maximises dependence on side information, :math:`\langle H F F^T H, K\rangle`.

    H subtracts means. Divided by :math:`(n - 1)^2` this is the Hilbert-Schmidt independence
    criterion of K and the kernel :math:`F F^T`, which is never formed.

    Parameters
    ----------
    side : array of shape (n, q)
        F, for instance one column per class with ones for its members.
    signs : array of shape (q,), optional
        1 or -1 for each column, for kernels that are not positive; all one by default.
    gram : str, default "K"

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.
    """

    side: Array
    signs: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """Maximise the sum of one quadratic form per column."""
        F = np.asarray(self.side, dtype=float)
        forms = QuadraticForms((F - F.mean(axis=0)).T)
        signs = np.ones(forms.m) if self.signs is None else np.asarray(self.signs, dtype=float)
        yield Maximize(signs[None, :] @ forms @ Var(self.gram))
