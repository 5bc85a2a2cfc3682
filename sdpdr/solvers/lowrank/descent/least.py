r"""Multipliers of least size at a point of few columns, where rows leave a choice.

At a factor with r columns the multipliers of m rows satisfy :math:`J^T y = -\nabla f`, as many
equations as the factor has freedom, :math:`nr - r(r-1)/2`. Completion of a matrix of low rank has
more rows than that. A descent then finds the matrix long before multipliers that prove it: those
it sums up from what rows were away are one choice of many, and their dual slack has negative
eigenvalues that no column can cure. The choice of least size,

.. math:: \min_y |A^*(y)|_F \quad \text{where} \quad J^T y = -\nabla f,

has a dual slack that is positive beside the factor once there are enough rows at random places;
it is the certificate of the theory of completion. Conjugate gradients on the least squares, rows
divided by their sizes, find it in a few dozen products.

References
----------
Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. Natl.
Bur. Stand. 49, 1952, section 10;
Candes and Recht, "Exact matrix completion via convex optimization", Found. Comput. Math. 9, 2009.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.spheres import SphereLagrangian, SphereLocal
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.verdict import stationarity

_MOST_PRODUCTS = 300
# Squared slope of the residual, over the first, that leaves nothing to gain: where the point is not
# balanced yet, no multipliers are quite right.
_CONVERGED = 1e-20


def leave_a_choice(layout: Layout) -> bool:
    """Whether there are more rows than a factor of these columns has freedom.

    Not where a row has vectors as long as the matrix: its derivatives are not entries.

    Examples
    --------
    >>> from sdpdr.linalg import Entries
    >>> from sdpdr.program import PsdVariable, Rows
    >>> from sdpdr.program.sdp import SDP
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> rows = Rows("known", "==", {"X": Entries(3, [[0, 1], [0, 2], [1, 2]])}, np.ones(3))
    >>> problem = compile_problem(SDP((PsdVariable("X", 3),), {}, (rows,)))
    >>> leave_a_choice(Layout(problem, (1,))), leave_a_choice(Layout(problem, (2,)))
    (False, False)
    """
    blocks, ranks = layout.problem.blocks, layout.ranks
    if any(block.forms.weights[1:].nnz for block in blocks):
        return False
    pairs = zip(blocks, ranks, strict=True)
    freedom = sum(b.n if b.scalar else b.n * r - r * (r - 1) // 2 for b, r in pairs)
    return bool(layout.problem.m > freedom + layout.problem.free.shape[1])


def least_multipliers(
    local: SphereLocal, jacobians: list[Jacobian], accuracy: float, late: Callable[[], bool]
) -> tuple[Array, int]:
    """Multipliers of least size under which a point is stationary, and what they took.

    Parameters
    ----------
    local : SphereLocal
        Whose own multipliers do not matter.
    jacobians : list of Jacobian
    accuracy : float
        Stationarity to reach.
    late : callable
        Says when time is up.

    Returns
    -------
    multipliers : array of shape (m,)
    products : int
    """
    function = local.function
    layout, spheres = function.layout, function.spheres
    hessian = Hessian(local, jacobians)
    size = np.sqrt(np.maximum(_squared_sizes(layout.problem), np.finfo(float).tiny))
    bare = SphereLagrangian(layout, np.zeros(layout.problem.m), 0.0, spheres).at(local.vector)

    def forward(weights: Array) -> Array:
        return spheres.tangent(layout, local.vector, hessian.adjoint(weights / size))

    def backward(change: Array) -> Array:
        return np.where(local.active, hessian.derivative(change) / size, 0.0)

    residual = -bare.gradient()
    weights, direction = np.zeros(layout.problem.m), backward(residual)
    first = square = float(direction @ direction)
    count = 0
    while stationarity(local, residual) > accuracy and count < _MOST_PRODUCTS and not late():
        count += 1
        product = forward(direction)
        bend = float(product @ product)
        if not bend > 0.0:
            break
        weights = weights + (square / bend) * direction
        residual = residual - (square / bend) * product
        slope = backward(residual)
        before, square = square, float(slope @ slope)
        if not square > _CONVERGED * first:
            break
        direction = slope + (square / before) * direction
    found = SphereLagrangian(layout, weights / size, 0.0, spheres).at(local.vector)
    return found.estimate, count


def _squared_sizes(problem: FactorProblem) -> Array:
    """Squared Frobenius norms of the matrices of every row."""
    total = np.asarray(problem.free[1:].multiply(problem.free[1:]).sum(axis=1)).ravel()
    for block in problem.blocks:
        entries = block.forms.matrix[1:]
        counted = np.where(block.forms.i == block.forms.j, 1.0, 0.5)
        total = total + np.asarray(entries.multiply(entries) @ counted)
    return total
