"""How far multipliers outweigh an objective that is not variance alone."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector

_DENSE = 200
_MOST_VECTORS = 8
# A level below the lowest eigenvalue is close where it is at most this multiple of one above.
_CLOSE = 1.1


class EdgePencil:
    r"""The forms L(w) and C on centred vectors, compared by inertia.

    Parameters
    ----------
    program : EdgeProgram
    """

    def __init__(self, program: EdgeProgram) -> None:
        self._program = program
        self._form = BlockLaplacian(program.edges, program.mass, 1, program.objective)
        i, j = program.edges.T
        self._ends = i, j

    def exceeds(self, weights: Vector, level: float = 0.0) -> bool:
        r"""Whether L(w) - C is above ``level <= 0`` times the masses on centred vectors.

        Examples
        --------
        >>> from sdpdr.solvers.lowrank.edge.program import Objective
        >>> pull = Objective(np.ones(3), 0.0, np.array([[0, 2]]), np.ones(1))
        >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0, objective=pull)
        >>> EdgePencil(path).exceeds(np.full(2, 2.1)), EdgePencil(path).exceeds(np.full(2, 1.9))
        (True, False)
        """
        m = self._program.m
        self._form.assemble(weights, np.zeros(m), np.zeros((m, 1)))
        shift = -2.0 * (self._program.objective.variance + level)
        # Of the vector of ones the form is the shift; that direction does not count.
        return self._form.factorize(shift) == (1 if shift < 0.0 else 0)

    def lowest(self, weights: Vector, seed: int) -> tuple[Vector, Matrix]:
        r"""Lowest eigenvalues of L(w) - C for the masses, with vectors; shapes (k,), (n, k).

        The vectors have unit length for the masses and are centred. None where the iteration did
        not find any.
        """
        n, root = self._program.n, np.sqrt(self._program.mass)
        if n <= _DENSE:
            basis = np.eye(n) / root
            dense = basis.T @ self._times(weights, basis)
            values, vectors = eigh(dense)
        else:
            level = self._level_below(weights)
            if level is None:
                return np.empty(0), np.empty((n, 0))
            scaled = LinearOperator(
                (n, n), matvec=partial(self._scaled, weights, root), dtype=float
            )
            inverse = LinearOperator((n, n), matvec=partial(self._solved, root), dtype=float)
            v0 = np.random.default_rng(seed).standard_normal(n)
            k = min(_MOST_VECTORS, n - 1)
            try:
                values, vectors = eigsh(scaled, k=k, sigma=level, OPinv=inverse, v0=v0, tol=1e-3)
            except ArpackError:
                return np.empty(0), np.empty((n, 0))
        constant = abs(root @ vectors) > 0.5 * np.linalg.norm(root)
        return values[~constant], vectors[:, ~constant] / root[:, None]

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
        i, j = self._ends
        force = weights[:, None] * (X[i] - X[j])
        product = -self._program.objective.times(X)
        np.add.at(product, i, force)
        np.subtract.at(product, j, force)
        return product

    def _scaled(self, weights: Vector, root: Vector, x: Vector) -> Vector:
        return self._times(weights, (x / root)[:, None])[:, 0] / root

    def _solved(self, root: Vector, x: Vector) -> Vector:
        # The form holds every number twice.
        return 2.0 * root * self._form.solve((root * x)[:, None])[:, 0]
