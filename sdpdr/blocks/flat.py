"""Directions in which nothing extends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg import QuadraticForms
from sdpdr.linalg.svec import Array
from sdpdr.model import Block, Equal, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class Flat(Block):
    r"""States that combinations of points vanish, :math:`u^T K u = 0`, hence K u = 0.

    Such rows often follow from others: exact lengths within a clique of more points than its
    dimension needs imply some (`sdpdr.graphs.rigidity`). Stated, they let the reduction ``face``
    restrict K to what is left, where the program has an interior.

    Parameters
    ----------
    null : array of shape (n, p)
        The vectors u as columns.
    gram : str, default "K"

    References
    ----------
    Krislock and Wolkowicz, SIAM J. Optim. 20(5), 2010.
    """

    null: Array
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row per vector."""
        yield Equal(QuadraticForms(np.asarray(self.null).T) @ Var(self.gram), 0.0)
