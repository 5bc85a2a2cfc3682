"""A scale for a matrix, and a price on its entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg import Entries, InnerProduct
from sdpdr.linalg.svec import Matrix
from sdpdr.model import Block, Equal, Penalize, Var
from sdpdr.model.terms import Term


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
