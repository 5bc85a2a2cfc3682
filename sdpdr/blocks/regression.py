"""Least squares and sizes of coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.reals import as_real
from sdpdr.linalg.svec import Array, Matrix
from sdpdr.model import Block, Penalize, Var
from sdpdr.model.terms import Term
from sdpdr.program.variables import Variable, VectorVariable


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
