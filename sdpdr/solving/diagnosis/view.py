"""A program whose rows and unknowns have names: what every finding is read off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import enter_phase
from sdpdr.base.rows import enumerated, listed
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.faces import PRIMAL
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE, Answer, FlatProgram
from sdpdr.certify.knowledge import VALUE, Knowledge
from sdpdr.certify.prove import prove
from sdpdr.certify.reduced import refuted
from sdpdr.certify.units import NOTHING, Units
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce.facial import facial_reduction
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.diagnosis.subsets import Mask, Proved, some_rows, used_columns

# Share of the remaining time for a solve, or for a proof.
SHARE = 0.5
# What may become of a proof that does not succeed.
UNPROVED = (UnprovedError, np.linalg.LinAlgError, ArithmeticError)


class UndecidedError(Exception):
    """Neither a fault was proved nor that there is none."""


# Rows of one constraint, and names, that a sentence lists.
_LISTED, _NAMED = 4, 5


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
    units : Units
        Those that the program is in.
    entries : mapping from name to two arrays of int
        Rows and columns of the numbers of those that are symmetric matrices.

    Rows and unknowns that a modelling language adds of its own accord have no names.
    """

    program: FlatProgram
    constraints: Mapping[str, Index]
    variables: Mapping[str, Index]
    units: Units
    entries: Mapping[str, tuple[Index, Index]] = field(default_factory=dict)

    @cached_property
    def label_of(self) -> dict[int, str]:
        """The constraint of each row that stands in one."""
        return {int(k): label for label, rows in self.constraints.items() for k in rows}

    @cached_property
    def owned(self) -> Mask:
        """Which rows stand in constraints of the user, and not in cones of variables."""
        found = np.zeros(self.right.size, dtype=bool)
        found[list(self.label_of)] = True
        return found

    @cached_property
    def signs(self) -> Mask:
        """Which rows say x >= 0 or X >> 0 of unknowns, once each.

        They hold where the unknowns are zero.
        """
        found = (np.diff(self.rows.indptr) == 1) & (self.right == 0.0)
        found[: self.program.f.size] = False
        found[found] = self.rows[found].data < 0.0
        unknowns = self.rows[found].indices
        found[found] = np.bincount(unknowns, minlength=1)[unknowns] == 1
        for part in self.program.parts:
            rows = self.program.f.size + part.rows
            if part.kind != NONNEGATIVE:
                found[rows] = part.kind == SEMIDEFINITE and found[rows].all()
        return np.asarray(found)

    @property
    def own(self) -> Mask:
        """The same of rows that are in no constraint."""
        return self.signs & ~self.owned

    @property
    def is_matrix(self) -> Mask:
        """Which rows are of a cone of several numbers."""
        return np.bincount(self.groups, minlength=self.groups.size)[self.groups] > 1

    @cached_property
    def groups(self) -> Index:
        """A number for each row, which rows of one cone share; inequalities have their own."""
        m, found = self.program.f.size, np.arange(self.right.size)
        for part in self.program.parts:
            if part.kind != NONNEGATIVE:
                found[m + part.rows] = m + part.rows[0]
        return found

    @cached_property
    def cones(self) -> Index:
        """The same of rows in constraints; negative of others, which variables state."""
        return np.where(self.owned, self.groups, -1)

    @cached_property
    def rows(self) -> sp.csr_array:
        """Coefficients of all rows, equations first."""
        found = sp.csr_array(sp.vstack([self.program.E, self.program.A]))
        found.eliminate_zeros()
        return found

    @property
    def right(self) -> Array:
        """Right-hand sides of all rows."""
        return np.concatenate([self.program.f, self.program.b])

    def busy(self, kept: Mask) -> Mask:
        """Rows that are kept, less those of variables that no constraint among them is about.

        Entries of a matrix stay if constraints are about both of their rows; others may be zero.
        """
        m, found = self.program.f.size, kept.copy()
        touched = np.zeros(self.program.c.size, dtype=bool)
        touched[self.rows[kept & ~self.own].indices] = True
        for part in self.program.parts:
            rows = m + part.rows[self.own[m + part.rows]]
            stay = touched[self.rows[rows].indices]
            if part.kind == SEMIDEFINITE and rows.size:
                j, i = np.tril_indices(int(part.size))
                ends = np.union1d(i[stay], j[stay])
                stay = np.isin(i, ends) & np.isin(j, ends)
            found[rows] &= stay
        return found

    def labels_of(self, rows: Index | Mask) -> dict[str, Index]:
        """Which of some rows belong to which constraint, numbered within it."""
        chosen = np.zeros(self.right.size, dtype=bool)
        chosen[rows] = True
        found = {label: np.flatnonzero(chosen[at]) for label, at in self.constraints.items()}
        return {label: at for label, at in found.items() if at.size}

    def rows_in_words(self, rows: Mapping[str, Index]) -> str:
        """Which rows of which constraints: ``rows 0, 2 of 'a'; row 0 of 'b'``."""
        return "; ".join(
            f"row{'s' if at.size > 1 else ''} {listed(at, _LISTED)} of {label!r}"
            for label, at in rows.items()
        )

    def variables_of(self, unknowns: Index) -> tuple[str, ...]:
        """Variables that some unknowns belong to."""
        chosen = np.zeros(self.program.c.size, dtype=bool)
        chosen[unknowns] = True
        return tuple(name for name, at in self.variables.items() if chosen[at].any())

    def variables_in(self, rows: Index | Mask) -> tuple[str, ...]:
        """Variables with a coefficient in some rows."""
        return self.variables_of(self.rows[rows].indices)


