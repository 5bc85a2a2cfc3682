r"""One conic program in place of another, and the way back.

The unknowns are substituted, :math:`x = T x' + t`, rows are dropped or joined, so that their
multipliers are :math:`z = Z z'`, and further rows and unknowns may be added. Two things are not
linear. Unknowns may leave with the cones that they bound, as t with :math:`\|v\| \le t`: they are
raised as far as these cones need, and the multiplier of such a bound is the length of the others.
And multipliers of rows that define an unknown follow from its column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import selection
from sdpdr.model.conic.program import ConeRows, ConicProgram, taken

Finder: TypeAlias = "Callable[[ConicProgram], Step | None]"


@dataclass(frozen=True, eq=False)
class Raised:
    """Unknowns that leave a program together with cones.

    Attributes
    ----------
    direction : array of shape (n,)
        Sign of the move of each unknown that is raised; zero for others.
    cones : list of ConeRows
        The cones that the moves lead into.
    row, column : arrays of int
        Equations, and the unknowns in nothing else that they define.
    """

    direction: Array
    cones: list[ConeRows]
    row: Index
    column: Index

    def fill(self, program: ConicProgram, x: Array) -> None:
        """Raise the unknowns, and compute those that equations define, in place."""
        for cone in self.cones:
            part = taken(program.matrix, cone.rows)
            d, s = -(part @ self.direction), program.rhs[cone.rows] - part @ x
            with np.errstate(over="ignore"):  # exponentials of what the user's unknowns are
                steps = np.broadcast_to(_steps(cone.kind, d, s), s.shape)
            inside, place = np.unique(part.indices, return_inverse=True)
            moved = np.zeros(inside.size)
            np.maximum.at(moved, place, np.repeat(steps, np.diff(part.indptr)))
            raised = self.direction[inside] != 0.0
            x[inside[raised]] += self.direction[inside[raised]] * moved[raised]
        equations = program.matrix[self.row]
        entries = np.asarray(program.matrix[self.row, self.column]).ravel()
        x[self.column] = (program.rhs[self.row] - equations @ x) / entries


@dataclass(frozen=True, eq=False)
class Step:
    """A conic program in place of another one.

    Attributes
    ----------
    program, given : ConicProgram
    columns : sparse array of shape (n, n')
        T.
    rows : sparse array of shape (m, m')
        Z.
    shift : array of shape (n,), optional
        t; zero without it.
    raised : sequence of Raised
        Unknowns that were dropped with cones, the last ones first.
    defining : pair of arrays of int, optional
        Rows whose multipliers follow from columns, and the column of each.
    """

    program: ConicProgram
    given: ConicProgram
    columns: sp.csr_array
    rows: sp.csr_array
    shift: Array | None = None
    raised: tuple[Raised, ...] = ()
    defining: tuple[Index, Index] | None = None

    @classmethod
    def substituting(
        cls,
        given: ConicProgram,
        column: Index,
        row: Index,
        *,
        columns: sp.csr_array | None = None,
        rows: sp.csr_array | None = None,
        **more: Any,
    ) -> Step:
        """The program of some rows, with T x' + t in place of all unknowns.

        Parameters
        ----------
        given : ConicProgram
        column, row : arrays of int
            The unknowns that are left, as x', and the rows.
        columns, rows : sparse arrays, optional
            T and Z; by default other unknowns and multipliers are zero.
        **more
            As for `Step`.
        """
        (m, n), root, r = given.matrix.shape, given.root, given.root_shift
        T = unit_columns(column, n) if columns is None else columns
        Z = unit_columns(row, m) if rows is None else rows
        constant, rhs, t = given.constant, given.rhs, more.get("shift")
        if t is not None:
            constant, rhs = constant + float(given.cost @ t), rhs - given.matrix @ t
            r = r if root is None else root @ t + (0.0 if r is None else r)
        cones = [replace(cone, rows=_renumbered(cone.rows, row, m)) for cone in given.cones]
        program = replace(
            given,
            cost=np.asarray(T.T @ given.cost),
            constant=constant,
            matrix=in_order(taken(given.matrix, row) @ T),
            rhs=rhs[row],
            cones=[cone for cone in cones if cone.rows.size],
            columns=[
                replace(one, place=_renumbered(one.place, column, n)) for one in given.columns
            ],
            root=None if root is None else in_order(root @ T),
            root_shift=r,
        )
        return cls(program, given, T, Z, **more)

    def primal(self, x: Array) -> Array:
        """Unknowns of the given program, from those of this one."""
        found = np.asarray(self.columns @ x)
        if self.shift is not None:
            found = found + self.shift
        for one in self.raised:
            one.fill(self.given, found)
        return found

    def dual(self, z: Array, squares: Array) -> Array:
        """Multipliers of the given program, from those of this one and of the squares."""
        found = np.asarray(self.rows @ z)
        for cone in (cone for one in self.raised for cone in one.cones):
            if cone.kind == "second-order":
                found[cone.rows[0]] = np.linalg.norm(found[cone.rows[1:]])
        if self.defining is not None:
            row, column = self.defining
            slack = self.given.dual_slack(found, squares)[column]
            # Rows that define one unknown together share what is missing.
            sharing = np.bincount(column)[column]
            found[row] -= slack / (sharing * np.ravel(self.given.matrix[row, column]))
        return found


def steps_of(program: ConicProgram, finders: Iterable[Finder]) -> tuple[Step, ...]:
    """The steps that are found, each in the program of the last one."""
    found: list[Step] = []
    for find in finders:
        step = find(found[-1].program if found else program)
        found += [] if step is None else [step]
    return tuple(found)


def unit_columns(places: Index, size: int) -> sp.csr_array:
    """Sparse matrix that puts numbers at positions of a vector, which is zero elsewhere."""
    return sp.csr_array(selection(places, size).T)


def in_order(matrix: Any) -> sp.csr_array:
    """A matrix with the entries of each row in order."""
    found = sp.csr_array(matrix)
    found.sort_indices()
    return found


def _renumbered(places: Index, kept: Index, size: int) -> Index:
    """The new numbers of those positions that are kept."""
    number = np.full(size, -1)
    number[kept] = np.arange(kept.size)
    return number[places][number[places] >= 0]


def _steps(kind: str, d: Array, s: Array) -> Array | float:
    """Multiples of a direction d that lead from s into a cone, of each row or of all together."""
    if kind == "nonnegative":
        return np.maximum(0.0, -s / d)
    if kind == "psd":
        # A matrix with a dominant diagonal.
        order = round(np.sqrt(s.size))
        S = np.abs(s.reshape(order, order))
        diagonal, heights = s[:: order + 1], d[:: order + 1]
        others = np.maximum(S.sum(axis=0), S.sum(axis=1)) - np.diag(S)
        return float(np.max((others - diagonal) / heights, initial=0.0))
    if kind == "exponential" and d[0] < 0.0:
        highest = s[1] * np.log(s[2] / s[1]) if s[1] > 0.0 else 0.0
        return max(0.0, float((highest - s[0]) / d[0]))
    if kind == "exponential":
        return max(0.0, float((s[1] * np.exp(s[0] / s[1]) - s[2]) / d[2]))
    width, apart = np.linalg.norm(s[1:]), d[0] - np.linalg.norm(d[1:])
    if width <= s[0]:
        return 0.0
    if apart > 0.0:
        return float((width - s[0]) / apart)
    product = d[0] * s[0] - d[1:] @ s[1:]
    return float(max((width**2 - s[0] ** 2) / (2.0 * product), -s[0] / d[0]))
