r"""Matrices of given ranks that hold :math:`g(W_i \cdot H_j)`: in layers, or as moments.

For given pairs ij, matrices hold the powers of
:math:`t_{ij} = W_i \cdot H_j = \sum_l w_{il} h_{jl}`. Their first columns, below the fixed corner,
hold the factors, so that an iteration may start at factors and read factors from its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Entries, InnerProduct, Trace
from sdpdr.model import Affine, Block, Equal, Var
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks.entries import NonNegative
from sdpdr.model.blocks.expressions import Stated
from sdpdr.model.blocks.lift import FactorLift, Known, grid
from sdpdr.model.blocks.moments import (
    Localized,
    MomentMatrix,
    Monomial,
    Polynomial,
    add,
    compose,
    monomials,
    multiply,
    values,
)
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
    anchor : int, optional
        The row of W whose entry is 1, which fixes the scale. For k = 1 only.
    """

    n_rows: int
    n_columns: int
    pairs: Index
    n_components: int = 1
    degree: int = 2
    anchor: int | None = None


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
    n_rows, n_columns, pairs, n_components, degree, anchor : see `FactorProducts`
    unknown : bool, default False
        Whether the coefficients from the second on are unknown; the first is then 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.families.factor.polynomial.lifts import Layers
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
        half, pairs = -(-self.degree // 2), self.pairs if self.degree > 1 else ()
        return tuple(MomentMatrix.up_to(1, half, f"t_{i}_{j}") for i, j in pairs)

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
        lift = self.lift
        found: list[Block] = [lift, *self.powers]
        if self.anchor is not None:
            found.append(Known(lift.order, lift.left()[[self.anchor]], 1.0))
        if self.powers:
            found.append(_equal(self._entries(), self._power(1)))
        if self.products is not None:
            found.append(self.products)
            for power in range(2, self.degree + 1):
                copies = self.products.values([{(v,): 1.0} for v in self._places(power)])
                found.append(_equal(copies, self._power(power)))
        if nonnegative:
            signed = np.vstack([lift.left(), lift.right(), lift.product()])
            found.append(NonNegative(lift.order, signed, lift.gram))
            if self.products is not None:
                found.append(NonNegative(self.products.order, gram="Y"))
        return found

    def fitted(self, coefficients: Array | None) -> Affine:
        """The values g(t) of all pairs, linear in powers or in their products with coefficients."""
        if coefficients is None:
            assert self.products is not None
            total = self._entries()
            for power in range(2, self.degree + 1):
                rows: list[Polynomial] = [{(power - 2, v): 1.0} for v in self._places(power)]
                total = total + self.products.values(rows)
            return total
        if not self.powers:
            return float(coefficients[0]) * self._entries()
        g = compose(coefficients, {(0,): 1.0})
        return _joined([block.values([g]) for block in self.powers])

    def size(self) -> Affine:
        """The trace of Z without its corner."""
        return Trace(self.lift.order) @ Var(self.lift.gram) + (-float(self.n_components))

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
        return _joined([block.values([{(0,) * power: 1.0}]) for block in self.powers])

    def _places(self, power: int) -> range:
        """Variables of the third layer that hold a power of t, one for each pair."""
        first = self.degree - 1 + (power - 2) * len(self.pairs)
        return range(first, first + len(self.pairs))


def _joined(values: list[Affine]) -> Affine:
    """Values of different matrices, one below the other."""
    maps = {}
    for e, value in enumerate(values):
        row = sp.csr_array(([1.0], ([e], [0])), shape=(len(values), 1))
        maps.update({name: row @ single for name, single in value.maps.items()})
    return Affine(maps, np.zeros(len(values)))


def _equal(one: Affine, other: Affine) -> Stated:
    """The block that equates expressions of different matrices."""
    return Stated("agree", [Equal(one - other, 0.0, symbol="0")])


@dataclass(frozen=True, eq=False)
class Moments(FactorProducts):
    r"""One matrix of rank one, on monomials of all entries of W and H together.

    The entry of the anchor is the number 1, not a variable.

    Parameters
    ----------
    n_rows, n_columns, pairs, n_components, degree, anchor : see `FactorProducts`
    misfit : bool, default False
        Choose the monomials so that the matrix holds the *squares* of :math:`g(t_{ij})`: 1, the
        entries of W and H, and products, up to D, of equally many entries of W and of H.
        Otherwise all monomials up to degree D.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.families.factor.polynomial.lifts import Moments
    >>> every = np.argwhere(np.ones((2, 2)))
    >>> Moments(2, 2, every).matrix.order, Moments(2, 2, every, misfit=True).matrix.order
    (15, 18)
    >>> Moments(2, 2, every, anchor=0).matrix.order
    10
    """

    misfit: bool = False

    @cached_property
    def matrix(self) -> MomentMatrix:
        """The matrix."""
        free = self._free
        if not self.misfit:
            every = monomials(len(free), self.degree)
            return MomentMatrix([tuple(free[v] for v in m) for m in every])
        left, right = ([v for v in free if (v < self._n_left) == side] for side in (True, False))
        basis: list[Monomial] = [(), *((v,) for v in free)]
        for d in range(1, self.degree + 1):
            for a in combinations_with_replacement(left, d):
                basis += [a + b for b in combinations_with_replacement(right, d)]
        return MomentMatrix(basis)

    @property
    def ranks(self) -> Mapping[str, int]:
        """Rank one for the matrix."""
        return {self.matrix.gram: 1}

    def blocks(self, nonnegative: bool) -> list[Block]:
        """The matrix and, if ``nonnegative``, the signs of its monomials."""
        if not nonnegative:
            return [self.matrix]
        signed = NonNegative(self.matrix.order, self.matrix.pairs(), self.matrix.gram)
        return [self.matrix, signed, *self.signs]

    @cached_property
    def signs(self) -> tuple[Localized, ...]:
        """The blocks which say that every :math:`t_{ij}` of a misfit is nonnegative."""
        if not self.misfit or self.degree < 2:
            return ()
        inner = [m for m in self.matrix.basis if len(m) % 2 == 0 and len(m) < 2 * self.degree]
        return tuple(
            Localized(self.matrix, t, inner, f"L_{i}_{j}")
            for t, (i, j) in zip(self.entries(), self.pairs, strict=True)
        )

    def entries(self) -> list[Polynomial]:
        r"""The :math:`t_{ij}` as polynomials in the variables."""
        k = self.n_components
        return [
            add(*(multiply(self._left(i, a), {(self._n_left + j * k + a,): 1.0}) for a in range(k)))
            for i, j in self.pairs
        ]

    def fitted(self, coefficients: Array | None) -> Affine:
        """The values g(t) of all pairs, as polynomials in W and H."""
        assert coefficients is not None
        return self.matrix.values([compose(coefficients, t) for t in self.entries()])

    def misfits(self, coefficients: Array, targets: Array) -> Affine:
        r"""The sum of the squares of :math:`g(t_{ij}) - v_{ij}`, as one value."""
        place = {m: a for a, m in enumerate(self.matrix.basis)}
        away = sp.lil_array((len(targets), self.matrix.order))
        for e, (t, v) in enumerate(zip(self.entries(), targets, strict=True)):
            for monomial, value in add(compose(coefficients, t), {(): -float(v)}).items():
                away[e, place[monomial]] = value
        return InnerProduct(sp.csr_array(away.T @ away)) @ self.matrix.variable

    def nothing(
        self, corner: float = 0.0, pure: float = 0.0, mixed: float = 0.0, sign: float = 0.0
    ) -> Affine:
        r"""An expression that is zero if all rows hold, for adding to a cost.

        It is the sum of ``corner`` times :math:`M_{11} - 1`; for every monomial c of equally many
        factors from W and H, ``pure`` (powers of one product) or ``mixed`` times
        :math:`M_{cc} - M_{ab}` with :math:`c^2 = ab`; and ``sign`` times the differences of the
        traces of `signs` and the moments that equal them. Added to a sum of squares it can give a
        positive definite cost, and then any multipliers prove a bound. Only for k = 1.
        """
        pairs, weights = [(0, 0)], [corner]
        for own, monomial in enumerate(self.matrix.basis):
            half = len(monomial) // 2
            products = list(zip(monomial[:half], monomial[half:], strict=False))
            is_mixed = len(set(products)) > 1
            if half == 0 or (half == self.degree and not is_mixed):
                continue
            if is_mixed:
                low, high = [products[0], *products[:-1]], [*products[1:], products[-1]]
            else:
                low, high = products[1:], [*products, products[0]]
            a, b = sorted(self.matrix.basis.index(_monomial(part)) for part in (low, high))
            weight = mixed if is_mixed else pure
            pairs, weights = [*pairs, (own, own), (a, b)], [*weights, weight, -weight]
        entries = Entries(self.matrix.order, pairs) @ self.matrix.variable
        found = np.array([weights]) @ entries + (-corner)
        for block in self.signs if sign else ():
            found = found + sign * block.nothing()
        return found

    def size(self) -> Affine:
        """The sum of the squares of all entries of W and H."""
        return self.matrix.values([{(v, v): 1.0 for v in range(self._n_variables)}])

    def sums(self) -> Affine:
        """The column sums of W, from the first row."""
        rows, columns = range(self.n_rows), range(self.n_components)
        return self.matrix.values([add(*(self._left(i, a) for i in rows)) for a in columns])

    def corners(self, W: Array, H: Array, coefficients: Array) -> dict[str, Array]:
        """The first column of the matrix: all monomials at W and H."""
        x = np.concatenate([W.ravel(), H.ravel()])
        return {self.matrix.gram: values(self.matrix.basis[1:], x)[:, None]}

    def read(self, found: Mapping[str, Value]) -> tuple[Array, Array, Array | None]:
        """W and H from the first row; for a misfit, which leaves signs free, from the products."""
        k = self.n_components
        if not self.misfit:
            x = np.ones(self._n_variables)
            x[self._free] = self.matrix.read(found[self.matrix.gram], np.array(self._free))
            return x[: self._n_left].reshape(-1, k), x[self._n_left :].reshape(-1, k), None
        every = replace(self, pairs=grid(np.arange(self.n_rows), np.arange(self.n_columns)))
        products = evaluate(self.matrix.values(every.entries()), found)
        U, s, Vt = np.linalg.svd(products.reshape(self.n_rows, -1), full_matrices=False)
        # Factors of equal norms, with column sums of W that are not negative.
        sign = np.where(U[:, :k].sum(axis=0) < 0.0, -1.0, 1.0)
        scale = sign * np.sqrt(s[:k])
        return U[:, :k] * scale, Vt[:k].T * scale, None

    @property
    def _n_left(self) -> int:
        return self.n_rows * self.n_components

    @property
    def _n_variables(self) -> int:
        return self._n_left + self.n_columns * self.n_components

    @property
    def _free(self) -> list[int]:
        """The variables: all entries of W and H but that of the anchor, by number."""
        return [v for v in range(self._n_variables) if v != self.anchor]

    def _left(self, i: int, a: int) -> Polynomial:
        """Entry (i, a) of W as a polynomial."""
        return {() if i == self.anchor else (int(i) * self.n_components + a,): 1.0}


def _monomial(products: list[tuple[int, int]]) -> Monomial:
    """The monomial of products of two variables."""
    return tuple(sorted(v for pair in products for v in pair))