class Answered(NamedTuple):
    """An answer to a program before anything is left out of it.

    Attributes
    ----------
    solution : Solution
    multipliers : array or None
        One for each row, in its stated form; zero for matrix inequalities.
    direction : mapping from variable name to array
        Along which the objective is unbounded.
    """

    solution: Solution
    multipliers: Array | None
    direction: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class View:
    """A program as it was written, and as it is solved.

    Attributes
    ----------
    stated : Named
        In units of the user; every row is there.
    solved : Named
        In units of its own, on the faces that rows state.
    look : callable
        Solves the program.
    maximize : bool
    entrywise : tuple of str
        Constraints that compare symmetric matrices entry by entry.
    mirrored : tuple of str
        Constraints that the modelling language states for both triangles of a symmetric matrix.
    penalized : mapping from label to array of int
        Unknowns that are the slack of penalties, by constraint.
    of_model : bool
        Whether it was written as a model.
    is_small : bool
        Whether proofs take about a second.
    sdp : SDP or None
        The standard form, if it has one.
    deadline : Deadline
    """

    stated: Named
    solved: Named
    look: Callable[[View], Answered]
    maximize: bool = False
    entrywise: tuple[str, ...] = ()
    mirrored: tuple[str, ...] = ()
    penalized: Mapping[str, Index] = field(default_factory=dict)
    of_model: bool = False
    is_small: bool = True
    sdp: SDP | None = None
    deadline: Deadline = field(default_factory=Deadline)

    def solve(self, program: FlatProgram, seconds: float = np.inf) -> Answer:
        """What a solver proposes; proofs believe none of it."""
        return ask_solver(program, min(seconds, self.deadline.ahead))

    @cached_property
    def units(self) -> Units:
        """Units that suit the program as it was written."""
        return Units.of(self.stated.program)

    @cached_property
    def balanced(self) -> FlatProgram:
        """The program as it was written, in those units."""
        return self.units.program(self.stated.program)

    @cached_property
    def answered(self) -> Answered:
        """What is proved of the program in half of the time."""
        enter_phase("diagnosing: solving")
        before = self.deadline.spent
        found = self.look(self)
        # The first solve loads solvers, which may take longer than all of the rest.
        took, share = self.deadline.spent - before, SHARE * self.deadline.seconds
        self.deadline.excuse(max(took - share, 0.0))
        return found

    def refuted(self, kept: Mask, most: int) -> Proved | None:
        """Proof that some rows of the balanced program contradict each other, if there is one.

        At most so many steps, faces and a ray, are looked for.
        """
        rows = self.stated.busy(kept)
        try:
            ray = refuted(used_columns(some_rows(self.balanced, rows)), PRIMAL, self.solve, most)[1]
        except UNPROVED:
            return self._refuted_by_single_rows(kept)
        return Proved(kept, Proved.by(rows, ray).multipliers)

    def _refuted_by_single_rows(self, kept: Mask) -> Proved | None:
        """The same over the rationals, which sees faces behind any number of others."""
        if self.sdp is None:
            return None
        places, rows = self.stated.constraints, list[Rows]()
        for r in self.sdp.rows:
            here = kept[places[r.label]] if r.label in places else np.ones(r.m, dtype=bool)
            rows += [r.take(here)] if here.any() else []
        found = facial_reduction(replace(self.sdp, rows=tuple(rows), lmis=()))
        if found.infeasible is None:
            return None
        z = np.zeros(kept.size)
        for label, e, _ in (one for step in found.exposures for one in step.multipliers):
            if label in places:
                z[places[label][kept[places[label]]][e]] = np.nan
        return Proved(kept, z)

    def is_feasible(self, kept: Mask) -> bool:
        """Whether some rows are proved to have a common point."""
        program = used_columns(some_rows(self.balanced, self.stated.busy(kept)))
        found = Knowledge(nothing=NOTHING)
        try:
            answer, seconds = self.solve(program), SHARE * self.deadline.ahead
            prove(program, answer, self.solve, seconds=seconds, known=found)
        except ArithmeticError:  # numbers beyond those whose rounding is accounted for
            return False
        return VALUE in found.how


def quoted(names: Iterable[str]) -> str:
    """Names in quotation marks, as they are listed in a sentence."""
    return enumerated(map(repr, names), _NAMED)
