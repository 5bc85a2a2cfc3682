"""The central path of the dual program, by the barrier of the dual cone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import FlatProgram, Piece, build
from sdpdr.certify.path import Path


class Mirror:
    """The central path of the dual program, by the barrier of the dual cone.

    Multipliers that follow from others are eliminated: where s = -a x on whole cones, those of
    equations and of other rows are left. Dual cones are linear images of the cones themselves.

    Parameters
    ----------
    path : Path
        That of the program.
    is_late : callable

    Raises
    ------
    TooLargeError
    """

    def __init__(self, path: Path, is_late: Callable[[], bool]) -> None:
        program = path.program
        self._program, self._others = program, path.other_rows
        m, k = program.f.size, program.b.size
        self._constant = np.zeros(k)
        self._is_reduced = bool(path.own_rows.size)
        if self._is_reduced:
            B = sp.csc_array(sp.vstack([program.E, program.A[self._others]]))
            columns, inverse = path.own_columns, sp.diags_array(1.0 / path.own_entries)
            affine = sp.lil_array((k, m + self._others.size))
            affine[path.own_rows] = -(inverse @ B[:, columns].T)
            nothing, eye = sp.csr_array((self._others.size, m)), sp.eye_array(self._others.size)
            affine[self._others] = sp.hstack([nothing, eye])
            self._constant[path.own_rows] = -program.c[columns] / path.own_entries
            E, f = sp.csr_array((0, m + self._others.size)), np.zeros(0)
        else:
            affine = sp.hstack([sp.csr_array((k, m)), sp.eye_array(k)])
            E, f = sp.csr_array(sp.vstack([program.E, program.A]).T), -program.c
        self._affine = sp.csr_array(affine)
        self._T = _dual_map(program)
        self._back = spl.splu(sp.csc_array(self._T.T)).solve
        A, b = -(self._T @ self._affine), self._T @ self._constant
        pieces = [Piece(part.kind, part.size, A[part.rows], b[part.rows]) for part in program.parts]
        cost = self._affine.T @ program.b
        cost[:m] += program.f
        self._path = Path(build(cost, E, f, pieces), is_late)

    def centre(self, x: Array, s: Array, z: Array, mu: float) -> Array | None:
        """Multipliers near those of mu on the path, as `Path.centre` is given a point."""
        m = self._program.f.size
        u = np.concatenate([z[:m], z[m:][self._others]]) if self._is_reduced else z
        own = np.concatenate([x[:0] if self._is_reduced else -x, self._back(s)])
        found = self._path.centre(u, self._T @ z[m:], own, mu)
        if found is None:
            return None
        return np.concatenate([found[0][:m], self._affine @ found[0] + self._constant])


def _dual_map(program: FlatProgram) -> sp.csr_array:
    """T with T z in the cones for multipliers z, over all rows."""
    maps = [sp.coo_array(cone.dual_map) for cone, _ in program.cones]
    places = [rows for _, rows in program.cones]
    row = np.concatenate([p[T.coords[0]] for p, T in zip(places, maps, strict=True)])
    column = np.concatenate([p[T.coords[1]] for p, T in zip(places, maps, strict=True)])
    data = np.concatenate([T.data for T in maps])
    return sp.csr_array((data, (row, column)), shape=(program.b.size,) * 2)
