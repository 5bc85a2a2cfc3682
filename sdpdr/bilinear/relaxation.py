"""An answer of the convex program, and the bases that are rounded from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.bilinear.bases import Bases
from sdpdr.bilinear.certificate import Side
from sdpdr.bilinear.runs import Record, RunStatus
from sdpdr.bilinear.spectra import leading, projected, trace_norm
from sdpdr.linalg.svec import Array


@dataclass(frozen=True, eq=False)
class Relaxation:
    r"""A point of :math:`\max F(T_P, T_Q)` over two Fantopes, and a bound on all of them.

    Attributes
    ----------
    left, right : array of shape (p, p) and (q, q)
        :math:`T_P` and :math:`T_Q`.
    n_components : tuple of two int
        Their traces.
    value : float
        F, at most :math:`f_1 / 2`.
    bound : float
        At least :math:`f_1 / 2`, and so at least :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}` for all
        bases of so many orthonormal columns.
    status : RunStatus
    history : tuple of Record
        One record for each point visited.
    unique : bool
        False where eigenvalues were tied before the matrices were rounded.
    """

    left: Array
    right: Array
    n_components: tuple[int, int]
    value: float
    bound: float
    status: RunStatus
    history: tuple[Record, ...]
    unique: bool = True

    @property
    def gap(self) -> float:
        """``(bound - value) / value``."""
        return (self.bound - self.value) / self.value

    def __repr__(self) -> str:
        return (
            f"Relaxation({self.status.name} after {len(self.history) - 1} steps: value "
            f"{self.value:.8g}, bound {self.bound:.8g}, gap {self.gap:.1e})"
        )

    def spectra(self) -> tuple[Array, Array]:
        """Eigenvalues of both matrices, the largest first; ones and zeros if they round well."""
        return (
            np.linalg.eigvalsh(self.left)[::-1].copy(),
            np.linalg.eigvalsh(self.right)[::-1].copy(),
        )

    def round(self, stack: Array) -> Bases:
        r"""Leading eigenvectors of both matrices, with :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`.

        Parameters
        ----------
        stack : array of shape (n, p, q)
            The matrices.
        """
        first, second = self.n_components
        rows, columns = leading(self.left, first), leading(self.right, second)
        tied = Side.of(self.left).is_tied(first) or Side.of(self.right).is_tied(second)
        value = trace_norm(projected(stack, rows, columns))
        return Bases(rows, columns, value, self.status, self.history, self.unique and not tied)
