r"""A preconditioner for factors with thin columns, which see the dual slack alone.

Columns of the factor that nearly vanish leave the rows nearly as they are, so that the second
derivative along them is :math:`2 S`, whose lowest eigenvalues are those that the certificate is
about, and as small as the multipliers are good. After a rotation of the factor that sorts its
columns by size, thick ones get the diagonal blocks of `sdpdr.solvers.lowrank.general.precondition`
and thin ones a factorization of

.. math:: 2 S + \operatorname{diag}(d) + \epsilon I ,

d the mean over these columns of what rows at a price add to the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.factorization import SymmetricFactor, symmetric_factor
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.hessian import Hessian
from sdpdr.solvers.lowrank.general.precondition import diagonal_blocks

# Squared size of a thin column, over that of the largest.
_THIN = 1e-2
# Shifts of the dual slack that are tried, relative to its diagonal.
_SHIFTS = (1e-6, 1e-4, 1e-2)
# Order up to which a factor that fills in is worth it.
LARGEST = 4000


@dataclass(frozen=True, eq=False)
class _Columns:
    """What is applied to one factor: a rotation, inverses of blocks, and a factorization."""

    rotation: Array
    thick: int
    inverses: Array
    factor: SymmetricFactor | None

    def __call__(self, part: Array) -> Array:
        turned = part @ self.rotation
        found = np.empty_like(turned)
        first = turned[:, : self.thick, None]
        found[:, : self.thick] = np.matmul(self.inverses, first)[:, :, 0]
        for k in range(self.thick, turned.shape[1]):
            assert self.factor is not None
            found[:, k] = self.factor.solve(np.ascontiguousarray(turned[:, k]))
        return np.asarray(found @ self.rotation.T)


def thin_preconditioner(hessian: Hessian) -> Callable[[Array], Array] | None:
    """An approximate inverse of the second derivative; None where no column is thin."""
    local, layout = hessian.local, hessian.local.function.layout
    if layout.problem.free.shape[1] or any(b.n > LARGEST for b in layout.problem.blocks):
        return None
    factors, free = layout.split(local.vector)
    columns = []
    for jacobian, slack, factor in zip(hessian.jacobians, local.slacks, factors, strict=True):
        blocks = diagonal_blocks(hessian, jacobian, factor, slack.diagonal())
        columns.append(_columns(factor, blocks, slack))
    if any(c is None for c in columns):
        return None

    def solve(vector: Array) -> Array:
        parts, _ = layout.split(layout.project(vector))
        found = [c(p) for c, p in zip(columns, parts, strict=True) if c is not None]
        return layout.project(layout.join(found, free))

    return solve


def _columns(factor: Array, blocks: Array, slack: DualSlack) -> _Columns | None:
    """The parts for one factor; None where its slack cannot be made definite, or none is thin."""
    sizes, rotation = np.linalg.eigh(factor.T @ factor)
    order = np.argsort(-sizes)
    sizes, rotation = sizes[order], rotation[:, order]
    thick = int(np.sum(sizes > _THIN * sizes[0]))
    turned = rotation.T @ blocks @ rotation
    inverses = np.linalg.inv(turned[:, :thick, :thick])
    if thick == factor.shape[1]:
        return None
    if slack.weights.size or not sp.issparse(slack.sparse):
        return None
    diagonal = slack.diagonal()
    curved = np.einsum("ikk->ik", turned)[:, thick:].mean(axis=1) - 2.0 * np.abs(diagonal)
    upper = sp.csc_array(sp.triu(2.0 * slack.sparse + _eye(len(diagonal)), format="csc"))
    upper.sort_indices()
    places = upper.indptr[1:] - 1
    solver = symmetric_factor(upper)
    for shift in _SHIFTS:
        data = upper.data.copy()
        data[places] += np.maximum(curved, 0.0) + shift * float(np.mean(np.abs(diagonal))) - 1.0
        if solver.factorize(data) == 0:
            return _Columns(rotation, thick, inverses, solver)
    return None


def _eye(n: int) -> sp.csc_array:
    """The identity, so that every diagonal entry has a place."""
    return sp.eye_array(n, format="csc")
