"""The Gram matrix itself, centring, and variance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdpdr.linalg import Products, Trace
from sdpdr.linalg.svec import Array
from sdpdr.model import Block, Equal, Maximize, PsdVariable, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class Gram(Block):
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

    def terms(self) -> Iterable[Term]:
        """None: being positive semidefinite is part of the variable."""
        return ()


@dataclass(frozen=True, eq=False)
class Centered(Block):
    r"""Puts the mean of the points at the origin, :math:`K \mathbf 1 = 0`.

    For positive semidefinite K this equals :math:`\mathbf 1^T K \mathbf 1 = 0`. It leaves the cone
    without interior, which the reduction ``face`` cures exactly.

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
