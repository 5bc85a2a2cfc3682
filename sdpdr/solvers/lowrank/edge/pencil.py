"""How far multipliers outweigh what is maximised: variance, or another form."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector
from sdpdr.solvers.lowrank.general.lowest import dense_lowest

DENSE = 200  # below this size a full eigendecomposition is fastest
_MOST_VECTORS = 8
# Accuracy of eigenvalues above a level that is known, and above one that is looked for.
_EXACT, _ROUGH = 1e-6, 1e-3
# A level below the lowest eigenvalue is close where it is at most this multiple of one above.
_CLOSE = 1.1


class EdgePencil:
    r"""The forms L(w) and C on centred vectors, compared by inertia.

    Parameters
    ----------
    program : EdgeProgram

    Attributes
    ----------
    program : EdgeProgram
    is_variance : bool
        Whether C is a multiple of the masses, and levels of it may have any sign.
    """

    def __init__(self, program: EdgeProgram) -> None:
        self.program, objective = program, program.objective
        self.is_variance = objective.is_variance
        # If C is the variance, levels are multiples of its weight.
        self._unit = objective.variance if self.is_variance else 1.0

    @cached_property
    def _form(self) -> BlockLaplacian:
        program = self.program
        # Few shifts are tried, and the analysis of a better order takes longer than they do.
        backend = "qdldl" if self.is_variance else "auto"
        return BlockLaplacian(program.edges, program.mass, 1, program.objective, backend)

    def exceeds(self, weights: Vector, level: float = 0.0) -> bool:
        r"""Whether L(w) - C is above ``level`` times the masses on centred vectors.

        Below zero, unless C is variance, of which the level is a multiple.

        Examples
        --------
        >>> from sdpdr.solvers.lowrank.edge.program import Objective
        >>> pull = Objective(np.ones(3), 0.0, np.array([[0, 2]]), np.ones(1))
        >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0, objective=pull)
        >>> EdgePencil(path).exceeds(np.full(2, 2.1)), EdgePencil(path).exceeds(np.full(2, 1.9))
        (True, False)
        """
        m = self.program.m
        self._form.assemble(weights, np.zeros(m), np.zeros((m, 1)))
        shift = -2.0 * (self.program.objective.variance + self._unit * level)
        # On the vector of ones the form is the shift alone; that direction does not count.
        return self._form.factorize(shift) == (1 if shift < 0.0 else 0)

    def outweighs(self, weights: Vector, level: float) -> bool:
        """Whether L(w) is above ``level`` times C on centred vectors; by positive levels alone."""
        if self.is_variance:
            return self.exceeds(weights, level - 1.0)
        return level > 0.0 and self.exceeds(weights / level)

    def size(self, weights: Vector) -> float:
        """A number that no eigenvalue of L(w) for C is larger than in size, if C is variance."""
        total = 2.0 * float(np.abs(weights).sum())
        return total / (self._unit * float(self.program.mass.min()))

    def lowest(
        self, weights: Vector, seed: int, level: float | None = None
    ) -> tuple[Vector, Matrix]:
        r"""Lowest eigenvalues of L(w) - C for the masses, with vectors; shapes (k,), (n, k).

        The vectors have unit length for the masses and are centred. None where the iteration did
        not find any.

        Parameters
        ----------
        weights : array of shape (m,)
        seed : int
        level : float, optional
            Below all eigenvalues, and the last that was tried with success.
        """
        n, root = self.program.n, np.sqrt(self.program.mass)
        if n <= DENSE:
            basis, ones = np.diag(1.0 / root), root[:, None] / np.linalg.norm(root)
            matrix = self._times(weights, basis) / root[:, None]
            values, vectors = dense_lowest(matrix, ones, _MOST_VECTORS)
        else:
            tol = _ROUGH if level is None else _EXACT
            level = self._level_below(weights) if level is None else level
            if level is None:
                return np.empty(0), np.empty((n, 0))
            shape, k = (n, n), min(_MOST_VECTORS, n - 1)
            scaled = LinearOperator(shape, matvec=partial(self._scaled, weights, root), dtype=float)
            inverse = LinearOperator(shape, matvec=partial(self._solved, root), dtype=float)
            v0 = np.random.default_rng(seed).standard_normal(n)
            sigma = self._unit * level
            try:
                values, vectors = eigsh(scaled, k=k, sigma=sigma, OPinv=inverse, v0=v0, tol=tol)
            except ArpackError:
                return np.empty(0), np.empty((n, 0))
        constant = abs(root @ vectors) > 0.5 * np.linalg.norm(root)
        return values[~constant] / self._unit, vectors[:, ~constant] / root[:, None]

    def _level_below(self, weights: Vector) -> float | None:
        """A level below all eigenvalues and near the lowest, with its factorization at hand.

        The iteration tells apart what lies near the level: one ten times as far away as the lowest
        eigenvalue costs it thousands of steps, where a bisection costs a few factorizations.
        """
        below = next((v for v in -(10.0 ** np.arange(-2, 7)) if self.exceeds(weights, v)), None)
        if below is None:
            return None
        above = below / 10.0
        while below < _CLOSE * above:
            middle = -float(np.sqrt(below * above))
            if self.exceeds(weights, middle):
                below = middle
            else:
                above = middle
        self.exceeds(weights, below)
        return float(below)

    def _times(self, weights: Vector, X: Matrix) -> Matrix:
        difference = self.program.difference
        force = weights[:, None] * (difference @ X)
        return np.asarray(difference.T @ force - self.program.objective.times(X))

    def _scaled(self, weights: Vector, root: Vector, x: Vector) -> Vector:
        return self._times(weights, (x / root)[:, None])[:, 0] / root

    def _solved(self, root: Vector, x: Vector) -> Vector:
        # The form holds every number twice.
        return 2.0 * root * self._form.solve((root * x)[:, None])[:, 0]
