"""The central path of the dual program, by the barrier of the dual cone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import EXPONENTIAL, POWER, SEMIDEFINITE, Part, Piece, build
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
        self._T, self._back = _dual_maps(program.parts)
        A, b = -(self._T @ self._affine), self._T @ self._constant
        pieces = [Piece(part.kind, part.size, A[part.rows], b[part.rows]) for part in program.parts]
        cost = self._affine.T @ program.b
        cost[:m] += program.f
        self._path = Path(build(cost, E, f, pieces), is_late)

    def centre(self, x: Array, s: Array, z: Array, mu: float) -> Array | None:
        """Multipliers near those of mu on the path, as `Path.centre` is given a point."""
        m = self._program.f.size
        u = np.concatenate([z[:m], z[m:][self._others]]) if self._is_reduced else z
        own = np.concatenate([x[:0] if self._is_reduced else -x, self._back @ s])
        found = self._path.centre(u, self._T @ z[m:], own, mu)
        if found is None:
            return None
        return np.concatenate([found[0][:m], self._affine @ found[0] + self._constant])


def _dual_maps(parts: tuple[Part, ...]) -> tuple[sp.csr_array, sp.csr_array]:
    """T with T z in the cones for multipliers z, and its transposed inverse, over all rows."""
    maps, back = list[Any](), list[Any]()
    for kind, size, rows, *_ in parts:
        if kind == SEMIDEFINITE:
            j, i = np.tril_indices(int(size))
            weight = np.where(i == j, 1.0, 2.0)
            maps.append(sp.diags_array(1.0 / weight))
            back.append(sp.diags_array(weight))
            continue
        T = np.eye(3)
        if kind == EXPONENTIAL:
            T = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        elif kind == POWER:
            T = np.diag([1.0 / size, 1.0 / (1.0 - size), 1.0])
        else:
            maps.append(sp.eye_array(rows.size))
            back.append(sp.eye_array(rows.size))
            continue
        maps.append(T)
        back.append(np.linalg.inv(T).T)
    return sp.csr_array(sp.block_diag(maps)), sp.csr_array(sp.block_diag(back))
