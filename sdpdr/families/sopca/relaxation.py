"""A point of the convex program of two bases, its bound, and the bases rounded from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.families.sopca.bases import Bases, projected, trace_norm
from sdpdr.families.sopca.convex import Spectrum
from sdpdr.families.sopca.runs import RunStatus
from sdpdr.linalg.spectral import fix_signs


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
    history : tuple of float
        The value at each point visited.
    unique : bool
        False where eigenvalues were tied before the matrices were rounded.
    """

    left: Array
    right: Array
    n_components: tuple[int, int]
    value: float
    bound: float
    status: RunStatus
    history: tuple[float, ...]
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
        """Eigenvalues of both matrices, the largest first; near 0 or 1 if they round well."""
        left, right = (np.asarray(np.linalg.eigvalsh(T)[::-1]) for T in (self.left, self.right))
        return left, right

    def round(self, stack: Array) -> Bases:
        r"""Leading eigenvectors of both matrices, with :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`.

        Parameters
        ----------
        stack : array of shape (n, p, q)
            The matrices.
        """
        pairs = zip((self.left, self.right), self.n_components, strict=True)
        sides = [(Spectrum.of(T), k) for T, k in pairs]
        rows, columns = (fix_signs(side.vectors[:, ::-1][:, :k]) for side, k in sides)
        tied = any(side.is_tied(k) for side, k in sides)
        value = trace_norm(projected(stack, rows, columns))
        return Bases(rows, columns, value, self.status, self.history, self.unique and not tied)
