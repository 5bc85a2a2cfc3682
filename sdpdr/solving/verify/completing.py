"""Programs with some unknowns fixed, and the values of the others, which cvxpy adds and drops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.as_it_stands import cost, fractions_of
from sdpdr.certify.flat import NONNEGATIVE, Around, FlatProgram, Piece, build
from sdpdr.certify.rounding import residual
from sdpdr.certify.standard import as_written
from sdpdr.program.point import Point, Value
from sdpdr.program.sdp import SDP
from sdpdr.solvers.flat import ask_solver


@dataclass(frozen=True, eq=False)
class Restricted:
    """A program with some of its unknowns fixed.

    Attributes
    ----------
    program : FlatProgram
        The program in the other unknowns, with the constraints that have any; radii account for
        rounding.
    free : array of int
        The other unknowns.
    equations, rows : arrays of int
        The equations, and the rows of cones, that have fixed unknowns alone.
    """

    program: FlatProgram
    free: Index
    equations: Index
    rows: Index


def restricted(program: FlatProgram, x: Array) -> Restricted:
    """The program with those unknowns fixed that have values.

    Parameters
    ----------
    program : FlatProgram
        With exact numbers.
    x : array
        ``nan`` where an unknown is free.

    Examples
    --------
    >>> above = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0, -1.0]]), -np.ones(1))
    >>> program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [above])
    >>> smaller = restricted(program, np.array([0.25, np.nan])).program
    >>> smaller.b.tolist(), smaller.offset
    ([-0.75], 0.25)
    """
    is_free = np.isnan(x)
    free, fixed = np.flatnonzero(is_free), np.flatnonzero(~is_free)
    known = x[fixed]

    def moved(A: sp.csr_array, b: Array) -> tuple[sp.csr_array, Array, sp.csr_array]:
        right, radius = residual(b, A[:, fixed], known)
        last = np.full(b.size, free.size)
        around = sp.csr_array((radius, (np.arange(b.size), last)), shape=(b.size, free.size + 1))
        return A[:, free], right, around

    has_free = [np.diff(_clean(A[:, free]).indptr) > 0 for A in (program.E, program.A)]
    E, f, radii = moved(program.E[has_free[0]], program.f[has_free[0]])
    pieces, whole = list[Piece](), [np.arange(0)]
    for kind, size, rows, units in program.parts:
        if kind == NONNEGATIVE:
            whole.append(rows[~has_free[1][rows]])
            rows = rows[has_free[1][rows]]
        elif not np.any(has_free[1][rows]):
            whole.append(rows)
            continue
        pieces.append(Piece(kind, size, *moved(program.A[rows], program.b[rows]), units))
    values = dict(enumerate(fractions_of(known)))
    constant = cost(program.c[fixed], values, program.offset)
    smaller = build(program.c[free], E, f, pieces, constant, around=Around(None, radii))
    return Restricted(smaller, free, np.flatnonzero(~has_free[0]), np.concatenate(whole))


def completed_point(program: FlatProgram, x: Array) -> Array | None:
    """The point with values of the unknowns that have none; None if it has no values at all.

    Parameters
    ----------
    program : FlatProgram
    x : array
        ``nan`` where nothing is known.
    """
    missing = np.isnan(x)
    if not np.any(missing):
        return x
    if np.all(missing):
        return None
    rest = restricted(program, x)
    found = ask_solver(rest.program)
    if not (found.is_solved and np.all(np.isfinite(found.x))):
        return None
    whole = x.copy()
    whole[rest.free] = found.x
    return whole


def completed_values(sdp: SDP, values: Mapping[str, Value]) -> dict[str, Value]:
    """Values of all variables of a program, of which some are known; these alone if none are found.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor

    Examples
    --------
    >>> from sdpdr import minimize, norm, scalar
    >>> program = minimize(norm(scalar("v", 2))).to_sdp()
    >>> found = completed_values(program, {"v": np.array([3.0, 4.0])})
    >>> {name: value.round(6).tolist() for name, value in found.items()}
    {'v': [3.0, 4.0], 'objective.0.top': [5.0]}
    """
    form = as_written(sdp)
    x = completed_point(form.flat, form.answer(Point(values, {})).x)
    return dict(values) if x is None else {**form.values(x), **values}


def _clean(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A, copy=True)
    A.eliminate_zeros()
    return A
