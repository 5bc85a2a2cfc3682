"""The condensed Newton matrix: a block graph Laplacian on a fixed pattern, and its factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.linalg.walks import BROAD, breadth
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Edges, Matrix, Objective, Vector

Index = NDArray[np.intp]


class BlockLaplacian:
    r"""Newton matrix of the factor R after slacks and multipliers are eliminated.

    With :math:`\delta_e = R_i - R_j`, edge weights w, row stiffnesses :math:`\sigma_e \ge 0` and
    masses c, the quadratic form is

    .. math:: \langle X, M X\rangle = \sum_e \Bigl( 2 w_e |x_i - x_j|^2
              + 4 \sigma_e (\delta_e^T (x_i - x_j))^2 \Bigr) + \text{shift} \sum_i c_i |x_i|^2 .

    Its pattern, the graph times r by r blocks, never changes: it is analysed once, and each
    update only scatters numbers. A shift of ``-2`` gives the exact second derivative; ``-2 + reg``
    a regularised one. A constant displacement a has :math:`M (1 \otimes a) = \text{shift}\,
    c \otimes a`, so for shift < 0 a sound matrix has exactly r negative pivots, and a right-hand
    side whose columns sum to zero gives a solution centred for the masses. With a shift of zero,
    which only an objective without variance asks for, the form does not notice constant
    displacements: the first point is then held, which changes neither inertia nor differences.

    Parameters
    ----------
    edges : (m, 2) array of int, i < j
    mass : (n,) array
    rank : int
    objective : Objective, optional
        Its part besides variance is subtracted twice; see `FixedForm`.
    backend : str, default "auto"
        Backend of `symmetric_factor`.

    References
    ----------
    Wright, Primal-Dual Interior-Point Methods, chapter 11; Nocedal and Wright, section 19.3.

    Examples
    --------
    >>> matrix = BlockLaplacian(np.array([[0, 1]]), np.ones(2), 1)
    >>> matrix.assemble(weights=np.array([3.0]), stiffness=np.zeros(1), delta=np.ones((1, 1)))
    >>> matrix.factorize(shift=-2.0)
    1
    >>> matrix.solve(np.array([[1.0], [-1.0]])).ravel()
    array([ 0.1, -0.1])
    """

    def __init__(
        self,
        edges: Edges,
        mass: Vector,
        rank: int,
        objective: Objective | None = None,
        backend: str = "auto",
    ) -> None:
        self._m = len(edges)
        self._fixed = FixedForm.of(edges, objective)
        edges, mass = self._fixed.edges, np.append(mass, np.zeros(self._fixed.width))
        n, m = len(mass), len(edges)
        self.rank = rank
        self._upper = np.triu_indices(rank)
        self._on_diagonal = np.flatnonzero(self._upper[0] == self._upper[1])
        self._mass = mass
        # Nodes sum the blocks of their edges, which the matrix holds with the other sign.
        self._endpoints = csr_matrix(
            (np.full(2 * m, -1.0), (edges.T.ravel(), np.tile(np.arange(m), 2))), shape=(n, m)
        )
        blocks = np.zeros((m + n, len(self._upper[0])))
        self._blocks, self._edge_blocks, self._node_blocks = blocks.ravel(), blocks[:m], blocks[m:]
        self._matrix, self._source = _pattern(edges, n, rank)
        self._factor = symmetric_factor(csr_array(self._matrix), backend, pairs=False)

    def assemble(self, weights: Vector, stiffness: Vector, delta: Matrix) -> None:
        """Compute the edge blocks 2 w I + 4 sigma delta delta^T and their sums at the nodes."""
        stiff = (-4 * stiffness)[:, None] * delta
        own, fixed = self._edge_blocks[: self._m], self._fixed
        for place, (a, b) in enumerate(zip(*self._upper, strict=True)):
            np.multiply(stiff[:, a], delta[:, b], out=own[:, place])
        own[:, self._on_diagonal] -= 2 * weights[:, None]
        if len(fixed.weights):
            self._edge_blocks[self._m :] = 0.0
            self._edge_blocks[:, self._on_diagonal] -= 2 * fixed.weights[:, None]
        self._node_blocks[:] = self._endpoints @ self._edge_blocks
        self._diagonal = self._node_blocks[:, self._on_diagonal]
        if len(fixed.diagonal):
            self._diagonal += fixed.diagonal[:, None]

    def upper(self, shift: float) -> csr_matrix:
        """Upper triangle of the matrix assembled last, with the given shift."""
        nodes = self._node_blocks
        nodes[:, self._on_diagonal] = self._diagonal + shift * self._mass[:, None]
        if shift == 0.0:
            nodes[0, self._on_diagonal] += 1.0
        self._matrix.data = self._blocks[self._source]
        return self._matrix

    def factorize(self, shift: float) -> int:
        """Factor with the given shift; the number of negative eigenvalues, -1 if singular."""
        return self._factor.factorize(self.upper(shift).data)

    def solve(self, rhs: Matrix) -> Matrix:
        """Solve with the last factors; ``rhs`` and the answer have shape (n, rank)."""
        if not self._fixed.width:
            return self._factor.solve(rhs.ravel()).reshape(rhs.shape)
        longer = np.append(rhs.ravel(), np.zeros(self._fixed.width * self.rank))
        return self._factor.solve(longer)[: rhs.size].reshape(rhs.shape)


@dataclass(frozen=True, eq=False)
class FixedForm:
    r"""The part -2 C of the Newton matrix that is not variance, as a graph of its own.

    A pull p on a pair is an edge of weight -p. Side information F would make the matrix dense;
    instead every column of F becomes a further node, joined to the points: eliminating the node
    again leaves :math:`-2 F F^T`,

    .. math:: \begin{pmatrix} M & \sqrt 2 F \\ \sqrt 2 F^T & I \end{pmatrix}
              \;\longrightarrow\; M - 2 F F^T ,

    and as the pivots of I are positive, the number of negative ones is that of M - 2 F F^T.

    Attributes
    ----------
    edges : (m', 2) array
        The edges of the program first, then those that only the objective has.
    weights : (m',) array
        What the objective adds to each; empty if it adds none.
    diagonal : (n + q,) array
        What it adds to the nodes; empty if nothing.
    width : int
        Number q of further nodes.
    """

    edges: Edges
    weights: Vector
    diagonal: Vector
    width: int

    @classmethod
    def of(cls, edges: Edges, objective: Objective | None) -> FixedForm:
        """Read an objective."""
        if objective is None or objective.is_variance:
            return cls(edges, np.empty(0), np.empty(0), 0)
        n, q = len(objective.mass), objective.width
        pairs, weights = objective.pairs, -objective.pull
        diagonal: Vector = np.empty(0)
        if objective.side is not None:
            i, k = np.nonzero(objective.side)
            entry = np.sqrt(2.0) * objective.side[i, k]
            pairs = np.concatenate([pairs, np.column_stack([i, n + k])])
            weights = np.concatenate([weights, -entry / 2])
            # An edge adds its weight to both its ends, where nothing is wanted but the ones.
            diagonal = np.bincount(np.append(i, n + k), np.tile(entry, 2), n + q).astype(float)
            diagonal[n:] += 1.0
        place = {tuple(edge): e for e, edge in enumerate(edges.tolist())}
        at = np.array([place.get(tuple(pair), -1) for pair in pairs.tolist()], dtype=np.intp)
        new = at < 0
        at[new] = len(edges) + np.arange(np.count_nonzero(new))
        joined = np.concatenate([edges, pairs[new]])
        return cls(joined, np.asarray(np.bincount(at, weights, len(joined)), float), diagonal, q)


def graph_fill(program: EdgeProgram) -> int:
    """Nonzeros below the diagonal in the factor of the graph's own Laplacian.

    Graphs without small separators are factored by whatever works in blocks.

    Examples
    --------
    >>> graph_fill(EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0))
    2
    """
    fixed = FixedForm.of(program.edges, program.objective)
    n = program.n + fixed.width
    matrix, _ = _pattern(fixed.edges, n, 1)
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    matrix.data = np.where(matrix.indices == row, float(n), -1.0)
    upper = csr_array(matrix)
    factor = symmetric_factor(upper, "auto" if breadth(upper + upper.T) > BROAD else "qdldl")
    factor.factorize(upper.data)
    return factor.nnz


def newton_fill(graph: int, n: int, rank: int) -> int:
    """Nonzeros to expect in the Newton factor, by those in the factor of the graph of n points.

    Examples
    --------
    >>> newton_fill(2, n=3, rank=2)
    11
    """
    return graph * rank**2 + n * rank * (rank - 1) // 2


def _pattern(edges: Edges, n: int, rank: int) -> tuple[csr_matrix, Index]:
    """Upper triangle of the pattern, and for each entry its place among the computed blocks.

    The computed numbers are the upper triangles of the m edge blocks, then of the n node blocks.
    A row of the matrix holds its part of the node's own block, then those of the edges to later
    nodes, in their order: every entry's place is known, and nothing has to be sorted but edges.
    """
    m, (a, b) = len(edges), np.triu_indices(rank)
    packed = np.zeros((rank, rank), dtype=np.intp)
    packed[a, b] = packed[b, a] = np.arange(len(a))
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    i, j = edges[order].T
    later = np.bincount(i, minlength=n)
    before = np.arange(m) - (np.cumsum(later) - later)[i]  # edges of the same node ahead of each
    sizes = rank * later[:, None] + np.arange(rank, 0, -1)
    starts = np.append(0, np.cumsum(sizes))
    columns, source = np.empty(starts[-1], dtype=np.intp), np.empty(starts[-1], dtype=np.intp)
    for row, col in np.ndindex(rank, rank):
        at = starts[i * rank + row] + (rank - row) + before * rank + col
        columns[at], source[at] = j * rank + col, order * len(a) + packed[row, col]
    nodes = np.arange(n)
    for place, (row, col) in enumerate(zip(a, b, strict=True)):
        at = starts[nodes * rank + row] + (col - row)
        columns[at], source[at] = nodes * rank + col, (m + nodes) * len(a) + place
    size = n * rank
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(size, size)), source
