r"""A pencil of two energies: its least ratio, and proofs that there is no smaller one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError
from sdpdr.families.limits import ROUNDING, least_margin
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.smallest import DENSE_ORDER, smallest_eigenvalue
from sdpdr.linalg.verified import is_verified_positive


@dataclass(frozen=True, eq=False)
class EnergyPencil:
    r"""Two quadratic forms :math:`v^T A v` and :math:`v^T B v`, both non-negative.

    ``above`` and ``below`` are A and B as computed. The true entries, and those of
    :math:`A - \lambda B`, differ by ``above_radius`` and :math:`\lambda` ``below_radius`` at most.
    """

    above: Matrix
    above_radius: Matrix
    below: Matrix
    below_radius: Matrix

    @property
    def order(self) -> int:
        """Order of the matrices."""
        return int(self.above.shape[0])

    @property
    def has_below(self) -> bool:
        """Whether B is not zero."""
        return bool(self.below.diagonal().any())

    @property
    def _is_large(self) -> bool:
        return sp.issparse(self.above) and self.order > DENSE_ORDER

    def system(self, ratio: float) -> tuple[Matrix, Array]:
        r"""Matrix and right side of the values that minimise :math:`A - \lambda B` at scale one."""
        shifted = self.above - ratio * self.below
        right = -shifted[1:, [0]]
        return shifted[1:, 1:], np.ravel(right.toarray() if sp.issparse(right) else right)

    def unlabelled(self) -> EnergyPencil:
        """The same forms without the row and column of the labels."""
        forms = (self.above, self.above_radius, self.below, self.below_radius)
        return EnergyPencil(*(form[1:, 1:] for form in forms))

    def proves(self, ratio: float) -> bool:
        r"""Whether :math:`A - \lambda B \succeq 0` holds for the true forms, rounding included.

        True is a theorem: no vector has :math:`v^T A v < \lambda\, v^T B v`.
        """
        radius = self.above_radius + ratio * self.below_radius
        return is_verified_positive(self.above - ratio * self.below, radius)

    def bound(self, ratio: float, within: float = 1e-3) -> float:
        """A proven lower bound of the least ratio just below one attained; 0 if none is proved."""
        if not (np.isfinite(ratio) and ratio > 0.0):
            return 0.0
        # Factorizations of large sparse pencils cost time and round more.
        options = {"least": ROUNDING} if self._is_large else {}
        margin = least_margin(lambda m: self.proves(ratio * (1.0 - m)), within, **options)
        return 0.0 if margin is None else ratio * (1.0 - margin)

    def least(self) -> tuple[float, Array]:
        r"""The least ratio :math:`v^T A v / v^T B v` and its vector, by one eigenproblem.

        It is one over the largest eigenvalue of :math:`B v = \mu A v`. On a large sparse pencil a
        few Lanczos steps come near it first, which saves factorizations.
        """
        try:
            near = self._largest_roughly() if self._is_large else None
            value, vector = smallest_eigenvalue(-self.below, mass=self.above, near=near)
            if not np.any(vector):
                raise ArithmeticError("the largest eigenvalues are too close to be separated")
        except ArithmeticError as error:
            raise DataError(
                "the eigenproblem is singular to working precision: similarities differ too much "
                f"in size. Drop the smallest ones, or rescale. ({error})"
            ) from None
        return 1.0 / -value if value < 0.0 else float("inf"), vector

    def _largest_roughly(self) -> float | None:
        """Minus an estimate of the largest eigenvalue to a per cent; None if there is none."""
        n, solve = self.order, LdlFactor(self.above).solve
        options = {
            "M": self.above,
            "Minv": spl.LinearOperator((n, n), matvec=solve, dtype=float),
            "v0": np.random.default_rng(0).standard_normal(n),
        }
        try:
            found = spl.eigsh(
                self.below, 1, which="LA", tol=1e-2, return_eigenvectors=False, **options
            )
        except spl.ArpackNoConvergence:
            return None
        return -float(found[0])
