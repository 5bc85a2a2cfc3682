"""A program whose rows and unknowns have names: what every finding is read off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import working
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.exposing import inside
from sdpdr.certify.faces import PRIMAL
from sdpdr.certify.flat import NONNEGATIVE, Answer, FlatProgram, build
from sdpdr.certify.knowledge import Knowledge
from sdpdr.certify.proof import Proof
from sdpdr.certify.prove import prove
from sdpdr.certify.reduced import refuted
from sdpdr.certify.units import NOTHING, Units
from sdpdr.program.point import Value
from sdpdr.solvers.flat import ask_clarabel

Mask = NDArray[np.bool_]
# What may become of a proof that does not succeed.
UNPROVED = (UnprovedError, np.linalg.LinAlgError, ArithmeticError)
# Multipliers beside the largest that count: interior-point methods leave 1e-8 of those that vanish.
_COUNTS = 1e-6


@dataclass(frozen=True, eq=False)
class Named:
    """A flat program with names.

    Attributes
    ----------
    program : FlatProgram
    constraints : mapping from label to array of int
        Where its rows are among equations, and then cones.
    variables : mapping from name to array of int
        Where it is among the unknowns.
    """

    program: FlatProgram
    constraints: Mapping[str, Index]
    variables: Mapping[str, Index]

    @property
    def owned(self) -> Mask:
        """Which rows stand in constraints of the user, and not in cones of variables."""
        found = np.zeros(self.program.f.size + self.program.b.size, dtype=bool)
        for rows in self.constraints.values():
            found[rows] = True
        return found

    def labels_of(self, rows: Mask) -> dict[str, Index]:
        """Which rows of a mask belong to which constraint, numbered within it."""
        found = {label: np.flatnonzero(rows[at]) for label, at in self.constraints.items()}
        return {label: at for label, at in found.items() if at.size}

    def names_of(self, unknowns: Mask) -> tuple[str, ...]:
        """Variables of which some unknowns are in a mask."""
        return tuple(name for name, at in self.variables.items() if unknowns[at].any())


@dataclass(frozen=True, eq=False)
class View:
    """A program as it was written, and as it is solved.

    Attributes
    ----------
    stated : Named
        In units of the user; every row is there.
    solved : Named
        In units of its own, on the faces that rows state.
    values : callable
        Takes a point of `solved` to the values of variables.
    maximize : bool
    entrywise : tuple of str
        Constraints that compare symmetric matrices entry by entry.
    penalized : mapping from label to tuple of str
        Variables that are the slack of penalties, by constraint.
    of_model : bool
        Whether it was written as a model.
    is_small : bool
        Whether proofs take about a second.
    deadline : Deadline
    """

    stated: Named
    solved: Named
    values: Callable[[Array], Mapping[str, Value]]
    maximize: bool = False
    entrywise: tuple[str, ...] = ()
    penalized: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_model: bool = False
    is_small: bool = True
    deadline: Deadline = field(default_factory=Deadline)

    def solve(self, program: FlatProgram, seconds: float = np.inf) -> Answer:
        """What a solver proposes; proofs believe none of it."""
        return ask_clarabel(program, min(seconds, self.deadline.ahead))

    @cached_property
    def units(self) -> Units:
        """Units that suit the program as it was written."""
        return Units.of(self.stated.program)

    @cached_property
    def balanced(self) -> FlatProgram:
        """The program as it was written, in those units."""
        return self.units.program(self.stated.program)

    @cached_property
    def known(self) -> Knowledge:
        """What is proved of the program."""
        working("diagnosing: solving")
        program = self.solved.program
        found = Knowledge(nothing=NOTHING)
        answer = self.solve(program)
        try:
            prove(program, answer, self.solve, seconds=self.deadline.ahead, known=found)
        except ArithmeticError as error:  # numbers beyond those that rounding is known of
            found.notes.append(str(error))
        return found

    # -- parts of the program -------------------------------------------------------------------

    def _part(self, kept: Mask) -> FlatProgram:
        """The program, balanced, with some of its rows."""
        program, m = self.balanced, self.balanced.f.size
        pieces = []
        for piece, part in zip(program.pieces(), program.parts, strict=True):
            rows = kept[m + part.rows]
            if piece.kind == NONNEGATIVE:
                around = None if piece.around is None else piece.around[rows]
                pieces.append(piece._replace(A=piece.A[rows], b=piece.b[rows], around=around))
            elif rows.all():
                pieces.append(piece)
        E, radii = program.E[kept[:m]], program.around.E
        around = program.around._replace(E=None if radii is None else radii[kept[:m]], A=None)
        return build(program.c, E, program.f[kept[:m]], pieces, around=around)

    def refuted(self, kept: Mask) -> Array | None:
        """Multipliers, in units of the user, that prove some rows contradictory; or None.

        They are nan where the proof takes faces first and has no multipliers.
        """
        try:
            ray = refuted(self._part(kept), PRIMAL, self.solve)[1]
        except UNPROVED:
            return None
        found = np.zeros(kept.size)
        if ray is None:
            found[kept] = np.nan
            return found
        # Where no cone is left, one that says nothing comes last.
        found[kept] = ray[: np.count_nonzero(kept)]
        return self.units.given_multipliers(found)

    def is_feasible(self, kept: Mask) -> bool:
        """Whether some rows are proved to have a common point."""
        program = self._part(kept)
        centre = np.concatenate([np.zeros(program.f.size), program.centre])
        try:
            y = inside(program, PRIMAL, self.solve)
            Proof(program, program.b - program.A @ y, centre).value(y)
        except UNPROVED:
            return False
        return True


def significant(multipliers: Array) -> Mask:
    """Which multipliers count beside the largest; all of those that are not known."""
    if np.isnan(multipliers).any():
        return np.isnan(multipliers)
    return np.asarray(np.abs(multipliers) > _COUNTS * np.max(np.abs(multipliers), initial=0.0))


def left_out(
    groups: Sequence[Index], kept: Mask, holds: Callable[[Mask], Mask | None], deadline: Deadline
) -> tuple[Mask, bool]:
    """Leave out as many groups of rows as can be while something holds of those that are kept.

    Halves are tried first, then their halves, then one by one.

    Parameters
    ----------
    groups : sequence of arrays of int
    kept : array of bool
    holds : callable
        Takes rows; returns those it needs where it holds of them, else None.
    deadline : Deadline

    Returns
    -------
    kept : array of bool
    is_complete : bool
        Whether each group that is left was tried by itself.
    """
    open_ = [rows for rows in groups if kept[rows].any()]
    size = max(len(open_) // 2, 1)
    while True:
        at = 0
        while at < len(open_):
            if deadline.is_over():
                return kept, False
            fewer = kept.copy()
            for rows in open_[at : at + size]:
                fewer[rows] = False
            needed = holds(fewer) if fewer.any() else None
            if needed is None:
                at += size
                continue
            kept = needed
            done = sum(kept[rows].any() for rows in open_[:at])
            open_, at = [rows for rows in open_ if kept[rows].any()], done
        if size == 1:
            return kept, True
        size = max(size // 2, 1)


def quoted(names: Iterable[str], limit: int = 5) -> str:
    """Names as people list them."""
    shown = [repr(name) for name in names]
    if len(shown) > limit:
        shown = [*shown[: limit - 1], f"{len(shown) - limit + 1} more"]
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last
