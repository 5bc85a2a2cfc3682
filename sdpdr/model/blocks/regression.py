"""Least squares, sizes of coefficients, and a scale for a matrix with a price on its entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, as_real
from sdpdr.linalg import Entries, InnerProduct
from sdpdr.model.affine import Var
from sdpdr.model.block import Block
from sdpdr.model.terms import Equal, Penalize, Term
from sdpdr.program.point import Variable, VectorVariable


@dataclass(frozen=True, eq=False)
class LeastSquares(Block):
    r"""Declares coefficients a and an intercept, and charges :math:`|X a + b \mathbf 1 - y|^2`.

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
    y : array of shape (n,)
    name : str, default "a"
        Of the vector of the m coefficients; the intercept is called ``name_0``.
    """

    X: Matrix
    y: Array
    name: str = "a"

    def variables(self) -> Iterable[Variable]:
        """Coefficients and intercept."""
        yield VectorVariable(self.name, self.X.shape[1])
        yield VectorVariable(f"{self.name}_0", 1)

    def terms(self) -> Iterable[Term]:
        """A square price on every residual."""
        ones = sp.csr_array(np.ones((self.X.shape[0], 1)))
        fitted = as_real(self.X) @ Var(self.name) + ones @ Var(f"{self.name}_0")
        yield Penalize(fitted, self.y, "square", 2.0, symbol="y_i")


@dataclass(frozen=True, eq=False)
class SquaredSize(Block):
    r"""Charges :math:`\alpha |P a|^2` for coefficients.

    Parameters
    ----------
    penalty : array or sparse array of shape (p, m)
        P.
    weight : float
        :math:`\alpha`, positive.
    name : str, default "a"
    """

    penalty: Matrix
    weight: float
    name: str = "a"

    def terms(self) -> Iterable[Term]:
        """A square price on every row of P a."""
        rows = as_real(self.penalty) @ Var(self.name)
        yield Penalize(rows, 0.0, "square", 2.0 * self.weight)


@dataclass(frozen=True, eq=False)
class AbsoluteSize(Block):
    r"""Charges :math:`\beta |a|_1` for coefficients, so that few stay.

    Parameters
    ----------
    size : int
        m.
    weight : float
        :math:`\beta`, positive.
    name : str, default "a"
    """

    size: int
    weight: float
    name: str = "a"

    def terms(self) -> Iterable[Term]:
        """A price on every coefficient."""
        each = sp.eye_array(self.size, format="csr") @ Var(self.name)
        yield Penalize(each, 0.0, "absolute", self.weight)


@dataclass(frozen=True, eq=False)
class Normalized(Block):
    r"""Fixes a scale, :math:`\langle B, Z\rangle = \beta`.

    Parameters
    ----------
    matrix : array or sparse array of shape (n, n)
        B, symmetric.
    value : float, default 1
        :math:`\beta`.
    gram : str, default "Z"
    """

    matrix: Matrix
    value: float = 1.0
    gram: str = "Z"

    def terms(self) -> Iterable[Term]:
        """One row."""
        yield Equal(InnerProduct(self.matrix) @ Var(self.gram), self.value)


@dataclass(frozen=True, eq=False)
class EntryPrice(Block):
    r"""Charges :math:`\rho \sum_{ij} |Z_{ij}|`, so that few entries stay.

    Parameters
    ----------
    n : int
    weight : float
        :math:`\rho`, positive.
    gram : str, default "Z"

    References
    ----------
    d'Aspremont, El Ghaoui, Jordan and Lanckriet, "A direct formulation for sparse PCA using
    semidefinite programming", SIAM Review 49(3), 2007.
    """

    n: int
    weight: float
    gram: str = "Z"

    def terms(self) -> Iterable[Term]:
        """A price on every entry above the diagonal twice, and on the diagonal once."""
        pairs = np.column_stack(np.triu_indices(self.n))
        weights = self.weight * np.where(pairs[:, 0] == pairs[:, 1], 1.0, 2.0)
        yield Penalize(Entries(self.n, pairs) @ Var(self.gram), 0.0, "absolute", weights)
