"""What an answer of cvxpy leaves out: values of variables that cvxpy adds, and multipliers.

Values are those that are best with the given ones fixed. Multipliers are those that stationarity,
:math:`E^T w + A^T z = -c`, and complementarity, :math:`s^T z = 0` for every cone, determine in
turn, an equation of one unknown after another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.as_it_stands import cost, fractions_of
from sdpdr.certify.flat import NONNEGATIVE, Around, FlatProgram, Piece, build
from sdpdr.certify.rounding import residual
from sdpdr.solvers.flat import ask_solver

# Coefficients beside the largest of an equation that it is not divided by.
_SMALL = 1e-3
# Slacks beside the largest that count as zero, and say nothing about multipliers: points are right
# to 1e-8 of it or so.
_TIGHT = 1e-4


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


def completed_multipliers(program: FlatProgram, x: Array, z: Array) -> Array | None:
    """The multipliers with those that have none; None if they are not determined.

    Parameters
    ----------
    program : FlatProgram
    x : array
        A point that is nearly optimal.
    z : array
        ``nan`` where nothing is known.

    Examples
    --------
    >>> above = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0], [-2.0]]), np.array([0.0, -2.0]))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above])
    >>> completed_multipliers(program, np.ones(1), np.full(2, np.nan)).round(9).tolist()
    [0.0, 0.5]
    """
    z, missing = z.copy(), np.isnan(z)
    if not np.any(missing):
        return z
    z[missing] = 0.0
    Q, right = _equations(program, x)
    right = right - Q @ z
    unknown = np.flatnonzero(missing)
    Q = sp.csc_array(Q)[:, unknown]
    found = _one_by_one(Q, right)
    if np.any(np.isnan(found)):
        return None
    z[unknown] = found
    return z


def _clean(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A, copy=True)
    A.eliminate_zeros()
    return A


def _equations(program: FlatProgram, x: Array) -> tuple[sp.csr_array, Array]:
    """Stationarity and complementarity, as equations for the multipliers."""
    m, s = program.f.size, program.b - program.A @ x
    s = s / (float(np.max(np.abs(s), initial=0.0)) or 1.0)
    # Each half-line is a cone, and each other part is one.
    group, count = np.empty(s.size, dtype=np.intp), 0
    for kind, _, part, _ in program.parts:
        group[part] = count + (np.arange(part.size) if kind == NONNEGATIVE else 0)
        count += part.size if kind == NONNEGATIVE else 1
    largest = np.zeros(count)
    np.maximum.at(largest, group, np.abs(s))
    s = np.where(largest[group] > _TIGHT, s, 0.0)
    slack = sp.csr_array((s, (group, m + np.arange(s.size))), shape=(count, m + s.size))
    stationary = sp.csr_array(sp.vstack([program.E, program.A]).T)
    Q = _clean(sp.csr_array(sp.vstack([stationary, slack])))
    return Q, np.concatenate([-program.c, np.zeros(count)])


def _one_by_one(Q: sp.csc_array, right: Array) -> Array:
    """Unknowns that equations of one unknown determine in turn, and ``nan`` for the others."""
    found, rest = np.full(Q.shape[1], np.nan), right.copy()
    by_row = sp.csr_array(Q)
    largest = np.asarray(abs(by_row).max(axis=1).todense()).ravel()
    while True:
        open_ = np.flatnonzero(np.isnan(found))
        part = sp.csr_array(by_row[:, open_])
        alone = np.flatnonzero(np.diff(part.indptr) == 1)
        column, value = part.indices[part.indptr[alone]], part.data[part.indptr[alone]]
        is_good = np.abs(value) > _SMALL * largest[alone]
        alone, column, value = alone[is_good], column[is_good], value[is_good]
        chosen, first = np.unique(column, return_index=True)
        if not chosen.size:
            return found
        found[open_[chosen]] = rest[alone[first]] / value[first]
        rest = right - by_row @ np.where(np.isnan(found), 0.0, found)
