"""Matrices of products of monomials, which make polynomials linear if their rank is one.

A monomial is the sorted tuple of the numbers of its variables, repeated by their exponents:
``(0, 0, 2)`` is :math:`x_0^2 x_2`, and ``()`` is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError
from sdpdr.linalg import Entries, Trace
from sdpdr.model.affine import Affine, Var
from sdpdr.model.model import Block
from sdpdr.model.terms import Equal, Term
from sdpdr.program.point import PsdVariable, Value, as_dense

Monomial: TypeAlias = "tuple[int, ...]"
Polynomial: TypeAlias = "Mapping[Monomial, float]"


def monomials(n: int, degree: int) -> tuple[Monomial, ...]:
    r"""All :math:`\binom{n + D}{D}` monomials of n variables up to a degree D, 1 first.

    Examples
    --------
    >>> monomials(2, 2)
    ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
    """
    return tuple(m for d in range(degree + 1) for m in combinations_with_replacement(range(n), d))


def add(*terms: Polynomial) -> dict[Monomial, float]:
    """Sum of polynomials.

    Examples
    --------
    >>> add({(0,): 1.0}, {(0,): 2.0, (): 1.0})
    {(0,): 3.0, (): 1.0}
    """
    total: dict[Monomial, float] = {}
    for polynomial in terms:
        for monomial, value in polynomial.items():
            total[monomial] = total.get(monomial, 0.0) + value
    return total


def multiply(first: Polynomial, second: Polynomial) -> dict[Monomial, float]:
    """Product of two polynomials.

    Examples
    --------
    >>> multiply({(0,): 1.0, (): 1.0}, {(0,): 1.0, (): -1.0})
    {(0, 0): 1.0, (0,): 0.0, (): -1.0}
    """
    total: dict[Monomial, float] = {}
    for a, x in first.items():
        for b, y in second.items():
            product = tuple(sorted(a + b))
            total[product] = total.get(product, 0.0) + x * y
    return total


def compose(coefficients: Iterable[float], inner: Polynomial) -> dict[Monomial, float]:
    r"""The polynomial :math:`\sum_l c_l p^l`, l = 1, 2, ..., of a polynomial p.

    Examples
    --------
    >>> compose([1.0, 0.5], {(0, 1): 1.0})
    {(0, 1): 1.0, (0, 0, 1, 1): 0.5}
    """
    total: dict[Monomial, float] = {}
    power: dict[Monomial, float] = {(): 1.0}
    for c in coefficients:
        power = multiply(power, inner)
        total = add(total, {m: float(c) * v for m, v in power.items()})
    return total


def values(chosen: Sequence[Monomial], x: Array) -> Array:
    """Monomials at a point x of shape (n,).

    Examples
    --------
    >>> values([(), (0,), (0, 1)], np.array([2.0, 3.0]))
    array([1., 2., 6.])
    """
    return np.array([np.prod(x[list(m)]) for m in chosen])


@dataclass(frozen=True, eq=False)
class MomentMatrix(Block):
    r"""Declares the products of monomials, :math:`M = z z^T` if M has rank one.

    .. math::

        z = (1, x_1, \dots, x_n, x_1^2, x_1 x_2, \dots),\qquad M \succeq 0,\quad M_{11} = 1,\quad
        M_{ab} = M_{cd} \text{ wherever } z_a z_b \text{ and } z_c z_d \text{ are one monomial.}

    At a higher rank M may hold the moments of z under some distribution, or only pseudo-moments,
    which satisfy the same equalities.

    Parameters
    ----------
    basis : sequence of monomials
        z, each a sorted tuple of numbers of variables; 1, which is ``()``, comes first.
    gram : str, default "M"

    Raises
    ------
    ModelError
        1 does not come first, or a monomial comes twice.

    References
    ----------
    Vasiloglou thesis, (3.116)-(3.119), with a row for every monomial once rather than for every
    product of variables, and with the equalities, which are missing there. J. B. Lasserre, SIAM
    Journal on Optimization 11(3), 2001.

    Examples
    --------
    >>> from sdpdr.blocks import MomentMatrix
    >>> block = MomentMatrix.up_to(4, 2)
    >>> block.order, len(block.places)
    (15, 70)
    >>> hankel = MomentMatrix.up_to(1, 2)
    >>> [sorted(pairs) for pairs in hankel.places.values() if len(pairs) > 1]
    [[(0, 2), (1, 1)]]
    """

    basis: Sequence[Monomial]
    gram: str = "M"

    def __post_init__(self) -> None:
        if not self.basis or self.basis[0] != ():
            raise ModelError("the first monomial of a moment matrix is 1, written ().")
        if len(set(self.basis)) < len(self.basis):
            raise ModelError("each monomial of a moment matrix is named once.")

    @classmethod
    def up_to(cls, n_variables: int, degree: int, gram: str = "M") -> MomentMatrix:
        """All monomials of a number of variables up to a degree."""
        return cls(monomials(n_variables, degree), gram)

    @property
    def order(self) -> int:
        """Number of monomials in z."""
        return len(self.basis)

    @cached_property
    def places(self) -> dict[Monomial, list[tuple[int, int]]]:
        """Every monomial in M, and the pairs of indices at which it stands."""
        found: dict[Monomial, list[tuple[int, int]]] = {}
        for a, first in enumerate(self.basis):
            for b in range(a, self.order):
                found.setdefault(tuple(sorted(first + self.basis[b])), []).append((a, b))
        return found

    def pairs(self) -> Index:
        """The first pair of indices of every monomial but 1; shape (p, 2)."""
        return np.array([p[0] for m, p in self.places.items() if m], dtype=np.intp)

    def values(self, polynomials: Sequence[Polynomial]) -> Affine:
        """An expression with the value of each polynomial.

        Raises
        ------
        ModelError
            A monomial of a polynomial is not in M.
        """
        wanted = list(dict.fromkeys(m for p in polynomials for m in p))
        for monomial in wanted:
            if monomial not in self.places:
                raise ModelError(
                    f"the monomial {monomial} is not a product of two monomials of the moment "
                    "matrix's basis; give a basis of a higher degree."
                )
        column = {m: c for c, m in enumerate(wanted)}
        entries = [(r, column[m], v) for r, p in enumerate(polynomials) for m, v in p.items()]
        row, place, value = (np.array(part) for part in zip(*entries, strict=True))
        weights = sp.csr_array((value, (row, place)), (len(polynomials), len(wanted)))
        return weights @ (Entries(self.order, [self.places[m][0] for m in wanted]) @ self.variable)

    @property
    def variable(self) -> Var:
        """M, as a variable of expressions."""
        return Var(self.gram)

    def variables(self) -> Iterable[PsdVariable]:
        """M."""
        yield PsdVariable(self.gram, self.order)

    def terms(self) -> Iterable[Term]:
        """The entry of 1 is 1, and entries of equal monomials are equal."""
        yield Equal(Entries(self.order, [(0, 0)]) @ self.variable, 1.0, "one")
        tied = [(p[0], other) for p in self.places.values() for other in p[1:]]
        if tied:
            first, other = (Entries(self.order, part) for part in zip(*tied, strict=True))
            yield Equal((first - other) @ self.variable, 0.0, "equal", "0")

    def read(self, value: Value, variables: Index) -> Array:
        """Variables, by number, read from the first row of a matrix M."""
        where = {m[0]: a for a, m in enumerate(self.basis) if len(m) == 1}
        return as_dense(value)[0, [where[int(v)] for v in variables]]


@dataclass(frozen=True, eq=False)
class Localized(Block):
    r"""Restricts moments to points at which a polynomial is nonnegative.

    .. math:: L = \bigl(\ell(p\, y_a y_b)\bigr)_{ab} \succeq 0

    for monomials y, where :math:`\ell` maps a polynomial to its value in the moment matrix.

    Parameters
    ----------
    matrix : MomentMatrix
    polynomial : Polynomial
        p.
    basis : sequence of monomials
        y.
    gram : str, default "L"

    References
    ----------
    J. B. Lasserre, SIAM Journal on Optimization 11(3), 2001.
    """

    matrix: MomentMatrix
    polynomial: Polynomial
    basis: Sequence[Monomial]
    gram: str = "L"

    def variables(self) -> Iterable[PsdVariable]:
        """L."""
        yield PsdVariable(self.gram, len(self.basis))

    def terms(self) -> Iterable[Term]:
        """One row for each entry of L."""
        pairs = list(combinations_with_replacement(range(len(self.basis)), 2))
        own = Entries(len(self.basis), pairs) @ Var(self.gram)
        moments = [self._times(self.basis[a] + self.basis[b]) for a, b in pairs]
        yield Equal(own - self.matrix.values(moments), 0.0, symbol="0")

    def nothing(self) -> Affine:
        """The trace of L minus the moments that equal it: zero if all rows hold."""
        squares = add(*(self._times(2 * m) for m in self.basis))
        return Trace(len(self.basis)) @ Var(self.gram) - self.matrix.values([squares])

    def _times(self, monomial: Monomial) -> dict[Monomial, float]:
        """The polynomial times a monomial."""
        return multiply(self.polynomial, {tuple(sorted(monomial)): 1.0})
