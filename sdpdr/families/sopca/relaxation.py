"""A point of the convex program of two bases, its bound, and the bases rounded from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.families.sopca.bases import Bases, projected, trace_norm
from sdpdr.families.sopca.convex import Pair, Sizes, Spectrum
from sdpdr.families.sopca.runs import RunRecord, RunStatus, RunStep, follow
from sdpdr.linalg.spectral import fix_signs

# Both matrices, and whether the bases rounded from them are unique.
SpectralPoint = tuple[Spectrum, Spectrum, bool]


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
    history : tuple of RunRecord
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
    history: tuple[RunRecord, ...]
    unique: bool = True

    @classmethod
    def of(
        cls, steps: Iterator[RunStep[SpectralPoint]], inside: Pair, ks: Sizes, **limits: Any
    ) -> Relaxation:
        """The end of steps in coordinates of the spans ``inside``; see `follow` for the limits."""
        run = follow(steps, **limits)
        *sides, unique = run.point
        left, right = (U @ side.matrix @ U.T for U, side in zip(inside, sides, strict=True))
        return cls(left, right, ks, run.value, run.bound, run.status, run.history, unique)

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
        sides = [
            (Spectrum.of(m), k)
            for m, k in zip((self.left, self.right), self.n_components, strict=True)
        ]
        rows, columns = (fix_signs(side.vectors[:, ::-1][:, :k]) for side, k in sides)
        tied = any(side.is_tied(k) for side, k in sides)
        value = trace_norm(projected(stack, rows, columns))
        return Bases(rows, columns, value, self.status, self.history, self.unique and not tied)
