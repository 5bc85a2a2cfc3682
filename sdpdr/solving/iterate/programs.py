"""The programs of a sequence: one set of constraints under changing costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg import LinearMap
from sdpdr.program import SDP, Factor, Solution
from sdpdr.program.face import null_vectors
from sdpdr.program.point import PsdVariable, Value
from sdpdr.program.sizes import gap_scale
from sdpdr.solving.iterate.directions import Direction

Start: TypeAlias = "Solution | Factor | ArrayLike"


@dataclass(frozen=True, eq=False)
class Programs:
    """Programs that differ in the cost of the matrices ``names`` only.

    A direction replaces the objective if ``weight`` is None; otherwise that much is added to it.
    """

    given: SDP
    names: tuple[str, ...]
    weight: float | None

    @cached_property
    def base(self) -> SDP:
        """What all programs share: constraints, and the objective that is kept (minimized)."""
        program = replace(self.given, maximize=False)
        if self.weight is None:
            for name in self.names:
                n, _ = self.orders[name]
                program = program.with_cost(name, sp.csr_array((n, n)))
        return program

    @cached_property
    def orders(self) -> dict[str, tuple[int, Array]]:
        """Order of each matrix, and orthonormal vectors u with X u = 0."""
        found = {}
        for name in self.names:
            null = null_vectors(self.given, name).toarray()
            found[name] = (len(null), np.linalg.qr(null)[0])
        return found

    def unit(self, ways: Mapping[str, Direction]) -> float:
        """A size of the matrices, as their directions measure it, beside which one counts as zero.

        Weights of points are part of it: they have a unit, that of objectives.
        """
        program = self.base
        for name in self.names:
            program = program.with_cost(name, ways[name].measure(self.orders[name][0]))
        return gap_scale(program)

    @property
    def may_vanish(self) -> bool:
        """Whether no equation keeps the matrices from being zero."""
        return not any(r.relation == "==" and np.any(r.rhs) for r in self.base.rows)

    @property
    def pull(self) -> float:
        """What a direction is multiplied by."""
        return 1.0 if self.weight is None else self.weight

    def under(self, directions: Mapping[str, LinearMap] | None) -> SDP:
        """The program under some directions; without any, the model alone."""
        program = self.base
        if directions is None or self.pull == 0.0:
            return program
        for name, direction in directions.items():
            kept = program.objective.get(name)
            cost = self.pull * direction
            if self.weight is not None and isinstance(kept, LinearMap):
                cost = kept + cost
            program = program.with_cost(name, cost)
        return program

    def matrix(self, start: Start, name: str) -> Value:
        """The matrix that a start stands for; points are moved to where the constraints want them.

        Raises
        ------
        DataError
            The points are not finite numbers.
        ShapeError
            Their number is not the order of the matrix.
        """
        n, null = self.orders[name]
        value: Value
        if isinstance(start, Solution):
            value = start.gram(name)
        elif isinstance(start, Factor):
            value = start
        else:
            value = Factor(_moved(validate.points(start, at_least=1), null, n))
        if value.shape != (n, n):
            raise ShapeError(f"the start has {value.shape[0]} points; {name!r} has order {n}.")
        return value


def matrices_of(sdp: SDP, variable: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of the matrices of low rank; the only one, where none is named."""
    matrices = tuple(v.name for v in sdp.psd_variables)
    if variable is None and len(matrices) != 1:
        words = f"variables {', '.join(matrices)}" if matrices else "no matrix variable"
        raise ModelError(f"the model has {words}; name the one of low rank (variable=...).")
    given = matrices if variable is None else variable
    found = (given,) if isinstance(given, str) else tuple(given)
    for name in found:
        if not isinstance(sdp.variable(name), PsdVariable):
            raise ModelError(f"{name!r} is a vector; only a matrix has a rank.")
    return found


def _moved(points: Array, null: Array, n: int) -> Array:
    """Points moved until their sum weighted by u vanishes; projected if there are several u."""
    if points.shape[0] != n:
        return points
    if null.shape[1] == 1 and abs(np.sum(null)) > 1e-9:
        return np.asarray(points - (null.T @ points) / np.sum(null))
    return np.asarray(points - null @ (null.T @ points))
