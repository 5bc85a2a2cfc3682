"""Problems that were written in cvxpy, as programs in the standard form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import cvxpy as cp
import cvxpy.atoms as atoms

from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.model.block import relabel
from sdpdr.model.conic.interface import ConicInterface, GradedAnswer, read_data
from sdpdr.model.conic.pieces import AUXILIARY, SQUARES
from sdpdr.model.conic.read import Reading
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution

# Names of rows longer than this are no help to a reader.
_LONGEST_LABEL = 40
_CONES = {"ExpCone": "exponential", "PowCone3D": "power", "PowConeND": "power"}
_BEYOND = dict.fromkeys(atoms.EXP_ATOMS, "exponential") | {
    # cvxpy 1.7 writes all of them by second-order cones, and has no such lists.
    atom: "power"
    for group in ("POWCONE_ATOMS", "POWCONE_ND_ATOMS")
    for atom in getattr(atoms, group, ())
}


# Functions of this package's own models, of atoms that no semidefinite program describes.
_OWN = {
    "exp": "sum_exp", "log": "sum_log", "log_det": "log_det", "log_sum_exp": "log_sum_exp",
    "entr": "entropy", "logistic": "sum_logistic",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class _WayBack:
    """The way back from a program to the problem that it was read from."""

    problem: cp.Problem
    chain: Any
    inverse: Any
    reading: Reading


@dataclass(frozen=True, eq=False, repr=False)
class CvxpyProgram(SDP):
    """A program that was read from a cvxpy problem, by `sdpdr.from_cvxpy`.

    Rows have the names of the problem's constraints, and variables those of its variables. What
    follows from it by a reduction, or travels to another process, is a program without the way
    back.
    """

    _way: _WayBack | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_way": None}

    def give_back(self, solution: Solution) -> cp.Problem:
        """Give the problem its status and value, its variables and constraints their values.

        Parameters
        ----------
        solution : Solution
            An answer to this program.

        Returns
        -------
        cvxpy.Problem
            The one that was read.

        Raises
        ------
        DataError
            If the program is not the one that was read, but has come of it; or if the solution is
            of another program.
        cvxpy.SolverError
            As cvxpy raises it, if there is no point and nothing was proved.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import sdpdr
        >>> x = cp.Variable(2, name="x")
        >>> program = sdpdr.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(x)), [cp.norm(x) <= 1]))
        >>> problem = program.give_back(sdpdr.solve(program))
        >>> problem.status, x.value.round(4)
        ('optimal', array([0.7071, 0.7071]))
        """
        if self._way is None:
            raise DataError(
                "this program has come of one that from_cvxpy has read, and does not know the "
                "problem: give the answer back to that one."
            )
        if solution.values and not self.is_point(solution.values):
            raise DataError("the solution is of another program: it lacks variables of this one.")
        way = self._way
        try:
            way.problem.unpack_results(GradedAnswer(way.reading, solution), way.chain, way.inverse)
        except cp.SolverError:
            raise cp.SolverError(
                f"SDPDR has no point to give back: {solution.status.name}. {solution.advice}"
            ) from None
        return way.problem


def read_problem(problem: cp.Problem, name: str | None = None) -> CvxpyProgram:
    """A cvxpy problem as a program in the standard form (see `sdpdr.from_cvxpy`)."""
    refuse(problem)
    interface = ConicInterface()
    try:
        data, chain, inverse = problem.get_problem_data(interface)
    except cp.SolverError as error:
        raise NotAcceptedError(f"cvxpy finds no way to write the problem: {error}") from error
    reading = read_data(
        data,
        labels=final_labels(problem, inverse),
        variables={v.id: v.name() for v in problem.variables()},
        maximize=isinstance(problem.objective, cp.Maximize),
    )
    parts = {f.name: getattr(reading.sdp, f.name) for f in fields(SDP) if f.init}
    program = CvxpyProgram(**{**parts, "name": name or ""})
    object.__setattr__(program, "_way", _WayBack(problem, chain, inverse, reading))
    return program


def final_labels(problem: cp.Problem, inverse: list[Any]) -> dict[int, str]:
    """Labels of constraints by what they are called after all steps of cvxpy's."""
    final = _final_identities(inverse)
    return {final.get(c.id, c.id): label for c, label in labels_of(problem)}


