"""Two factors and all their products in one matrix, and prescribed entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Entries, InnerProduct
from sdpdr.model.affine import Affine, Var
from sdpdr.model.model import Block
from sdpdr.model.terms import Equal, Term
from sdpdr.program.point import PsdVariable, Value


@dataclass(frozen=True, eq=False)
class FactorLift(Block):
    r"""Declares factors W and H with all their products, as one matrix.

    .. math::

        Z = \begin{pmatrix} I_k & W^T & H^T \\ W & \mathcal W & V \\ H & V^T & \mathcal H
        \end{pmatrix} \succeq 0 .

    Z has rank k exactly when :math:`\mathcal W = W W^T`, :math:`\mathcal H = H H^T` and
    :math:`V = W H^T`; the Schur complement of the identity measures the difference. Blocks refer
    to entries of Z by the pairs of indices given here:
    ``Entries(lift.order, lift.product()) @ Var(lift.gram)`` is V, row by row.

    Parameters
    ----------
    n_components : int
        k.
    n_rows : int
        Rows of W.
    n_columns : int, default 0
        Rows of H; none for a factorization :math:`\mathcal W = W W^T`.
    gram : str, default "Z"

    References
    ----------
    Vasiloglou thesis, (2.71) and (2.95); with the product in rows of W, it is V and not its
    transpose that stands at (W, H), unlike in the text.

    Examples
    --------
    >>> from sdpdr.blocks import FactorLift
    >>> lift = FactorLift(1, 2, 1)
    >>> lift.order, lift.left().tolist(), lift.product().tolist()
    (4, [[0, 1], [0, 2]], [[1, 3], [2, 3]])
    """

    n_components: int
    n_rows: int
    n_columns: int = 0
    gram: str = "Z"

    @property
    def order(self) -> int:
        """The order of Z, which is k + n_rows + n_columns."""
        return self.n_components + self.n_rows + self.n_columns

    @property
    def rows(self) -> Index:
        """Indices in Z of the rows of W."""
        return self.n_components + np.arange(self.n_rows)

    @property
    def columns(self) -> Index:
        """Indices in Z of the rows of H."""
        return self.n_components + self.n_rows + np.arange(self.n_columns)

    def left(self) -> Index:
        """Pairs of indices that hold W, row by row; shape (n_rows k, 2)."""
        return grid(self.rows, np.arange(self.n_components))[:, ::-1]

    def right(self) -> Index:
        """Pairs of indices that hold H, row by row; shape (n_columns k, 2)."""
        return grid(self.columns, np.arange(self.n_components))[:, ::-1]

    def product(self) -> Index:
        """Pairs of indices that hold V, row by row; shape (n_rows n_columns, 2)."""
        return grid(self.rows, self.columns)

    def entries(self, pairs: Index) -> Affine:
        """The entries of Z at pairs of indices."""
        return Entries(self.order, pairs) @ Var(self.gram)

    def variables(self) -> Iterable[PsdVariable]:
        """The whole matrix."""
        yield PsdVariable(self.gram, self.order)

    def terms(self) -> Iterable[Term]:
        """The leading block is the identity."""
        pairs = np.column_stack(np.triu_indices(self.n_components))
        unit = (pairs[:, 0] == pairs[:, 1]).astype(float)
        yield Equal(self.entries(pairs), unit, symbol="δ_ij")

    def read(self, value: Value) -> tuple[Array, Array]:
        """W and H read from a matrix Z, shapes (n_rows, k) and (n_columns, k)."""
        k = self.n_components
        below = np.asarray(value[k:, :k], dtype=float)
        return below[: self.n_rows], below[self.n_rows :]


@dataclass(frozen=True, eq=False)
class Known(Block):
    r"""Prescribes entries, :math:`Z_{ij} = v_{ij}`.

    Parameters
    ----------
    n : int
        Order of the matrix.
    pairs : array_like of int, shape (p, 2)
    values : array_like of shape (p,) or number
    gram : str, default "Z"
    """

    n: int
    pairs: Index
    values: Array | float
    gram: str = "Z"

    def terms(self) -> Iterable[Term]:
        """One row for each entry."""
        yield Equal(Entries(self.n, self.pairs) @ Var(self.gram), self.values, symbol="v_ij")


def grid(first: Index, second: Index) -> Index:
    """All pairs of two lists of indices; the second index varies fastest."""
    i, j = np.meshgrid(first, second, indexing="ij")
    return np.column_stack([i.ravel(), j.ravel()])


def product_pairs(shape: tuple[int, int]) -> Index:
    """Pairs of indices of the entries of X in its lift, row by row, shape (p q, 2).

    Examples
    --------
    >>> product_pairs((1, 2)).tolist()
    [[0, 1], [0, 2]]
    """
    return grid(np.arange(shape[0]), shape[0] + np.arange(shape[1]))


def crossed(values: Array) -> InnerProduct:
    """The inner product of values with the upper right block of a matrix."""
    half = sp.csr_array(0.5 * values)
    return InnerProduct(sp.block_array([[None, half], [half.T, None]], format="csr"))
