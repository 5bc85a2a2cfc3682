"""The values that cvxpy keeps as they stand: exact, but for the variables that cvxpy adds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf

import numpy as np

from sdpdr.certify.as_it_stands import Miss, cost, fractions_of, misses
from sdpdr.certify.flat import Piece, build
from sdpdr.certify.knowledge import VALUE, Knowledge
from sdpdr.certify.prove import prove
from sdpdr.model.conic.flat import FlatProblem
from sdpdr.model.conic.kept import KeptPoint, constraint_of_rows, missed_attribute
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.standing import EXACTLY, words_of
from sdpdr.solving.verify.completing import Restricted, restricted

_NO_POINT = (
    "not all variables of the problem have finite values: solve it before, or set those that are "
    "missing"
)
_ODD = "the value of {!r} is not {}, as its attributes say: set {}.value to one that is"
_ADDED = f"{EXACTLY}, beside values of the variables that cvxpy adds, which exist next to it"
_UNKNOWN = (
    "the point as it stands satisfies all constraints on its own variables, and not provably those "
    "with variables that cvxpy adds ({}); repair=True moves the point until all constraints hold"
)


def standing_value(
    flat: FlatProblem, kept: KeptPoint, *, tol: float, seconds: float
) -> tuple[float | None, str]:
    """The value of the minimisation at the point as it stands, and what proves it; or why not.

    Parameters
    ----------
    flat : FlatProblem
    kept : KeptPoint
    tol, seconds : float
        How near the values of variables that cvxpy adds are to the best ones, and CPU seconds.
    """
    if not kept.is_whole:
        return None, _NO_POINT
    for variable in flat.problem.variables():
        lacks, name = missed_attribute(variable), variable.name()
        if lacks:
            return None, _ODD.format(name, lacks, name)
    x = kept.x
    program = flat.program
    rest = restricted(program, x)
    own = np.flatnonzero(~np.isnan(x))
    point = dict(zip(own.tolist(), fractions_of(x[own]), strict=True))
    missed = _missed(flat, rest, point)
    if missed:
        names = constraint_of_rows(flat)
        return None, words_of(missed, lambda row: names[row])
    if not rest.free.size:
        return cost(program.c, point, program.offset), EXACTLY
    known = Knowledge()
    try:
        answer = ask_solver(rest.program)
        prove(rest.program, answer, ask_solver, tol=tol, seconds=seconds, known=known)
    except ArithmeticError as error:
        return None, _UNKNOWN.format(error)
    if VALUE in known.how and known.value < inf:
        return known.value, _ADDED
    said = [note for note in known.notes if note.startswith(VALUE)] or ["nothing was proved"]
    return None, _UNKNOWN.format(said[-1])


def _missed(flat: FlatProblem, rest: Restricted, point: Mapping[int, Fraction]) -> list[Miss]:
    """Constraints on the problem's own variables alone that a point misses, by their rows."""
    program, m = flat.program, flat.program.f.size
    pieces = []
    for kind, size, rows, _ in program.parts:
        own = rows[np.isin(rows, rest.rows)]
        pieces.append(Piece(kind, size, program.A[own], program.b[own]))
    equal = rest.equations
    alone = build(program.c, program.E[equal], program.f[equal], pieces)
    places = np.concatenate([equal, m + rest.rows])
    return [Miss(int(places[miss.row]), miss.amount) for miss in misses(alone, point)]
