r"""Represent :math:`g(W_i \cdot H_j)` by matrices of a given rank, in layers.

For given pairs ij, matrices hold the powers of
:math:`t_{ij} = W_i \cdot H_j = \sum_l w_{il} h_{jl}`. Their first columns, below the fixed corner,
hold the factors, so that an iteration may start at factors and read factors from its result.
`Moments` of `sdpdr.families.factor.polynomial.moments` does the same with one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Entries, Trace
from sdpdr.model import Block
from sdpdr.model.affine import Affine, Var
from sdpdr.model.blocks.entries import NonNegative
from sdpdr.model.blocks.expressions import Stated
from sdpdr.model.blocks.lift import FactorLift, Known
from sdpdr.model.blocks.moments import (
    MomentMatrix,
    Polynomial,
)
from sdpdr.model.terms import Equal
from sdpdr.program.point import Value


@dataclass(frozen=True, eq=False)
class FactorProducts:
    r"""The parameters of both representations.

    Parameters
    ----------
    n_rows, n_columns : int
        Rows of W and of H.
    pairs : array of int, shape (p, 2)
        The pairs ij.
    n_components : int, default 1
        k, columns of W and H.
    degree : int, default 2
        D, of g.
    anchors : array of int, shape (k,), optional
        Rows of W that form the identity, which fixes the scale for k = 1, and for k > 1 also the
        basis.
    """

    n_rows: int
    n_columns: int
    pairs: Index
    n_components: int = 1
    degree: int = 2
    anchors: Index | None = None


@dataclass(frozen=True, eq=False)
class Layers(FactorProducts):
    r"""A lift of two factors, and a small matrix of powers of :math:`t_{ij}` for every pair.

    .. math::

        Z = \begin{pmatrix} I_k & W^T & H^T \\ W & \mathcal W & T \\ H & T^T & \mathcal H
        \end{pmatrix},\qquad
        M^{ij} = \begin{pmatrix} 1 & t_{ij} & t_{ij}^2 & \cdots \\ t_{ij} & t_{ij}^2 & \\
        \vdots & & \ddots \end{pmatrix},

    of ranks k and one. The small matrices have order :math:`1 + \lceil D/2 \rceil`. If the
    coefficients are unknown, another matrix of rank one, on
    :math:`(1, c_2, \dots, c_D, t_{ij}^2, \dots, t_{ij}^D)`, holds their products with the powers.

    Parameters
    ----------
    n_rows, n_columns, pairs, n_components, degree, anchors : see `FactorProducts`
    unknown : bool, default False
        Whether the coefficients from the second on are unknown; the first is then 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.families.factor.polynomial.layers import Layers
    >>> layers = Layers(3, 2, np.array([[0, 0], [2, 1]]))
    >>> dict(layers.ranks)
    {'Z': 1, 't_0_0': 1, 't_2_1': 1}
    """

    unknown: bool = False

    @cached_property
    def lift(self) -> FactorLift:
        """The first layer."""
        return FactorLift(self.n_components, self.n_rows, self.n_columns)

    @cached_property
    def powers(self) -> tuple[MomentMatrix, ...]:
        """The second layer; empty for a linear g."""
        if self.degree < 2:
            return ()
        half = -(-self.degree // 2)
        return tuple(MomentMatrix.up_to(1, half, f"t_{i}_{j}") for i, j in self.pairs)

    @cached_property
    def products(self) -> MomentMatrix | None:
        """The third layer: variables are the coefficients, then the powers, power by power."""
        if not self.unknown:
            return None
        count = (self.degree - 1) * (1 + len(self.pairs))
        return MomentMatrix([(), *((v,) for v in range(count))], "Y")

    @property
    def ranks(self) -> Mapping[str, int]:
        """Rank k for Z, rank one for all others."""
        small = (*self.powers, *([self.products] if self.products else []))
        return {self.lift.gram: self.n_components, **{block.gram: 1 for block in small}}

    def blocks(self, nonnegative: bool) -> list[Block]:
        """All matrices, and the equalities that connect each layer to the next."""
        lift, every = self.lift, [self.lift, *self.powers]
        found: list[Block] = list(every)
        if self.anchors is not None:
            rows = lift.left().reshape(self.n_rows, -1, 2)[self.anchors].reshape(-1, 2)
            found.append(Known(lift.order, rows, np.eye(self.n_components).ravel()))
        if self.powers:
            found.append(_equal(self._entries(), self._power(1)))
        if self.products is not None:
            found += [self.products, _equal(self._unknown_powers(), self._known_powers())]
        if nonnegative:
            signed = np.vstack([lift.left(), lift.right(), lift.product()])
            found.append(NonNegative(lift.order, signed, lift.gram))
            if self.products is not None:
                found.append(NonNegative(self.products.order, gram="Y"))
        return found

    def fitted(self, coefficients: Array | None) -> Affine:
        """The values g(t) of all pairs, linear in powers or in their products with coefficients."""
        if coefficients is None:
            found, p = self._entries(), len(self.pairs)
            for c in range(self.degree - 1):
                rows: list[Polynomial] = [{(c, self._place(c, e)): 1.0} for e in range(p)]
                assert self.products is not None
                found = found + self.products.values(rows)
            return found
        found = float(coefficients[0]) * self._entries()
        for power in range(2, self.degree + 1):
            found = found + float(coefficients[power - 1]) * self._power(power)
        return found

    def size(self) -> Affine:
        """The trace of Z without its corner."""
        whole = Trace(self.lift.order) @ Var(self.lift.gram)
        return whole + (-float(self.n_components))

    def sums(self) -> Affine:
        """The column sums of W, from the entries of Z."""
        ones = sp.kron(np.ones((1, self.n_rows)), sp.eye_array(self.n_components))
        return sp.csr_array(ones) @ self.lift.entries(self.lift.left())

    def corners(self, W: Array, H: Array, coefficients: Array) -> dict[str, Array]:
        """The first columns of all matrices at given factors and coefficients."""
        i, j = self.pairs.T
        t = np.sum(W[i] * H[j], axis=1)
        found = {self.lift.gram: np.vstack([W, H])}
        for e, block in enumerate(self.powers):
            found[block.gram] = t[e] ** np.arange(1.0, block.order)[:, None]
        if self.products is not None:
            powers = [t**p for p in range(2, self.degree + 1)]
            found["Y"] = np.concatenate([coefficients[1:], *powers])[:, None]
        return found

    def read(self, found: Mapping[str, Value]) -> tuple[Array, Array, Array | None]:
        """W, H and the coefficients if they are unknown, from the first columns of Z and Y."""
        W, H = self.lift.read(found[self.lift.gram])
        if self.products is None:
            return W, H, None
        return W, H, self.products.read(found["Y"], np.arange(self.degree - 1))

    def _entries(self) -> Affine:
        """The t of all pairs, from Z."""
        i, j = self.pairs.T
        return self.lift.entries(np.column_stack([self.lift.rows[i], self.lift.columns[j]]))

    def _power(self, power: int) -> Affine:
        """A power of t for every pair, each from its own matrix."""
        p = len(self.pairs)
        maps = {}
        for e, block in enumerate(self.powers):
            row = sp.csr_array(([1.0], ([e], [0])), shape=(p, 1))
            maps[block.gram] = row @ Entries(block.order, [block.places[(0,) * power][0]])
        return Affine(maps, np.zeros(p))

    def _known_powers(self) -> Affine:
        """The powers from the second on, power by power."""
        parts = [self._power(power) for power in range(2, self.degree + 1)]
        count = len(parts) * len(self.pairs)
        total = Affine({}, np.zeros(count))
        for number, part in enumerate(parts):
            place = sp.eye_array(count, len(self.pairs), k=-number * len(self.pairs))
            total = total + sp.csr_array(place) @ part
        return total

    def _unknown_powers(self) -> Affine:
        """The same, from the matrix that also holds the coefficients."""
        assert self.products is not None
        count = (self.degree - 1) * len(self.pairs)
        return self.products.values([{(self.degree - 1 + v,): 1.0} for v in range(count)])

    def _place(self, number: int, e: int) -> int:
        """Variable of the third layer that holds power ``number + 2`` of pair e."""
        return self.degree - 1 + number * len(self.pairs) + e


def _equal(one: Affine, other: Affine) -> Stated:
    """The block that equates expressions of different matrices."""
    return Stated("agree", [Equal(one - other, 0.0, symbol="0")])
