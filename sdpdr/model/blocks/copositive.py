"""Copositive matrices, as far as semidefinite programs reach, and factors along a direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Entries
from sdpdr.linalg.svec import SQRT2, selection, svec, svec_index, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.blocks.lift import FactorLift
from sdpdr.model.terms import AtMost, Equal, Maximize, Minimize, Term
from sdpdr.program.point import PsdVariable, Variable, VectorVariable


@dataclass(frozen=True, eq=False)
class Along(Block):
    r"""Maximises :math:`\langle C, W\rangle` over a factor W of a `FactorLift`.

    Parameters
    ----------
    lift : FactorLift
    direction : array of shape (n_rows, k)
        C.
    """

    lift: FactorLift
    direction: Array

    def terms(self) -> Iterable[Term]:
        """The inner product."""
        weights = np.asarray(self.direction, dtype=float).reshape(1, -1)
        yield Maximize(weights @ self.lift.entries(self.lift.left()))


@dataclass(frozen=True, eq=False)
class Copositive(Block):
    r"""Declares a symmetric M in Parrilo's cone of level one, which makes it copositive.

    With matrices :math:`P_i \succeq 0`, one for each place, and :math:`N^i = M - P_i`,

    .. math::

        N^i_{ii} = 0, \qquad N^i_{jj} + 2 N^j_{ij} \ge 0, \qquad
        N^i_{jk} + N^j_{ik} + N^k_{ij} \ge 0 .

    These are the coefficients of the cubic :math:`(\sum x_i)\, x^T M x - \sum_i x_i\, x^T P_i x`,
    so :math:`x^T M x \ge 0` for every :math:`x \ge 0`.

    Parameters
    ----------
    n : int
        Order.
    matrix : str, default "M"
        Name of M, a vector in svec coordinates.
    part : str, default "P"
        The matrices are ``P0``, ``P1``, ...

    References
    ----------
    P. Parrilo, "Structured semidefinite programs and semialgebraic geometry methods in robustness
    and optimization", PhD thesis, California Institute of Technology, 2000; I. Bomze and E. de
    Klerk, Journal of Global Optimization 24, 2002.
    """

    n: int
    matrix: str = "M"
    part: str = "P"

    def variables(self) -> Iterable[Variable]:
        """M and its parts."""
        yield VectorVariable(self.matrix, svec_size(self.n))
        for i in range(self.n):
            yield PsdVariable(f"{self.part}{i}", self.n)

    def terms(self) -> Iterable[Term]:
        """The coefficients of the cubic, by their kind."""
        cube, mixed, apart = self._triples
        yield Equal(self._coefficients(cube), 0.0, "cube")
        if len(mixed):
            yield AtMost(-self._coefficients(mixed), 0.0, "square")
        if len(apart):
            yield AtMost(-self._coefficients(apart), 0.0, "product")

    @cached_property
    def _triples(self) -> tuple[Index, Index, Index]:
        """Indices of monomials: all equal, two equal, none equal."""
        ordered = [(i, j) for i in range(self.n) for j in range(self.n) if i != j]
        cube = np.column_stack([np.arange(self.n)] * 3)
        mixed = np.array([(i, j, j) for i, j in ordered], dtype=np.int64).reshape(-1, 3)
        apart = np.array(list(combinations(range(self.n), 3)), dtype=np.int64).reshape(-1, 3)
        return cube, mixed, apart

    def _coefficients(self, triples: Index) -> Affine:
        """The mean of N^i_jk over the three choices of i, for triples (i, j, k)."""
        m, total = len(triples), Affine({}, np.zeros(len(triples)))
        owner = np.concatenate([triples[:, c] for c in range(3)])
        first = np.concatenate([triples[:, (c + 1) % 3] for c in range(3)])
        second = np.concatenate([triples[:, (c + 2) % 3] for c in range(3)])
        row = np.tile(np.arange(m), 3)
        total = total + _thirds(self.n, row, first, second, m) @ Var(self.matrix)
        for i in range(self.n):
            own = owner == i
            pairs = np.column_stack([first[own], second[own]])
            pick = sp.csr_array(
                (np.full(own.sum(), -1.0 / 3.0), (row[own], np.arange(own.sum()))),
                shape=(m, int(own.sum())),
            )
            total = total + (pick @ Entries(self.n, pairs)) @ Var(f"{self.part}{i}")
        return total


@dataclass(frozen=True, eq=False)
class Cut(Block):
    r"""Minimises :math:`\langle M, A\rangle` over a matrix in svec coordinates.

    The size of M is limited: :math:`\operatorname{tr} M \le n` and, off the diagonal,
    :math:`M_{ij} \le c`.

    Parameters
    ----------
    target : array of shape (n, n)
        A.
    cap : float
        c.
    matrix : str, default "M"
    """

    target: Array
    cap: float
    matrix: str = "M"

    def terms(self) -> Iterable[Term]:
        """The objective and its limits."""
        A = np.asarray(self.target, dtype=float)
        n = len(A)
        i, j = np.triu_indices(n, 1)
        size, trace = svec_size(n), svec(np.eye(n))[None, :]
        yield Minimize(sp.csr_array(svec(A)[None, :]) @ Var(self.matrix))
        yield AtMost(sp.csr_array(trace) @ Var(self.matrix), float(n), "trace")
        if i.size:
            pick = selection(svec_index(i, j), size, 1.0 / SQRT2)
            yield AtMost(pick @ Var(self.matrix), self.cap, "cap", "c")


@dataclass(frozen=True, eq=False)
class SplitCopositive(Block):
    r"""Declares a symmetric :math:`M = P + N`, P positive semidefinite and N non-negative.

    Parameters
    ----------
    n : int
        Order.
    matrix : str, default "M"
        Name of M, a vector in svec coordinates.
    part : str, default "P"
        Name of P.
    """

    n: int
    matrix: str = "M"
    part: str = "P"

    def variables(self) -> Iterable[Variable]:
        """M and P."""
        yield VectorVariable(self.matrix, svec_size(self.n))
        yield PsdVariable(self.part, self.n)

    def terms(self) -> Iterable[Term]:
        """No entry of M is below that of P."""
        i, j = np.triu_indices(self.n)
        weight = np.where(i == j, 1.0, 1.0 / SQRT2)
        pick = selection(svec_index(i, j), svec_size(self.n), weight)
        inside = Entries(self.n, np.column_stack([i, j])) @ Var(self.part)
        yield AtMost(inside - pick @ Var(self.matrix), 0.0)


def _thirds(n: int, row: Index, i: Index, j: Index, m: int) -> sp.csr_array:
    """Rows that add a third of entries (i, j) of a matrix in svec coordinates."""
    weight = np.where(i == j, 1.0, 1.0 / SQRT2) / 3.0
    return sp.csr_array((weight, (row, svec_index(i, j))), shape=(m, svec_size(n)))
