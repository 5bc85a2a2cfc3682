r"""Newton's method on the multipliers of a nearest matrix.

.. math::

    \min_{X \succeq 0}\ \tfrac{\rho}{2} \|X - G\|_F^2
    \quad\text{s.t.}\quad A(X) = b\ (\text{or} \le b)

is the projection of G onto a slice of a cone. Without its rows it is :math:`\Pi(G)`, G with its
negative eigenvalues cut off; so the negative of its dual is, up to a constant, a smooth function of
the multipliers alone,

.. math::

    \min_y\ b^T y + \tfrac{\rho}{2} \|\Pi(G - A^*(y) / \rho)\|_F^2 ,

with a semismooth gradient, which Newton's method minimises in some ten steps. A step takes one
decomposition, and conjugate gradients with products of matrices, so that nothing is kept that is
larger than X. Multipliers of inequalities stay non-negative: those at zero that the gradient keeps
there are left out of a step, and the step is projected (Bertsekas 1982).

For all multipliers the dual slack is :math:`\rho\,\Pi(A^*(y) / \rho - G)`, positive
semidefinite, so they prove a bound at every step. See Malick, A dual approach to semidefinite
least-squares problems, SIAM J. Matrix Anal. Appl. 26 (2004); Qi and Sun, A quadratically convergent
Newton method for computing the nearest correlation matrix, ibid. 28 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse.linalg as spl
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.linalg.svec import smat, svec
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Progress
from sdpdr.solvers.nearest.program import NearestProgram

# Entries of all constraint matrices, rotated by the eigenvectors, up to which a step is solved
# directly.
_DIRECT = 1_000_000
# Conjugate gradients: the largest number of products, and the residual relative to the gradient.
_PRODUCTS, _FORCING = 300, 1e-2
# The line search accepts this share of the decrease that the tangent predicts or, where values
# agree to rounding, this share of the gradient; and it halves the step at most this many times.
_DECREASE_SHARE, _GRADIENT_SHARE, _MAX_HALVINGS = 1e-4, 0.9, 30
# Bounds of the shift added to the second derivative, relative to the mean of its largest diagonal
# entries. Between them the shift is as large as the error of the rows.
_LEAST_SHIFT, _LARGEST_SHIFT = 1e-12, 1e-3
_VALUE_ROUNDING = 1e-14  # of the value, relative to its terms


@dataclass(frozen=True, eq=False)
class At:
    """Multipliers, and the matrix that is nearest for them.

    Attributes
    ----------
    program : NearestProgram
    y : array
    x : array
        In the order of ``svec``.
    eigenvalues, vectors : array
        Eigenvalues, ascending, and eigenvectors of the projected matrix.
    value : float
        What is minimised.
    gradient : array
    """

    program: NearestProgram
    y: Array
    x: Array
    eigenvalues: Array
    vectors: Array
    value: float
    gradient: Array

    @classmethod
    def of(cls, program: NearestProgram, y: Array) -> At:
        """The matrix by one decomposition."""
        left = program.given - (program.adjoint @ y) / program.scale
        eigenvalues, vectors = np.linalg.eigh(smat(left))
        positive = np.maximum(eigenvalues, 0.0)
        first = int(np.searchsorted(eigenvalues, 0.0, side="right"))
        kept = vectors[:, first:]
        x = svec((kept * positive[first:]) @ kept.T)
        value = float(program.rhs @ y) + 0.5 * program.scale * float(positive @ positive)
        return cls(program, y, x, eigenvalues, vectors, value, program.rhs - program.rows @ x)

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Multipliers at zero that stay there."""
        return self.program.is_limit & (self.y <= 0.0) & (self.gradient >= 0.0)

    @cached_property
    def missed(self) -> float:
        """How far rows are missed, and limits with a multiplier are not met, over their terms."""
        program = self.program
        given = program.compliance * self.y
        kept = np.where(program.is_limit, np.minimum(given, self.gradient), self.gradient)
        terms = program.sizes @ np.abs(self.x) + np.abs(program.rhs)
        missed, size = (float(np.max(np.abs(part), initial=0.0)) for part in (kept, terms))
        return missed / size if missed else 0.0

    @cached_property
    def shares(self) -> tuple[int, Array]:
        """How many eigenvalues are not positive, and shares of a change between the two kinds."""
        low = int(np.searchsorted(self.eigenvalues, 0.0, side="right"))
        minus, plus = self.eigenvalues[:low], self.eigenvalues[low:]
        return low, plus[None, :] / (plus[None, :] - minus[:, None])

    def changed(self, change: Array) -> Array:
        """The derivative of the projection along a symmetric matrix."""
        low, mixed = self.shares
        minus, plus = self.vectors[:, :low], self.vectors[:, low:]
        if plus.shape[1] <= low:
            turned = plus.T @ change
            inner = 0.5 * (turned @ plus) @ plus.T + (mixed.T * (turned @ minus)) @ minus.T
            half = plus @ inner
            return half + half.T
        turned = minus.T @ change
        inner = 0.5 * (turned @ minus) @ minus.T + ((1.0 - mixed) * (turned @ plus)) @ plus.T
        half = minus @ inner
        return change - (half + half.T)

    def direction(self) -> Array:
        """A step of Newton's on the multipliers that may move."""
        free = np.flatnonzero(~self.held)
        right = -self.gradient[free]
        n = self.eigenvalues.size
        if free.size * n * n <= _DIRECT:
            found = self._solved(free, right)
        else:
            found = self._iterated(free, right)
        step = np.zeros(self.y.size)
        step[free] = found
        return step

    @property
    def _shift(self) -> float:
        """What is added to the second derivative, which may be singular away from an optimum."""
        share = min(_LARGEST_SHIFT, max(self.missed, _LEAST_SHIFT))
        return float(self.program.compliance.mean()) * share

    def _solved(self, free: NDArray[np.intp], right: Array) -> Array:
        n = self.eigenvalues.size
        turned = self.vectors.T @ self.program.matrices[free] @ self.vectors
        turned = turned.reshape(free.size, n * n)
        low, mixed = self.shares
        weights = np.zeros((n, n))
        weights[low:, low:], weights[:low, low:], weights[low:, :low] = 1.0, mixed, mixed.T
        second = (turned * weights.ravel()) @ turned.T / self.program.scale
        second[np.diag_indices(free.size)] += self._shift
        return np.asarray(np.linalg.solve(second, right), dtype=np.float64)

    def _iterated(self, free: NDArray[np.intp], right: Array) -> Array:
        rows, adjoint = self.program.rows[free], self.program.adjoint[:, free]
        # The diagonal, were all eigenvalues positive.
        sizes = self.program.compliance[free]
        shift = self._shift

        def product(y: Array) -> Array:
            moved = svec(self.changed(smat(adjoint @ y)))
            return np.asarray(rows @ moved / self.program.scale + shift * y)

        square = spl.LinearOperator((free.size,) * 2, matvec=product, dtype=float)
        inverse = spl.LinearOperator(
            square.shape, matvec=lambda y: y / np.where(sizes > 0.0, sizes, 1.0), dtype=float
        )
        relative = min(_FORCING, self.missed)
        found, _ = spl.cg(square, right, rtol=relative, maxiter=_PRODUCTS, M=inverse)
        return np.asarray(found)

    def moved(self) -> At | None:
        """The multipliers after a step; None where none makes less of the value or the gradient."""
        step = self.direction()
        for halving in range(_MAX_HALVINGS):
            y = self.y + 0.5**halving * step
            trial = At.of(self.program, np.where(self.program.is_limit, np.maximum(y, 0.0), y))
            slope = float(self.gradient @ (trial.y - self.y))
            size = abs(self.value) + np.abs(self.program.rhs) @ np.abs(self.y)
            if trial.value <= self.value + _DECREASE_SHARE * slope:
                return trial
            is_equal = trial.value <= self.value + _VALUE_ROUNDING * size
            if is_equal and trial.missed <= _GRADIENT_SHARE * self.missed:
                return trial
        return None


def minimized(
    program: NearestProgram, tol: float, most: int, deadline: Deadline, progress: Progress | None
) -> tuple[Verdict, At, int]:
    """The nearest matrix, how the method ended, and how many steps it took.

    Parameters
    ----------
    program : NearestProgram
    tol : float
        How far rows may be missed, over their largest terms.
    most : int
        Steps.
    deadline : Deadline
    progress : callable or None
        Given a mapping after every step.
    """
    at = At.of(program, _first(program))
    for count in range(most):
        if progress is not None:
            progress({"iteration": count, "value": program.value(at.x), "infeasibility": at.missed})
        if at.missed <= tol:
            return Verdict.SOLVED, at, count
        if deadline.is_over():
            return Verdict.TIME_LIMIT, at, count
        following = at.moved()
        if following is None:
            return Verdict.INACCURATE, at, count
        at = following
    return Verdict.ITERATION_LIMIT, at, most


def _first(program: NearestProgram) -> Array:
    """Multipliers at which equations of their own entries hold if nothing has to be cut off."""
    left = program.rows @ program.given - program.rhs
    scale = np.where(program.compliance > 0.0, program.compliance, 1.0)
    return np.where(program.is_limit, 0.0, left / scale)
