r"""The pencil :math:`(A, B)` of two energies: its least ratio, proofs, and a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Advised
from sdpdr.linalg.inertia import RestrictedFactor
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.smallest import DENSE_ORDER, smallest_eigenvalue
from sdpdr.linalg.verified import is_verified_positive


class PropagationStatus(Advised):
    """How a search for the least ratio ended; the value of each member is advice."""

    OPTIMAL = "No labelling has a smaller ratio, but for a relative `gap`; that is proved."
    STALLED = (
        "A smaller ratio is possible: `bound` is that of the optimum. The alternation stopped at a "
        "point that neither of its steps improves."
    )
    UNPROVEN = "The ratio is at least `bound`; rounding prevents a larger bound."
    NO_DISSIMILARITY = (
        "No dissimilar pair has an end without a label or two different labels, so that there is "
        "no ratio to minimise; the harmonic labelling is returned."
    )
    NOT_SOUGHT = "The method does not minimise the ratio."


@dataclass(frozen=True, eq=False)
class Propagation:
    r"""A labelling of all nodes.

    Attributes
    ----------
    y : array of shape (n,)
        The labels given where they were, the values found elsewhere.
    lam : float
        Weight :math:`\lambda` of dissimilar pairs: y minimises :math:`E_+ - \lambda E_-`. 0 for
        the harmonic labelling, nan where y has no such weight.
    ratio : float
        :math:`E_+(y)/E_-(y)`.
    bound : float
        No labelling with these labels has a smaller ratio: proved, rounding included. 0 where
        nothing was tried.
    label_weight : float
        :math:`|v_0|/|v|` of the vector :math:`v = (\beta, y_u)`, that is
        :math:`(1 + |y_u|^2)^{-1/2}`.
    gap_uu : float
        :math:`1 - \lambda^\ast/\lambda_{uu}`, where :math:`\lambda_{uu} \ge \lambda^\ast` is the
        least ratio of labellings that vanish where labels are known; small if the labels hardly
        decide. nan where it was not computed.
    status : PropagationStatus
    method : str
    history : tuple of tuples
        Scale, weight and ratio, :math:`(\beta, \lambda, E_+/E_-)`, after each step of the
        alternation.
    """

    y: Array
    lam: float
    ratio: float
    label_weight: float
    method: str
    bound: float = 0.0
    gap_uu: float = float("nan")
    status: PropagationStatus = PropagationStatus.NOT_SOUGHT
    history: tuple[tuple[float, float, float], ...] = ()

    @property
    def n_iter(self) -> int:
        """Steps of the alternation; 0 for the other methods."""
        return len(self.history)

    @property
    def gap(self) -> float:
        """The ratio less its bound, relative to the ratio; 0 if both are."""
        return (self.ratio - self.bound) / self.ratio if self.ratio > 0.0 else 0.0


# Relative distances below a ratio at which a bound is tried.
_BELOW = (1e-13, 1e-11, 1e-9, 1e-7, 1e-6, 1e-4, 1e-3)
# The smallest one tried for large sparse pencils, whose factorizations cost time and round more.
_SPARSE_BELOW = 1e-9
# Relative accuracy of the first estimate, which only decides where the sparse search starts.
_ROUGH = 1e-2


@dataclass(frozen=True, eq=False)
class EnergyPencil:
    r"""Two quadratic forms :math:`v^T A v` and :math:`v^T B v`, both non-negative.

    ``above`` and ``below`` are A and B as computed, ``above_size`` and ``below_size`` the same with
    the absolute value of every term, which bounds the rounding, and ``terms`` the most numbers
    added up in one entry.
    """

    above: Matrix
    above_size: Matrix
    below: Matrix
    below_size: Matrix
    terms: int

    @property
    def order(self) -> int:
        """Order of the matrices."""
        return int(self.above.shape[0])

    @property
    def has_below(self) -> bool:
        """Whether B is not zero."""
        return bool(abs(self.below_size).sum() > 0.0)

    def shifted(self, ratio: float) -> Matrix:
        r"""The matrix :math:`A - \lambda B`."""
        return self.above - ratio * self.below

    def system(self, ratio: float) -> tuple[Matrix, Array]:
        r"""Matrix and right side of the values that minimise :math:`A - \lambda B` at scale one."""
        shifted = self.shifted(ratio)
        right = -shifted[1:][:, [0]]
        return shifted[1:][:, 1:], np.ravel(right.toarray() if sp.issparse(right) else right)

    def unlabelled(self) -> EnergyPencil:
        """The same forms without the row and column of the labels."""
        parts = (self.above, self.above_size, self.below, self.below_size)
        above, above_size, below, below_size = (part[1:][:, 1:] for part in parts)
        return EnergyPencil(above, above_size, below, below_size, self.terms)

    def proves(self, ratio: float) -> bool:
        r"""Whether :math:`A - \lambda B \succeq 0` holds for the true forms, rounding included.

        True is a theorem: no vector has :math:`v^T A v < \lambda\, v^T B v`.
        """
        size = self.above_size + ratio * self.below_size
        radius = float(gamma(self.terms + 8)) * abs(size)
        return is_verified_positive(self.shifted(ratio), radius)

    def bound(self, ratio: float, within: float = 1e-3) -> float:
        """A proven lower bound of the least ratio just below one attained; 0 if none is proved."""
        first = _SPARSE_BELOW if sp.issparse(self.above) and self.order > DENSE_ORDER else 0.0
        tried = (ratio * (1.0 - below) for below in _BELOW if first <= below <= within)
        return next((r for r in tried if np.isfinite(r) and r > 0.0 and self.proves(r)), 0.0)

    def least(self) -> tuple[float, Array]:
        r"""The least ratio :math:`v^T A v / v^T B v` and its vector, by one eigenproblem.

        It is one over the largest eigenvalue of :math:`B v = \mu A v`: LAPACK on a dense pencil;
        on a sparse one, Lanczos steps with one factorization of A to come near, and with one of
        A less almost that multiple of B to finish.

        Raises
        ------
        DataError
            A is not positive definite to working precision.
        """
        try:
            if self.order <= DENSE_ORDER or not sp.issparse(self.above):
                return self._least_dense()
            return self._least_sparse()
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            raise DataError(
                "the eigenproblem is singular to working precision: similarities differ too much "
                f"in size. Drop the smallest ones, or rescale. ({error})"
            ) from None

    def _least_dense(self) -> tuple[float, Array]:
        a, b = (m.toarray() if sp.issparse(m) else m for m in (self.above, self.below))
        m = self.order
        values, vectors = sl.eigh(b, a, subset_by_index=[m - 1, m - 1])
        return _ratio(float(values[0])), np.asarray(vectors[:, 0])

    def _least_sparse(self) -> tuple[float, Array]:
        largest = self._largest_roughly()
        near = None if largest is None else -largest
        value, vector = smallest_eigenvalue(-self.below, mass=self.above, near=near)
        if not np.any(vector):
            raise ArithmeticError("the largest eigenvalues are too close to be told apart")
        return _ratio(-value), vector

    def _largest_roughly(self) -> float | None:
        """A lower estimate of the largest eigenvalue, from a few Lanczos steps; None if none is."""
        solve = RestrictedFactor(self.above, np.zeros((self.order, 0))).solve
        inverse = spl.LinearOperator((self.order,) * 2, matvec=solve, dtype=float)
        start = np.random.default_rng(0).standard_normal(self.order)
        options = {"M": self.above, "Minv": inverse, "which": "LA", "v0": start, "tol": _ROUGH}
        try:
            found = spl.eigsh(self.below, k=1, return_eigenvectors=False, **options)
        except spl.ArpackNoConvergence:
            return None
        return float(found[0])


def _ratio(largest: float) -> float:
    return 1.0 / largest if largest > 0.0 else float("inf")
