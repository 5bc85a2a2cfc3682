r"""Long vectors as further points, so that every row reads a few entries of K alone.

A row with a form :math:`f^T K g` in vectors that touch many points has a Jacobian and a second
derivative without zeros. With the products as points of their own,

.. math:: \tilde R = \begin{pmatrix} R \\ F R \end{pmatrix}, \qquad
          N \tilde R = \begin{pmatrix} U^T & 0 \\ F & -I \end{pmatrix} \tilde R = 0,

it reads one entry of :math:`\tilde K = \tilde R \tilde R^T`. What is long are the linear equations
N alone, and they stand beside the Newton matrix, not in it. A face :math:`K U = 0` is the same kind
of equation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import svec_index
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.general.parts import Part
from sdpdr.solvers.lowrank.general.problem import FactorBlock
from sdpdr.solvers.lowrank.interior.held import Held

_ROOT2 = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class PointBlock:
    """A matrix variable whose rows read entries alone.

    Attributes
    ----------
    block : FactorBlock
        Where it came from.
    forms : Forms
        On all points, without forms in vectors.
    vectors : sparse array of shape (q, n)
        F.
    equations : sparse array of shape (p, n + q)
        N.
    held : Held, optional
        Points that stay where they are.
    """

    block: FactorBlock
    forms: Forms
    vectors: sp.csr_array
    equations: sp.csr_array
    held: Held | None = None

    @classmethod
    def of(cls, block: FactorBlock, held: Held | None = None) -> PointBlock:
        """Give every long vector of a block a point.

        Examples
        --------
        >>> from sdpdr.linalg import QuadraticForms
        >>> from sdpdr.solvers.lowrank.general.parts import part_of
        >>> forms = Forms(part_of(QuadraticForms(np.ones((1, 30)))))
        >>> points = PointBlock.of(FactorBlock("K", 30, forms, np.zeros((30, 0)), scalar=False))
        >>> points.forms.n, points.forms.values(points.extended(np.ones((30, 1))))
        (31, array([900.]))
        """
        given, n = block.forms, block.n
        left, right = sp.csr_array(given.left), sp.csr_array(given.right)
        if not given.weights.shape[1]:
            forms, vectors = given, sp.csr_array((0, n))
        else:
            vectors = left if given.symmetric else sp.csr_array(sp.vstack([left, right]))
            count = int(left.shape[0])
            first = n + np.arange(count)
            second = first if given.symmetric else first + count
            matrix = sp.csr_array(sp.hstack([given.matrix, given.weights]))
            i, j = np.append(given.i, first), np.append(given.j, second)
            forms = _on_entries(n + int(vectors.shape[0]), i, j, matrix)
        face, more = sp.csr_array(block.face.T), int(vectors.shape[0])
        equations = sp.bmat(
            [[face, sp.csr_array((face.shape[0], more))], [vectors, -sp.eye_array(more)]]
        )
        return cls(block, forms, vectors, sp.csr_array(equations), held)

    @property
    def n(self) -> int:
        """Number of points."""
        return self.forms.n

    def extended(self, factor: Array) -> Array:
        """All points, from those of the factor moved into the face."""
        factor = self.block.project(factor)
        return np.vstack([factor, self.vectors @ factor]) if self.n > self.block.n else factor

    def factor(self, points: Array) -> Array:
        """The points of the factor itself."""
        return points[: self.block.n]

    def gathered(self, gradient: Array) -> Array:
        """What a change of the factor feels of a gradient on all points."""
        n = self.block.n
        return self.block.project(gradient[:n] + self.vectors.T @ gradient[n:])

    def reduced(self, gradient: Array) -> Array:
        """The gradient on the factor, from that on all points; nothing where they are held."""
        own = self.gathered(gradient)
        if self.held is not None:
            own[self.held.points] = 0.0
        return own

    def met(self, factor: Array) -> Array:
        """A factor with the points that are held in their places."""
        return factor if self.held is None else self.held.met(factor)


def _on_entries(n: int, i: Index, j: Index, matrix: sp.csr_array) -> Forms:
    """Forms that read the entries (i, j) with coefficients in a matrix's columns."""
    index = svec_index(i, j)
    places, column = np.unique(index, return_inverse=True)
    scale = np.where(i == j, 1.0, 1.0 / _ROOT2)
    to = sp.csr_array((scale, (np.arange(index.size), column)), shape=(index.size, places.size))
    none = sp.csr_array((0, n))
    return Forms(
        Part(places, sp.csr_array(matrix @ to), sp.csr_array((matrix.shape[0], 0)), none, none)
    )
