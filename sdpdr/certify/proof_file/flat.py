"""A flat program, over all cones, as the lists of a proof file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify import check_proof
from sdpdr.certify.flat import EXPONENTIAL, NONNEGATIVE, POWER, SECOND_ORDER, SEMIDEFINITE
from sdpdr.certify.flat import FlatProgram as Flat
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, VALUE, Knowledge
from sdpdr.certify.proof_file.program import Entries, Matrices, ProgramInFile, as_program, cleaned
from sdpdr.certify.units import Units
from sdpdr.program.point import Value, as_dense
from sdpdr.program.ray import Kind, Ray

_KINDS = {
    SECOND_ORDER: check_proof.SECOND_ORDER,
    EXPONENTIAL: check_proof.EXPONENTIAL,
    POWER: check_proof.POWER,
}
_X, _Z = "x", "z"


@dataclass(frozen=True)
class Sides:
    """What is known of a flat program, as `sdpdr.certify.proof_file.write` reads a solution.

    Points and multipliers are one vector each, by the names "x" and "z".
    """

    attained: float | None
    bound: float | None
    values: Mapping[str, Value]
    duals: Mapping[str, Array]
    ray: Ray | None
    exposures: tuple[()] = ()


def sides_of(known: Knowledge, own: Flat, units: Units, *, maximize: bool) -> Sides:
    """What the kernel proved of ``own``, a program in its own units, in the units of the user."""
    unit = -units.cost if maximize else units.cost
    ray = None
    if known.status in (INFEASIBLE, UNBOUNDED):
        words, is_dual = known.how[known.status], known.status == INFEASIBLE
        given = dict[str, Array]()
        if known.ray is not None:
            in_given = units.given_multipliers if is_dual else units.given_point
            given = {_Z if is_dual else _X: in_given(known.ray)}
        kind: Kind = "infeasible" if is_dual else "unbounded"
        duals, values = (given, {}) if is_dual else ({}, given)
        ray = Ray(kind, known.margin(own), words, duals, values)
    return Sides(
        unit * known.value if VALUE in known.how else None,
        unit * known.bound if BOUND in known.how else None,
        {} if known.x is None else {_X: units.given_point(known.x)},
        {} if known.z is None else {_Z: units.given_multipliers(known.z)},
        ray,
    )


class FlatFileProgram(ProgramInFile):
    """The lists of a flat program; x are free scalars, and each matrix is a block.

    Parameters
    ----------
    flat : FlatProgram
        In the units of the user.
    own : FlatProgram
        The same program in its own units, for which the kernel has proofs.
    units : Units
    maximize : bool, default False
    """

    def __init__(self, flat: Flat, own: Flat, units: Units, *, maximize: bool = False) -> None:
        self._own, self._units = own, units
        self._flat, self._m = flat, flat.f.size
        is_rounded = any(radii is not None for radii in flat.around)
        self.notes = ["some numbers are rounded"] if is_rounded else list[str]()
        inequalities, cones = list[int](), list[Any]()
        A, B, orders = Entries(5), Entries(3), list[int]()
        for kind, size, rows, _ in flat.parts:
            at = 1 + self._m + rows
            if kind == SEMIDEFINITE:
                j, i = np.tril_indices(int(size))
                A.add(at, len(orders), i, j, np.where(i == j, 1.0, 0.5))
                orders.append(int(size))
            elif kind == NONNEGATIVE:
                inequalities += at.tolist()
            else:
                cones.append((_KINDS[kind], at, *([size] if kind == POWER else [])))
        sides = (sp.csr_array(flat.c[None]), flat.E, flat.A)
        matrix = sp.coo_array(sp.vstack(sides))
        matrix.eliminate_zeros()
        B.add(matrix.row, matrix.col, matrix.data)
        self.lists = as_program(
            maximize=maximize,
            orders=orders,
            right=np.concatenate([[flat.offset], flat.f, flat.b]),
            inequalities=inequalities,
            cones=cones,
            nonnegative=[],
            curvature=np.zeros(flat.c.size),
            A=A,
            B=B,
        )

    def multipliers(self, duals: Mapping[str, Array], objective: float) -> Array:
        """Multipliers as those of the file; zero where none are known, as of bounds on faces."""
        nothing = np.zeros(self._m + self._flat.b.size)
        return cleaned(np.concatenate([[objective], duals.get(_Z, nothing)]))

    def _proved(self, claim: str, *, points: bool) -> list[Mapping[str, Any]]:
        if claim not in self._own.behind:
            return []
        exposing, at = self._own.behind[claim]
        units, name = self._units, _X if points else _Z
        in_given = units.given_point if points else units.given_multipliers
        return [{name: in_given(x)} for x in (*exposing, at)]

    def matrices(self, values: Mapping[str, Value], *, ray: bool = False) -> Matrices:
        """A point, or a direction, as matrices and scalars of the file."""
        x, flat = as_dense(values[_X]), self._flat
        s, matrices = (0.0 if ray else flat.b) - flat.A @ x, list[Value]()
        for kind, size, rows, _ in flat.parts:
            if kind == SEMIDEFINITE:
                j, i = np.tril_indices(int(size))
                T = np.zeros((int(size), int(size)))
                T[i, j] = T[j, i] = s[rows]
                matrices.append(T)
        return Matrices(matrices, x)
