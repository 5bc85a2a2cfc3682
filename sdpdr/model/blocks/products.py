"""Single products of entries of two factors, each in a small cone of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, as_real
from sdpdr.linalg import VectorMap
from sdpdr.linalg.svec import SQRT2, svec, svec_index
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.terms import Equal, InCone, Minimize, Term
from sdpdr.program.point import VectorVariable


@dataclass(frozen=True, eq=False)
class SmallProducts(Block):
    r"""Declares factors W, H and products :math:`V_{ijl}` for :math:`W_{il} H_{lj}`, one by one.

    .. math:: \begin{pmatrix} 1 & W_{il} & H_{lj} \\ W_{il} & T_{il} & V_{ijl} \\
              H_{lj} & V_{ijl} & S_{lj} \end{pmatrix} \succeq 0, \qquad W, H \ge 0 .

    Where :math:`T_{il} = W_{il}^2` and :math:`S_{lj} = H_{lj}^2`, the products are exact.

    Parameters
    ----------
    n, m, k : int
        Rows, columns and terms; n m k inequalities of order three.

    References
    ----------
    Vasiloglou thesis, (2.55)-(2.59).
    """

    n: int
    m: int
    k: int

    def variables(self) -> Iterable[VectorVariable]:
        """W and T row by row, H and S column by column, V with the term running fastest."""
        for name, size in self._sizes().items():
            yield VectorVariable(name, size, nonnegative=name in ("W", "H"))

    def terms(self) -> Iterable[Term]:
        """The small cones."""
        one = svec(np.diag([1.0, 0.0, 0.0]))
        for i, j, term in np.ndindex(self.n, self.m, self.k):
            w, h = i * self.k + term, j * self.k + term
            v = (i * self.m + j) * self.k + term
            places = {"W": (w, 0, 1), "H": (h, 0, 2), "T": (w, 1, 1), "S": (h, 2, 2)}
            maps = {name: self._at(name, *place) for name, place in places.items()}
            yield InCone(Affine({**maps, "V": self._at("V", v, 1, 2)}, one), "psd", name="product")

    def _sizes(self) -> dict[str, int]:
        left, right = self.n * self.k, self.m * self.k
        return {"W": left, "T": left, "H": right, "S": right, "V": self.n * right}

    def _at(self, name: str, entry: int, row: int, column: int) -> VectorMap:
        value = 1.0 if row == column else SQRT2
        place = int(svec_index(row, column))
        shape = (6, self._sizes()[name])
        return VectorMap(sp.csr_array(([value], ([place], [entry])), shape=shape))


@dataclass(frozen=True, eq=False)
class ProductSums(Block):
    r"""Prescribes the sums of products over terms, :math:`\sum_l V_{ijl} = x_{ij}`.

    Parameters
    ----------
    X : array of shape (n, m)
    k : int
    """

    X: Array
    k: int

    def terms(self) -> Iterable[Term]:
        """One row for each entry."""
        sums = sp.kron(sp.eye_array(self.X.size), np.ones((1, self.k)), format="csr")
        yield Equal(sums @ Var("V"), self.X.ravel(), symbol="x_ij")


@dataclass(frozen=True, eq=False)
class Scalarised(Block):
    r"""Minimises :math:`\sum T + \sum S - \langle C_W, W\rangle - \langle C_H, H\rangle`.

    Parameters
    ----------
    left : array of shape (n, k)
        :math:`C_W`.
    right : array of shape (k, m)
        :math:`C_H`.
    """

    left: Array
    right: Array

    def terms(self) -> Iterable[Term]:
        """One objective."""
        costs = {
            "T": np.ones(self.left.size),
            "S": np.ones(self.right.size),
            "W": -as_real(self.left).ravel(),
            "H": -as_real(self.right).T.ravel(),
        }
        parts = [sp.csr_array(cost[None, :]) @ Var(name) for name, cost in costs.items()]
        yield Minimize(sum(parts[1:], parts[0]))
