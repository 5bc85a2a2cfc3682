"""Dependence of an embedding on side information."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg import QuadraticForms
from sdpdr.linalg.svec import Array
from sdpdr.model import Block, Maximize, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class Dependence(Block):
    r"""Maximises dependence on side information, :math:`\langle H F F^T H, K\rangle`.

    H subtracts means. Over :math:`(n - 1)^2` it is the Hilbert-Schmidt independence criterion of
    K and the kernel :math:`F F^T`. The kernel is never formed.

    Parameters
    ----------
    side : array of shape (n, q)
        F, for instance one column per class with ones for its members.
    signs : array of shape (q,), optional
        1 or -1 for each column, for kernels that are not positive; all one by default.
    gram : str, default "K"

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.
    """

    side: Array
    signs: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """Maximise the sum of one quadratic form per column."""
        F = np.asarray(self.side, dtype=float)
        forms = QuadraticForms((F - F.mean(axis=0)).T)
        signs = np.ones(forms.m) if self.signs is None else np.asarray(self.signs, dtype=float)
        yield Maximize(signs[None, :] @ forms @ Var(self.gram))
