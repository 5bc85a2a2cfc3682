r"""The dual of a program as a program of the same kind.

.. math::

    \min_{w, Z}\ f^T w + \langle B, Z\rangle
    \quad\text{s.t.}\quad E^T w + A^*(Z) = -c,\quad Z \in K,

where K is its own dual. Matrices Z have the entries that multipliers have beside those of matrices,
half of what is stored for both triangles: powers of two, which round nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import (
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    FlatProgram,
    Piece,
    build,
)
from sdpdr.linalg.svec import upper_triangle


def dual_program(program: FlatProgram) -> tuple[FlatProgram, Array]:
    """The dual of a program, whose optimum is minus that of the program, without its offset.

    Parameters
    ----------
    program : FlatProgram

    Returns
    -------
    dual : FlatProgram
    units : array of shape (m + k,)
        Multipliers over unknowns of the dual: two off the diagonal of matrices, one elsewhere.

    Raises
    ------
    UnprovedError
        If a cone is not its own dual, or numbers of the program are rounded.

    Examples
    --------
    >>> above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), -np.ones(1))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above_one])
    >>> dual, units = dual_program(program)
    >>> dual.c.tolist(), dual.E.toarray().tolist(), dual.f.tolist()
    ([-1.0], [[-1.0]], [-1.0])
    """
    kinds = {part.kind for part in program.parts}
    if not (program.around.is_exact and kinds <= {NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE}):
        raise UnprovedError("the box around the multipliers leaves the cone")
    m, k = program.f.size, program.b.size
    units, pieces = np.ones(m + k), list[Piece]()
    for part in program.parts:
        if part.kind == SEMIDEFINITE:
            i, j = upper_triangle(int(part.size))
            units[m + part.rows] = np.where(i == j, 1.0, 2.0)
        places = (-np.ones(part.rows.size), (np.arange(part.rows.size), m + part.rows))
        own = sp.csr_array(places, shape=(part.rows.size, m + k))
        pieces.append(Piece(part.kind, part.size, own, np.zeros(part.rows.size)))
    cost = units * np.concatenate([program.f, program.b])
    E = sp.csr_array(sp.vstack([program.E, program.A]).T @ sp.diags_array(units))
    return build(cost, E, -program.c, pieces), units
