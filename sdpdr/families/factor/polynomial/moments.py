"""A matrix of moments of both factors at once, for factorizations through a polynomial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.families.factor.polynomial.layers import FactorProducts
from sdpdr.linalg import Entries, InnerProduct
from sdpdr.model import Block
from sdpdr.model.affine import Affine
from sdpdr.model.blocks.entries import NonNegative
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
from sdpdr.program.point import Value, as_dense


@dataclass(frozen=True, eq=False)
class Moments(FactorProducts):
    r"""One matrix of rank one, on monomials of all entries of W and H together.

    Anchored entries of W are numbers, not variables.

    Parameters
    ----------
    n_rows, n_columns, pairs, n_components, degree, anchors : see `FactorProducts`
    misfit : bool, default False
        Choose the monomials so that the matrix holds the *squares* of :math:`g(t_{ij})`: 1, the
        entries of W and H, and products, up to D, of equally many entries of W and of H.
        Otherwise all monomials up to degree D.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.families.factor.polynomial.moments import Moments
    >>> every = np.argwhere(np.ones((2, 2)))
    >>> Moments(2, 2, every).matrix.order, Moments(2, 2, every, misfit=True).matrix.order
    (15, 18)
    >>> Moments(2, 2, every, anchors=np.array([0])).matrix.order
    10
    """

    misfit: bool = False

    @cached_property
    def matrix(self) -> MomentMatrix:
        """The matrix."""
        free = sorted(v for v in range(self._n_variables) if v not in self._fixed)
        if not self.misfit:
            every = monomials(len(free), self.degree)
            return MomentMatrix([tuple(free[v] for v in m) for m in every])
        left = [v for v in free if v < self._n_left]
        right = [v for v in free if v >= self._n_left]
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
        found: list[Block] = [self.matrix]
        if nonnegative:
            found.append(NonNegative(self.matrix.order, self.matrix.pairs(), self.matrix.gram))
            found += self.signs
        return found

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
        rows = sp.csr_array(away)
        return InnerProduct(sp.csr_array(rows.T @ rows)) @ self.matrix.variable

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
        rows, weights = [(0, 0)], [corner]
        for own, monomial in enumerate(self.matrix.basis):
            around = self._around(monomial)
            if around is not None:
                is_mixed, low, high = around
                weight = mixed if is_mixed else pure
                rows, weights = [*rows, (own, own), (low, high)], [*weights, weight, -weight]
        entries = Entries(self.matrix.order, rows) @ self.matrix.variable
        found = np.array([weights]) @ entries + (-corner)
        for block in self.signs if sign else ():
            found = found + sign * block.nothing()
        return found

    def entries(self) -> list[Polynomial]:
        r"""The :math:`t_{ij}` as polynomials in the variables."""
        k = self.n_components
        found: list[Polynomial] = []
        for i, j in self.pairs:
            w = [self._left(i, a) for a in range(k)]
            h: list[Polynomial] = [{(self._n_left + j * k + a,): 1.0} for a in range(k)]
            found.append(add(*(multiply(x, y) for x, y in zip(w, h, strict=True))))
        return found

    def size(self) -> Affine:
        """The sum of the squares of all entries of W and H."""
        return self.matrix.values([{(v, v): 1.0 for v in range(self._n_variables)}])

    def sums(self) -> Affine:
        """The column sums of W, from the first row."""
        k = self.n_components
        return self.matrix.values(
            [add(*(self._left(i, a) for i in range(self.n_rows))) for a in range(k)]
        )

    def corners(self, W: Array, H: Array, coefficients: Array) -> dict[str, Array]:
        """The first column of the matrix: all monomials at W and H."""
        x = np.concatenate([W.ravel(), H.ravel()])
        return {self.matrix.gram: values(self.matrix.basis[1:], x)[:, None]}

    def read(self, found: Mapping[str, Value]) -> tuple[Array, Array, Array | None]:
        """W and H from the first row; for a misfit, which leaves signs free, from the products."""
        gram, k = as_dense(found[self.matrix.gram]), self.n_components
        if self.misfit:
            return (*self._halves(gram), None)
        x = np.zeros(self._n_variables)
        x[list(self._fixed)] = list(self._fixed.values())
        free = np.setdiff1d(np.arange(x.size), list(self._fixed))
        x[free] = self.matrix.read(gram, free)
        return x[: self._n_left].reshape(-1, k), x[self._n_left :].reshape(-1, k), None

    def _halves(self, gram: Array) -> tuple[Array, Array]:
        """Factors of the products W H^T, of equal norms, with column sums of W not negative."""
        k = self.n_components
        T = np.zeros((self.n_rows, self.n_columns))
        for i, j, a in np.ndindex(self.n_rows, self.n_columns, k):
            T[i, j] += gram[self.matrix.places[i * k + a, self._n_left + j * k + a][0]]
        U, s, Vt = np.linalg.svd(T, full_matrices=False)
        sign = np.where(U[:, :k].sum(axis=0) < 0.0, -1.0, 1.0)
        scale = sign * np.sqrt(s[:k])
        return U[:, :k] * scale, Vt[:k].T * scale

    @property
    def _n_left(self) -> int:
        return self.n_rows * self.n_components

    @property
    def _n_variables(self) -> int:
        return self._n_left + self.n_columns * self.n_components

    @cached_property
    def _fixed(self) -> dict[int, float]:
        """Variables that are fixed to numbers, by number."""
        k = self.n_components
        if self.anchors is None:
            return {}
        return {
            int(i) * k + a: float(a == place) for place, i in enumerate(self.anchors)
            for a in range(k)
        }  # fmt: skip

    def _around(self, monomial: Monomial) -> tuple[bool, int, int] | None:
        """Whether a monomial c is mixed, and indices of monomials a, b with c^2 = ab; or None."""
        half = len(monomial) // 2
        pairs = list(zip(monomial[:half], monomial[half:], strict=False))
        mixed = len(set(pairs)) > 1
        if half == 0 or (half == self.degree and not mixed):
            return None
        if mixed:
            low, high = [pairs[0], *pairs[:-1]], [*pairs[1:], pairs[-1]]
        else:
            low, high = pairs[1:], [*pairs, pairs[0]]
        place = self.matrix.basis.index
        a, b = (place(tuple(sorted(v for pair in part for v in pair))) for part in (low, high))
        return mixed, min(a, b), max(a, b)

    def _left(self, i: int, a: int) -> Polynomial:
        """Entry (i, a) of W as a polynomial."""
        variable = int(i) * self.n_components + a
        if variable in self._fixed:
            return {(): self._fixed[variable]}
        return {(variable,): 1.0}
