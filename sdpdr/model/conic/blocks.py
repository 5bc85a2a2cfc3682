"""Matrices of a conic program that fall apart into blocks, as one cone for each block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdpdr.model.conic.program import ConeRows, ConicProgram, Kind
from sdpdr.model.labels import Labels


def with_blocks(program: ConicProgram) -> ConicProgram:
    """The program with a cone for each block of a matrix that is zero outside of its blocks.

    The zeros are then in no cone, and their multipliers are zero. A block of order one is an
    inequality.

    Examples
    --------
    A diagonal matrix of two unknowns:

    >>> matrix = sp.csr_array([[-1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    >>> cone = ConeRows("psd", "both", np.arange(4))
    >>> given = ConicProgram(np.ones(2), 0.0, matrix, np.zeros(4), [cone], [])
    >>> [(one.kind, one.label, one.rows.tolist()) for one in with_blocks(given).cones]
    [('nonnegative', 'both.1', [0]), ('nonnegative', 'both.2', [3])]
    """
    labels = Labels(cone.label for cone in program.cones)
    cones = [one for cone in program.cones for one in _blocks(program, cone, labels)]
    return program if len(cones) == len(program.cones) else replace(program, cones=cones)


def _blocks(program: ConicProgram, cone: ConeRows, labels: Labels) -> Iterator[ConeRows]:
    """The cones of the blocks of a matrix; the cone itself if there is one block."""
    order = cone.order
    counts = program.matrix.indptr[cone.rows + 1] - program.matrix.indptr[cone.rows]
    zero = (counts == 0) & (program.rhs[cone.rows] == 0.0)
    if cone.kind != "psd" or np.count_nonzero(zero) < 2 * (order - 1):
        yield cone
        return
    pattern = sp.csr_array(~zero.reshape(order, order))
    count, block = connected_components(pattern, directed=False)
    if count == 1:
        yield cone
        return
    place = cone.rows.reshape(order, order, order="F")
    for k in range(count):
        inside = np.flatnonzero(block == k)
        rows = place[np.ix_(inside, inside)].ravel(order="F")
        kind: Kind = "psd" if inside.size > 1 else "nonnegative"
        yield ConeRows(kind, labels.take(f"{cone.label}.{k + 1}"), rows)
