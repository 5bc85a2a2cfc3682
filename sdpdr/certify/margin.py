r"""The largest margin to all cones: an interior point, or a witness that there is none.

*Primal*: :math:`\max t` with :math:`E x = f`, :math:`b - A x - t e \in K`, :math:`t \le 1`, for a
point e in the interior of K. *Dual*, the mirror: multipliers z with the largest t such that z - t e
is in the dual cone. The dual of this program is the witness that no t is larger. If t is negative,
it is the smallest ray; if t is zero, an exposing vector (`sdpdr.certify.exposing`), of the largest
rank if an interior-point method found it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, largest
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.faces import PRIMAL
from sdpdr.certify.flat import NONNEGATIVE, Answer, FlatProgram, Piece, build

# A solver that is called for proposals, which are not trusted.
Oracle = Callable[[FlatProgram], Answer]
# Relative accuracy of interior-point methods: they aim at 1e-8, and some stop a little earlier.
_MISSED = 1e-7


class Margin(NamedTuple):
    """The largest margin that a solver found; nothing of it is proved.

    Attributes
    ----------
    size : float
        The margin, one at most.
    noise : float
        Margins up to this may be zero, by the accuracy of solvers.
    y : array
        A point with this margin, or multipliers of equations and cones.
    witness : Answer
        Shows that no margin is larger: multipliers of equations and cones (primal), or a direction
        and its slack (dual), of size one.
    is_solved : bool
        Whether the solver reports success.
    """

    size: float
    noise: float
    y: Array
    witness: Answer
    is_solved: bool

    @property
    def is_zero(self) -> bool:
        """Whether an exposing vector may exist; a smaller margin indicates a ray."""
        return abs(self.size) <= self.noise

    @property
    def is_positive(self) -> bool:
        """Whether there is neither an exposing vector nor a ray, as far as the solver shows."""
        return self.is_solved and self.size > self.noise


def inside(program: FlatProgram, side: str, solve: Oracle) -> Array:
    """A point with the largest margin to all cones, or such multipliers of equations and cones.

    Raises
    ------
    UnprovedError
        If the solver finds none.
    """
    found = margin(program, side, solve)
    if not found.size > 0.0:
        raise UnprovedError("no point inside was found")
    return found.y


def margin(program: FlatProgram, side: str, solve: Oracle) -> Margin:
    """The largest margin of points (primal) or of multipliers (dual), which is solved for once.

    Raises
    ------
    UnprovedError
        If the solver finds nothing.
    """
    return program.once(
        "margin",
        side,
        lambda: _margin(program, side, solve),
        # A solve that ran out of time may succeed later with more of it.
        keep=lambda found: found.is_solved,
    )


def _margin(program: FlatProgram, side: str, solve: Oracle) -> Margin:
    n, m, e = program.c.size, program.f.size, program.centre
    if side == PRIMAL:
        pieces, at = list[Piece](), 0
        for kind, size, A, b, *_ in program.pieces():
            column = sp.csr_array(e[at : at + b.size][:, None])
            pieces.append(Piece(kind, size, sp.hstack([A, column]), b))
            at += b.size
        most = Piece(NONNEGATIVE, 1, sp.csr_array(([1.0], ([0], [n])), (1, n + 1)), np.ones(1))
        E = sp.csr_array(sp.hstack([program.E, sp.csr_array((m, 1))]))
        costs, f = np.append(np.zeros(n), -1.0), program.f
    else:
        # z - t e are the multipliers of the program over directions whose slack has at most size 1.
        pieces = [Piece(kind, size, A, 0.0 * b) for kind, size, A, b, *_ in program.pieces()]
        counted = program.A.T @ e
        most = Piece(NONNEGATIVE, 1, sp.csr_array(-counted[None]), np.ones(1))
        E, costs, f = program.E, program.c + counted, np.zeros(m)
    # The inequality that limits the margin is the first cone.
    found = solve(build(costs, E, f, [most, *pieces]))
    x, s, z = found.x[:n], np.delete(found.s, 0), np.delete(found.z, m)
    size = float(found.x[n] if side == PRIMAL else 1.0 - found.z[m])
    y = x if side == PRIMAL else z + size * np.append(np.zeros(m), e)
    if not np.all(np.isfinite(y)):
        raise UnprovedError("no point inside was found")
    # The margin is a sum of products of right-hand sides, or costs, with the witness.
    sides = np.concatenate([program.f, program.b]) if side == PRIMAL else program.c
    terms = sides * (z if side == PRIMAL else x)
    noise = _MISSED * (max(float(np.sum(np.abs(terms))), largest(sides)) or 1.0)
    witness = Answer(x, s, z, found.is_solved)
    return Margin(size, noise, np.asarray(y), witness, found.is_solved)
