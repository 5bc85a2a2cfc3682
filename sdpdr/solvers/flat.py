"""Clarabel on programs over a product of cones: an oracle for proofs, which nobody believes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from time import process_time
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    POWER,
    SECOND_ORDER,
    SEMIDEFINITE,
    Answer,
    FlatProgram,
    Part,
)
from sdpdr.certify.symmetric_cones import Semidefinite

# What Clarabel raises where one of its own checks fails; it is no Exception.
PANIC = "PanicException"
_SOLVED = ("Solved", "AlmostSolved")
# Seconds of its steps for each cubed number of numbers in a matrix, on a slow machine.
_STEPS = 2e-10


def ask_clarabel(program: FlatProgram, seconds: float = inf) -> Answer:
    """What Clarabel says of a program.

    Parameters
    ----------
    program : FlatProgram
    seconds : float, optional
        CPU seconds after which Clarabel is to end, so that a busy machine changes no answer. It is
        not asked at all where the first steps, of matrices of high order, would take longer: there
        it looks at no clock.

    Returns
    -------
    Answer
        Whatever it ended with, also where it did not converge.

    Examples
    --------
    >>> from sdpdr.certify.flat import Piece, build
    >>> above = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.array([-2.0]))
    >>> found = ask_clarabel(build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above]))
    >>> found.is_solved, found.x.round(6).tolist(), found.z.round(6).tolist()
    (True, [2.0], [1.0])
    """
    if (
        _STEPS * sum(part.rows.size**3 for part in program.parts if part.kind == SEMIDEFINITE)
        > seconds
    ):
        return _nothing(program)
    try:
        found = run_clarabel(program, {"verbose": False}, seconds)
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        return _nothing(program)
    return read_answer(program, found)


def run_clarabel(program: FlatProgram, options: Mapping[str, Any], seconds: float = inf) -> Any:
    """Solve a program with Clarabel, whose own words are returned.

    Parameters
    ----------
    program : FlatProgram
    options : mapping
        By Clarabel's own names.
    seconds : float, optional
        CPU seconds after which it ends.
    """
    m, n, scale = program.f.size, program.c.size, _scale(program)
    cones = [clarabel.ZeroConeT(m)] if m else []
    cones += [_cone(part) for part in program.parts]
    A = sp.csc_matrix(sp.vstack([program.E, sp.diags_array(scale) @ program.A]))
    b = np.concatenate([program.f, scale * program.b])
    return call_clarabel((sp.csc_matrix((n, n)), program.c, A, b, cones), options, seconds)


def call_clarabel(program: Sequence[Any], options: Mapping[str, Any], seconds: float = inf) -> Any:
    """Clarabel's own words on a program as it takes one: P, q, A, b and cones."""
    settings = clarabel.DefaultSettings()
    for name, value in options.items():
        setattr(settings, name, value)
    solver = clarabel.DefaultSolver(*program, settings)
    if seconds < inf:
        # Its own limit counts the seconds of other programs. Without a function in Python: Ctrl-C
        # would be raised there, where Clarabel drops it.
        end = process_time() + seconds
        solver.set_termination_callback(partial(next, map(end.__lt__, iter(process_time, None))))
    return solver.solve()


def read_answer(program: FlatProgram, found: Any) -> Answer:
    """The answer in what Clarabel says of a program."""
    m, scale = program.f.size, _scale(program)
    x, s, z = (np.array(v, dtype=float) for v in (found.x, found.s, found.z))
    z = np.concatenate([z[:m], z[m:] * scale])
    return Answer(x, s[m:] / scale, z, str(found.status) in _SOLVED)


def _scale(program: FlatProgram) -> Array:
    """The units of Clarabel's rows: entries beside the diagonal of a matrix, times a root of 2."""
    scale = np.ones(program.b.size)
    for cone, rows in program.cones:
        if isinstance(cone, Semidefinite):
            scale[rows] = np.tile(np.sqrt(cone.weight), cone.count)
    return scale


def _nothing(program: FlatProgram) -> Answer:
    """No answer."""
    x, s, w = (np.full(v.size, np.nan) for v in (program.c, program.b, program.f))
    return Answer(x, s, np.concatenate([w, s]), False)


def _cone(part: Part) -> Any:
    if part.kind == EXPONENTIAL:
        return clarabel.ExponentialConeT()
    if part.kind == POWER:
        return clarabel.PowerConeT(part.size)
    kinds = {
        NONNEGATIVE: clarabel.NonnegativeConeT,
        SECOND_ORDER: clarabel.SecondOrderConeT,
        SEMIDEFINITE: clarabel.PSDTriangleConeT,
    }
    return kinds[part.kind](part.rows.size if part.kind == NONNEGATIVE else int(part.size))
