"""How unevenly a factor spreads over its entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.blocks.lift import FactorLift
from sdpdr.errors import ModelError
from sdpdr.linalg import Trace
from sdpdr.model import Block, Equal, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class HoyerSparsity(Block):
    r"""Prescribes the sparsity of the factor W as a whole, in a lift of rank k.

    Hoyer's measure of p numbers is :math:`s(x) = (\sqrt p - |x|_1/|x|_2)/(\sqrt p - 1)`: one for a
    single entry that is not zero, zero for equal ones. With

    .. math:: \operatorname{tr} \mathcal W = 1, \qquad
              \sum_{il} W_{il} = \sqrt p - (\sqrt p - 1)\, s, \qquad p = nk,

    a non-negative W with :math:`\mathcal W = W W^T` has the sparsity s. Before the rank is met the
    rows say little, and a single program meets them with any s.

    Parameters
    ----------
    lift : FactorLift
    sparsity : float
        s, in [0, 1].

    Raises
    ------
    ModelError

    References
    ----------
    Vasiloglou thesis, (2.61)-(2.64), where p is printed as the number of columns and the ends of
    the scale are exchanged; P. O. Hoyer, Journal of Machine Learning Research 5, 2004.
    """

    lift: FactorLift
    sparsity: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.sparsity <= 1.0:
            raise ModelError(f"sparsity must lie in [0, 1]; it is {self.sparsity}.")

    def terms(self) -> Iterable[Term]:
        """The sum of squares and the sum of W."""
        pairs, order = self.lift.left(), self.lift.order
        weights = np.zeros(order)
        weights[self.lift.rows] = 1.0
        yield Equal(Trace(order, weights) @ Var(self.lift.gram), 1.0, name="squares")
        root = np.sqrt(len(pairs))
        total = root - (root - 1.0) * self.sparsity
        yield Equal(np.ones((1, len(pairs))) @ self.lift.entries(pairs), total, name="sum")
