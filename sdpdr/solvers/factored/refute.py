r"""Programs without an optimum: a proof that nothing is feasible, or a ray that goes down for ever.

*Infeasible.* If :math:`A^*(y)` is positive semidefinite and :math:`b^T y < 0`, with y >= 0 on
inequalities, no X satisfies the rows (Farkas). Minimising the violation yields such a y: the
violation itself.

*Unbounded.* If D is positive semidefinite, :math:`A(D) = 0` (<= 0 on inequalities) and
:math:`\langle C, D\rangle < 0`, every feasible point has a ray of descent. An iterate that runs
away has it as its own direction.
"""

from __future__ import annotations

import numpy as np

from sdpdr.solvers.factored.lagrangian import Local
from sdpdr.solvers.factored.verdict import lowest

_VIOLATED = 1e-4  # violation from which on a proof of infeasibility is looked for
_FAR = 1e7  # size of scaled unknowns that looks like running away
_LARGER = 1e4  # trace that a feasible point would need, in terms of the present one
_ROUNDING = 1e-6


def refuted(local: Local) -> str | None:
    """``"infeasible"``, ``"unbounded"``, or None if nothing is proved."""
    if is_unbounded(local):
        return "unbounded"
    return "infeasible" if is_infeasible(local) else None


def is_infeasible(local: Local) -> bool:
    """Whether the violation proves that any feasible point is far larger than the present one."""
    problem = local.function.layout.problem
    y = np.where(problem.equal, local.excess, np.maximum(local.excess, 0.0))
    size = float(np.linalg.norm(y))
    if size <= _VIOLATED:
        return False
    y = y / size
    promise = -float(problem.rhs @ y)
    full = np.concatenate([[0.0], y])
    on_free = float(np.linalg.norm(problem.free.T @ full))
    if promise <= 0.0 or on_free > _ROUNDING * promise:
        return False
    factors, _ = local.function.layout.split(local.vector)
    for block, factor in zip(problem.blocks, factors, strict=True):
        slack = block.forms.slack(full)
        low = slack.diagonal() if block.scalar else lowest(slack, block.face, 1, 0)[0]
        trace = max(1.0, float(np.sum(np.square(factor))))
        if -float(np.min(low, initial=0.0)) * _LARGER * trace > promise:
            return False
    return True


def is_unbounded(local: Local) -> bool:
    """Whether the iterate, seen from far away, is a ray of descent along all rows."""
    layout = local.function.layout
    problem = layout.problem
    factors, free = layout.split(local.vector)
    size = sum(float(np.sum(np.square(f))) for f in factors) + float(np.abs(free).sum())
    if not size > _FAR:
        return False
    values = layout.values(layout.join([f / np.sqrt(size) for f in factors], free / size))
    away = np.where(problem.equal, np.abs(values[1:]), np.maximum(values[1:], 0.0))
    bent = float(problem.curvature @ np.square(free)) / size
    gain = -float(values[0]) - bent
    return bool(gain > 0.0 and np.max(away, initial=0.0) <= _ROUNDING * gain)
