r"""Derivatives: rows along a factor, and the second derivative of the augmented Lagrangian.

Row e changes by :math:`\sum_i g_{ei}^T dR_i` with :math:`g_{ei} = 2 (A_e R)_i`. Rows on entries
give a sparse matrix. Rows that are forms in long vectors touch every point, so they are applied.

.. math:: \nabla^2 L[D] = 2 S D + \sigma J^T J D + Q D,

with the rows J that are not cut off; S is the dual slack at the present estimate.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.general.lagrangian import Local


class Jacobian:
    """Pairs (row, point) of the sparse part of some forms, the objective left out.

    Parameters
    ----------
    forms : Forms

    Attributes
    ----------
    row, point : arrays of int, shape (q,)
        Row and point of each pair, sorted.

    Examples
    --------
    >>> from sdpdr.linalg import Entries, Stacked, Trace
    >>> from sdpdr.solvers.lowrank.general.parts import part_of
    >>> jacobian = Jacobian(Forms(part_of(Stacked([Trace(2), Entries(2, [[0, 1]])]))))
    >>> jacobian.matrix(np.array([[3.0], [4.0]])).toarray()
    array([[4., 3.]])
    """

    def __init__(self, forms: Forms) -> None:
        rows = forms.matrix[1:].tocoo()
        i, j = forms.i[rows.col], forms.j[rows.col]
        row = np.concatenate([rows.row, rows.row]).astype(np.intp)
        point, other = np.concatenate([i, j]), np.concatenate([j, i])
        keys, pair = np.unique(row * forms.n + point, return_inverse=True)
        self.row, self.point = keys // forms.n, keys % forms.n
        self.m, self.n, self.forms = forms.m - 1, forms.n, forms
        values = np.concatenate([rows.data, rows.data])
        self._mix = sp.csr_array((values, (pair, other)), shape=(keys.size, forms.n))
        self._starts = np.searchsorted(self.row, np.arange(self.m + 1))
        self.has_forms = bool(forms.weights[1:].nnz)
        self.is_single: NDArray[np.bool_] = np.diff(self._mix.indptr) == 1

    def singles(self, chosen: NDArray[np.bool_]) -> tuple[Index, Index, Array]:
        """For pairs with ``is_single``: the point, the other point, and a with g = a R_other."""
        at = self._mix.indptr[:-1][chosen]
        return self.point[chosen], self._mix.indices[at].astype(np.intp), self._mix.data[at]

    def vectors(self, factor: Array) -> Array:
        """The vectors g of all pairs; shape (q, r)."""
        return np.asarray(self._mix @ factor)

    def matrix(self, factor: Array, kept: NDArray[np.bool_] | None = None) -> sp.csr_array:
        """Derivative of the rows on entries, as a sparse (m, n r) matrix.

        Parameters
        ----------
        factor : array of shape (n, r)
        kept : array of bool, shape (m,), optional
            Rows to keep; the others are filled with zeros.
        """
        r = factor.shape[1]
        values = self.vectors(factor)
        if kept is not None and not kept.all():
            values = values * kept[self.row][:, None]
        parts = (values.ravel(), spread(0, self.point, r), self._starts * r)
        return sp.csr_array(parts, shape=(self.m, self.n * r))


def spread(start: int, points: Index, r: int) -> Index:
    """Places of all r columns of some points, in factors row by row that begin at one."""
    return np.asarray((start + points.astype(np.intp)[:, None] * r + np.arange(r)).ravel())


# What the calls of one product cost, in multiplications.
_OVERHEAD = 2e5


class Hessian:
    """Products with the second derivative.

    Parameters
    ----------
    local : Local
    jacobians : list of Jacobian
        One for each matrix variable.
    kept : array of bool, shape (m,), optional
        Rows to count as not cut off; those of the point itself by default. Counting more of them
        gives a larger matrix, so that steps foresee rows they are about to hit.

    Attributes
    ----------
    rows : list of sparse arrays of shape (m, n_k r_k)
        Derivative of the rows with respect to each factor, rows that are cut off left empty.
    """

    def __init__(
        self, local: Local, jacobians: list[Jacobian], kept: NDArray[np.bool_] | None = None
    ) -> None:
        self.local = local
        self.kept = local.active if kept is None else kept
        layout = local.function.layout
        self._factors, _ = layout.split(local.vector)
        self.jacobians = jacobians
        pairs = zip(jacobians, self._factors, strict=True)
        self.rows = [jacobian.matrix(factor, self.kept) for jacobian, factor in pairs]
        self._adjoints = [sp.csr_array(j.T) for j in self.rows]
        self.free = sp.csr_array(layout.problem.free[1:].multiply(self.kept[:, None]))
        self._free_adjoint = sp.csr_array(self.free.T)

    @property
    def cost(self) -> float:
        """Multiplications in one product, blocks of a preconditioner included."""
        shapes, slacks = self.local.function.layout.shapes, self.local.slacks
        products = [s.count * r + 2 * n * r**2 for s, (n, r) in zip(slacks, shapes, strict=True)]
        return float(_OVERHEAD + sum(products) + 2 * sum(j.nnz for j in self.rows))

    def derivative(self, change: Array) -> Array:
        """J D, the slope of the rows that are not cut off; shape (m,)."""
        parts, free = self.local.function.layout.split(change)
        total = self.free @ free
        triples = zip(self.rows, self.jacobians, self._factors, parts, strict=True)
        for rows, jacobian, factor, part in triples:
            total = total + rows @ part.ravel()
            if jacobian.has_forms:
                total = total + self.kept * jacobian.forms.form_slopes(factor, part)[1:]
        return np.asarray(total)

    def adjoint(self, weights: Array) -> Array:
        """J^T w."""
        weights = np.where(self.kept, weights, 0.0)
        products = []
        for adjoint, jacobian, factor in zip(
            self._adjoints, self.jacobians, self._factors, strict=True
        ):
            product = (adjoint @ weights).reshape(factor.shape)
            if jacobian.has_forms:
                full = np.concatenate([[0.0], weights])
                product = product + 2.0 * jacobian.forms.form_product(full, factor)
            products.append(product)
        return self.local.function.layout.join(products, self._free_adjoint @ weights)

    def __matmul__(self, change: Array) -> Array:
        """The product with a direction that lies in the faces."""
        layout = self.local.function.layout
        parts, free = layout.split(change)
        curved = [2.0 * (s @ p) for s, p in zip(self.local.slacks, parts, strict=True)]
        total = layout.join(curved, layout.problem.curvature * free)
        total = total + self.adjoint(self.local.function.penalty * self.derivative(change))
        return layout.project(total)