def _final_identities(inverse: list[Any]) -> dict[int, int]:
    """What constraints are called after all steps of cvxpy's."""
    found: dict[int, int] = {}
    for step in inverse:
        # One of the steps keeps a tuple, of which this is the last part.
        ids = step[-1] if isinstance(step, tuple) and step else getattr(step, "cons_id_map", {})
        found = {first: ids.get(last, last) for first, last in found.items()} | {
            first: last for first, last in ids.items() if first not in found
        }
    return found


def labels_of(problem: cp.Problem) -> Iterator[tuple[Any, str]]:
    """A label for each constraint: the one it was given, or how it was written if that is short."""
    seen = {AUXILIARY, SQUARES}
    for k, c in enumerate(problem.constraints, start=1):
        given = getattr(c, "label", None)
        label = relabel(given or _written(c) or f"constraint {k}", seen)
        seen.add(label)
        yield c, label


def _written(constraint: Any) -> str | None:
    """How a constraint was written, without numbers of cvxpy's own making; None if it is long."""
    if any(constant.size > 1 for constant in constraint.constants()):
        return None
    written = str(constraint)
    return written if len(written) <= _LONGEST_LABEL and "\n" not in written else None


def refuse(problem: cp.Problem) -> None:
    """Refuse what has no standard form, in a sentence that says why.

    Raises
    ------
    DataError
        A parameter has no value.
    NotAcceptedError
        All else: there are no variables, or integer ones, or the problem is not convex by cvxpy's
        rules, or needs other cones.
    """
    for p in problem.parameters():
        if p.value is None:
            raise DataError(f"parameter {p.name()!r} has no value: give it one, then read again.")
    if not problem.variables():
        raise NotAcceptedError("the problem has no variables, so there is nothing to decide.")
    for v in problem.variables():
        if v.attributes["integer"] or v.attributes["boolean"]:
            raise NotAcceptedError(
                f"variable {v.name()!r} is integer: semidefinite programs decide no integers; "
                "relax it to an interval for a bound, or use an integer solver of cvxpy's."
            )
    if not problem.is_dcp():
        raise NotAcceptedError(
            "the problem is not convex by cvxpy's rules (DCP): "
            f"{_culprit(problem)}; write it so that problem.is_dcp() is true."
        )
    for what, kind, atom in needed_cones(problem):
        own = f" write it as a model, with sdpdr.{_OWN[atom]}," if atom in _OWN else ""
        raise NotAcceptedError(
            f"{what} needs the {kind} cone, which no semidefinite program describes exactly:{own} "
            "leave it out, replace it, or solve the problem by CLARABEL, which has that cone; then "
            "sdpdr.verify(problem) proves how good the answer is."
        )


def _culprit(problem: cp.Problem) -> str:
    """What is not convex by the rules."""
    if not problem.objective.is_dcp():
        return f"the objective {_shown(problem.objective)} is to blame"
    worst = next(c for c in problem.constraints if not c.is_dcp())
    return f"the constraint {_shown(worst)} is to blame"


def needed_cones(problem: cp.Problem) -> Iterator[tuple[str, str, str]]:
    """Atoms and constraints that need other cones, which, and the atom's name."""
    for c in problem.constraints:
        kind = _CONES.get(type(c).__name__)
        if kind is not None:
            yield f"the constraint {_shown(c)}", kind, ""
    for atom in problem.atoms():
        if atom in _BEYOND:
            yield f"the atom {atom.__name__}", _BEYOND[atom], atom.__name__


def _shown(thing: object) -> str:
    text = " ".join(str(thing).split())
    return text if len(text) <= 2 * _LONGEST_LABEL else f"{text[: 2 * _LONGEST_LABEL]}…"
