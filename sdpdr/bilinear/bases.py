"""A pair of bases and what they keep of a stack of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.bilinear.runs import Record, RunStatus
from sdpdr.bilinear.spectra import projected, trace_norm
from sdpdr.linalg.svec import Array


@dataclass(frozen=True, eq=False)
class Bases:
    r"""Orthonormal columns A of shape (p, k) and B of shape (q, k).

    Attributes
    ----------
    rows, columns : array
        A and B.
    value : float
        What the method raises, for these bases; see there.
    status : RunStatus
    history : tuple of Record
        Empty for closed forms.
    unique : bool
        False where eigenvalues are tied, so that other bases are as good to the method.
    """

    rows: Array
    columns: Array
    value: float
    status: RunStatus = RunStatus.CONVERGED
    history: tuple[Record, ...] = ()
    unique: bool = True

    def __repr__(self) -> str:
        shapes = f"{self.rows.shape} and {self.columns.shape}"
        return f"Bases({self.status.name}: {shapes}, value {self.value:.8g})"

    def transform(self, stack: ArrayLike) -> Array:
        """The matrices :math:`A^T M_i B`."""
        return projected(np.asarray(stack, dtype=float), self.rows, self.columns)

    def kept(self, stack: ArrayLike) -> float:
        r""":math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, the objective of (4.9)."""
        return trace_norm(self.transform(stack))

    def energy(self, stack: ArrayLike) -> float:
        r""":math:`\sum_i |A^T M_i B|_F^2`, the objective of GLRAM, (4.6)."""
        return float(np.sum(np.square(self.transform(stack))))
