r"""A program over cones as one in its multipliers alone, for methods that factor all unknowns.

Where a cone has a variable of its own in each of its rows, :math:`s = b - D x - F u` with D
diagonal, multipliers of its rows are what the others leave of the cost of x,

.. math::  z = -D^{-1} (c + E^T w + B^T v),

w being those of equations and v those of other cones B. What is left are the unknowns w and v, one
equation for each variable that is no cone's own, and matrices of the order of z. A matrix of order
50 with 350 equations has 1,275 variables and 350 multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, chosen_rows, row_of_each, scaled, transposed
from sdpdr.certify.flat import SEMIDEFINITE, Answer, FlatProgram, Part, Piece, build


@dataclass(frozen=True, eq=False)
class OwnVariables:
    """Rows of cones with a variable of their own.

    Attributes
    ----------
    rows : array of int
    columns : array of int
        The variable of each row.
    entries : array
        What it is multiplied by.
    """

    rows: Index
    columns: Index
    entries: Array


@dataclass(frozen=True, eq=False)
class MultiplierForm:
    """The dual of a program in multipliers of equations and of cones without own variables.

    Attributes
    ----------
    source, program : FlatProgram
        The old program, and this one.
    own : OwnVariables
    others : array of int
        The other rows of cones.
    """

    source: FlatProgram
    program: FlatProgram
    own: OwnVariables
    others: Index

    def lift(self, found: Answer) -> Answer:
        """An answer of this program as one of the old one."""
        source, own, weight = self.source, self.own, self.source.weights
        m, count = source.f.size, own.rows.size
        multipliers = self._in_order(found.z[self.program.f.size :])
        s, z = np.empty(source.b.size), np.empty(m + source.b.size)
        s[np.concatenate([own.rows, self.others])] = multipliers
        s /= weight
        z[:m], z[m + self.others] = found.x[:m], found.x[m:]
        z[m + own.rows] = weight[own.rows] * self._in_order(found.s)[:count]
        x = np.zeros(source.c.size)
        x[_free(source, own)] = -found.z[: self.program.f.size]
        x[own.columns] = (source.b - s - source.A @ x)[own.rows] / own.entries
        return Answer(x, s, z, found.is_solved)

    def _in_order(self, v: Array) -> Array:
        """Numbers of the cones of this program: those of own rows first, then those of others."""
        rows = np.concatenate([self.own.rows, self.others])
        # Cones of one kind follow each other in both programs as they do among all rows.
        place = np.empty(rows.size, dtype=np.intp)
        place[np.argsort(rows, kind="stable")] = np.arange(rows.size)
        return v[place]


def multiplier_form(program: FlatProgram) -> MultiplierForm | None:
    """The program in its multipliers; None where no cone of matrices has variables of its own.

    Parameters
    ----------
    program : FlatProgram
        Over half-lines, second-order cones and matrices.

    Examples
    --------
    The least trace of a matrix with the corner 1:

    >>> own = Piece(SEMIDEFINITE, 2, -sp.eye_array(3, format="csr"), np.zeros(3))
    >>> corner = sp.csr_array([[1.0, 0.0, 0.0]])
    >>> form = multiplier_form(build(np.array([1.0, 0.0, 1.0]), corner, np.ones(1), [own]))
    >>> form.program.c.size, form.program.b.tolist()
    (1, [1.0, 0.0, 1.0])
    """
    own = _own_variables(program)
    if not own.rows.size:
        return None
    others: Index = np.setdiff1d(np.arange(program.b.size), own.rows)
    seen = transposed(sp.csr_array(sp.vstack([program.E, program.A[others]])))
    rows, weight = transposed(program.A), program.weights
    left, cost = chosen_rows(seen, own.columns), program.c[own.columns]
    # What the own multipliers add to the equation of every variable that is no cone's own.
    free = _free(program, own)
    back = scaled(chosen_rows(rows, free)[:, own.rows], columns=1.0 / own.entries)
    E = chosen_rows(seen, free) - sp.csr_array(back @ left)
    f = back @ cost - program.c[free]
    right = np.concatenate([program.f, program.b[others]])
    objective = right - left.T @ (program.b[own.rows] / own.entries)
    images = 1.0 / (own.entries * weight[own.rows])
    pieces = [
        _piece(part, own, left, cost, images)
        if np.isin(part.rows[0], own.rows)
        else _as_unknown(part, program.f.size + np.searchsorted(others, part.rows), weight, right)
        for part in program.parts
    ]
    return MultiplierForm(program, build(objective, E, f, pieces), own, others)


def _own_variables(program: FlatProgram) -> OwnVariables:
    """Those of whole matrices, each of which one row of these cones alone sees."""
    rows, columns = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    entries, taken = [np.zeros(0)], np.zeros(program.c.size, dtype=bool)
    seen = np.zeros(program.c.size, dtype=bool)
    for part in program.parts:
        if part.kind != SEMIDEFINITE:
            continue
        A = chosen_rows(program.A, part.rows)
        # Own rows see none of the variables of other matrices, whose multipliers are eliminated.
        if np.any(taken[A.indices]):
            continue
        is_own = (np.bincount(A.indices, minlength=taken.size) == 1) & ~seen
        some = np.flatnonzero(is_own[A.indices])
        row, first = np.unique(row_of_each(A)[some], return_index=True)
        if row.size == part.rows.size:
            place = some[first]
            rows.append(part.rows)
            columns.append(A.indices[place].astype(np.intp))
            entries.append(A.data[place])
            taken[columns[-1]] = seen[A.indices] = True
    return OwnVariables(np.concatenate(rows), np.concatenate(columns), np.concatenate(entries))


def _free(program: FlatProgram, own: OwnVariables) -> Index:
    return np.setdiff1d(np.arange(program.c.size), own.columns)


def _piece(part: Part, own: OwnVariables, left: sp.csr_array, cost: Array, images: Array) -> Piece:
    """The matrix that multipliers of one cone are."""
    at = np.flatnonzero(np.isin(own.rows, part.rows))
    A = scaled(chosen_rows(left, at), images[at])
    return Piece(part.kind, part.size, A, -images[at] * cost[at])


def _as_unknown(part: Part, columns: Index, weight: Array, unknowns: Array) -> Piece:
    """Unknowns that are multipliers of a cone themselves."""
    size = part.rows.size
    places = (-1.0 / weight[part.rows], (np.arange(size), columns))
    A = sp.csr_array(places, shape=(size, unknowns.size))
    return Piece(part.kind, part.size, A, np.zeros(size))
