r"""Directions that prove that there is no solution, looked for at an iterate.

*Infeasible*: a y with :math:`b^T y > 0`, :math:`-A^*(y) \succeq 0`, :math:`-B^T y \ge 0` and
:math:`F^T y = 0`; a feasible point would have :math:`b^T y = \langle A^*(y), X\rangle + x^T B^T y
\le 0`. *Unbounded*: :math:`X \succeq 0`, x >= 0 and f with A(X) + Bx + Ff = 0 at negative cost.
Where iterates diverge, their directions tend to such a ray; it is projected onto the equations,
and accepted only if all of its matrices are positive definite, by their Cholesky factors, and all
of its scalars positive; rows and columns that no row of the program reads are zero, and left out.
Programs that are infeasible or unbounded only in the limit have no such ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import arb, arb_mat

from sdpdr.solvers.multiprecision.arithmetic import (
    Vector,
    dot,
    inverse_factor,
    product,
    symmetric,
)
from sdpdr.solvers.multiprecision.compiled import Compiled, Cone, combine, transposed
from sdpdr.solvers.multiprecision.method import (
    Iterate,
    Search,
    images,
    solved,
)


def infeasibility_ray(search: Search) -> Vector | None:
    """A y that proves that there is no feasible point, scaled to b'y = 1; None if not found."""
    program, y = search.program, search.iterate.y
    gain = dot(program.rhs, y)
    if not gain > 0:
        return None
    if program.free:
        # Onto F'y = 0, in the metric of the iterate.
        wanted = transposed(program.free, y)
        zeros = [arb(0)] * len(program.rhs)
        correction, _ = solved(search.system, zeros, wanted)
        y = [(a - b).mid() for a, b in zip(y, correction, strict=True)]
        gain = dot(program.rhs, y)
        if not gain > 0:
            return None
    ray = [(a / gain).mid() for a in y]
    minus = [-a for a in ray]
    scalars = transposed(program.positive, minus)
    touched = (each for each, column in zip(scalars, program.positive, strict=True) if column)
    if not all(s > 0 for s in touched):
        return None
    slacks = [_read(cone, cone.adjoint(minus)) for cone in program.cones if cone.rows]
    return ray if _all_definite(slacks) else None


def unbounded_ray(search: Search) -> Iterate | None:
    """A direction of negative cost that changes no row, scaled to cost -1; None if not found."""
    program, now = search.program, search.iterate
    if not _cost(program, now.x, now.x_plus, now.free) < 0:
        return None
    reached = images(program, now.x, now.x_plus)
    by_free = combine(program.free, now.free, len(program.rhs))
    side = [(a + f).mid() for a, f in zip(reached, by_free, strict=True)]
    # Onto the equations, along the directions of a step.
    w, dfree = solved(search.system, side, [arb(0)] * len(program.free))
    xs = tuple(
        (x - symmetric(product(x, cone.adjoint(w), inverse))).mid()
        for cone, x, inverse in zip(program.cones, now.x, search.factors.s_inverse, strict=True)
    )
    pulled = transposed(program.positive, w)
    plus = [(x - x * p / s).mid() for x, p, s in zip(now.x_plus, pulled, now.s_plus, strict=True)]
    free = [(f - d).mid() for f, d in zip(now.free, dfree, strict=True)]
    gain = -_cost(program, xs, plus, free)
    if not (gain > 0 and all(x > 0 for x in plus) and _all_definite(xs)):
        return None
    return replace(
        now,
        x=tuple((x * (1 / gain)).mid() for x in xs),
        x_plus=[(x / gain).mid() for x in plus],
        free=[(f / gain).mid() for f in free],
    )


def _read(cone: Cone, matrix: arb_mat) -> arb_mat:
    """The part of a matrix that rows read; the rest of a slack without cost is zero."""
    support = sorted({k for each in cone.rows.values() for k in each.support})
    return arb_mat([[matrix[i, j] for j in support] for i in support])


def _cost(program: Compiled, x: Sequence[arb_mat], plus: Vector, free: Vector) -> arb:
    total = dot(program.positive_cost, plus) + dot(program.free_cost, free)
    for cone, matrix in zip(program.cones, x, strict=True):
        total += cone.cost.inner(matrix.entries())
    return total.mid()


def _all_definite(matrices: Sequence[arb_mat]) -> bool:
    return all(inverse_factor(matrix) is not None for matrix in matrices)
