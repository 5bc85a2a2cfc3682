"""Write what proves an answer to a file that the checker reads."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.files import write_file
from sdpdr.certify.check_proof import (
    NoProofFileError,
    NotProvedError,
    System,
    check,
    dual,
    need,
    take_faces,
)
from sdpdr.certify.proof_file.bounds import find_bound, inwards
from sdpdr.certify.proof_file.exact import Step
from sdpdr.certify.proof_file.program import (
    FileProgram,
    Matrices,
    ProgramInFile,
    Witness,
    forms_of,
    with_scalars,
)
from sdpdr.certify.proof_file.steps import (
    BOUND,
    CONTRADICTION,
    FACE,
    dependent_rows,
    exact_bound,
    of_direction,
    step_near,
    steps_of,
)
from sdpdr.certify.proof_file.values import Found, find_value
from sdpdr.program.ray import Ray
from sdpdr.program.sdp import SDP

if TYPE_CHECKING:
    from sdpdr.certify.proof_file.flat import Sides
    from sdpdr.program.solution import Solution

Proven: TypeAlias = "Solution | Sides"
# What a claim may lose, relatively, before more is tried, and before it is said.
_LOSS = 1e-7
# Numbers of a direction beside the largest that are rounding.
_ROUNDED = 1e-9


@dataclass(frozen=True)
class WrittenProof:
    """What a proof file says.

    Attributes
    ----------
    path : Path
    program : str
        The hash of the program, which its receiver compares with that of the program meant.
    claims : mapping from "value", "bound", "infeasible" or "unbounded" to float or True
        In the sense of the objective as it was written; a number leaves room for the rounding of
        another processor, and may differ from that of the solution by as little.
    missing : mapping from claim to str
        Why something that the solution proves is not in the file.
    notes : tuple of str
        Where the program in the file is not the one that was meant, to the last digit.
    """

    path: Path
    program: str
    claims: Mapping[str, float | bool]
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def write_proof(sdp: SDP, solution: Proven, path: str | Path) -> WrittenProof:
    """Write what proves a solution to a file that anybody can check.

    Parameters
    ----------
    sdp : SDP
        The program that was solved.
    solution : Solution
    path : str or path

    Returns
    -------
    WrittenProof

    Raises
    ------
    DataError
        If nothing that the solution proves can be written.

    Examples
    --------
    >>> from sdpdr.certify.proof_file import write_proof
    >>> import tempfile
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.certify.check_proof import check
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_proof(sdp, sdpdr.solve(sdp), folder + "/answer.proof")
    ...     proved = check(written.path)
    >>> round(proved["value"], 5), round(proved["bound"], 5)
    (4.66667, 4.66667)
    """
    return write_file_of(FileProgram(sdp), solution, path)


def write_file_of(program: ProgramInFile, known: Proven, path: str | Path) -> WrittenProof:
    """The same of a program that is in the lists of a file already.

    Parameters
    ----------
    program : ProgramInFile
    known : Solution or Sides
    path : str or path

    Raises
    ------
    DataError
    """
    writer = _Writer(program, known)
    with np.errstate(all="ignore"):
        writer.run()
    if not writer.claims:
        why = "; ".join(f"{claim}: {said}" for claim, said in writer.missing.items())
        raise DataError(
            f"nothing is proved that a file could hold ({why or 'no side is proved'}). Solve with "
            'proof="full", or call prove() on the solution before.'
        )
    text = program.line + "\n" + json.dumps(writer.contents(), separators=(",", ":"))

    def write(place: Path) -> None:
        # Without the time of day, equal proofs are equal files.
        place.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))
        check(place)

    try:
        write_file(path, write)
    except (NoProofFileError, NotProvedError) as why:
        raise DataError(f"the checker does not accept the file, which is not kept: {why}") from None
    notes = tuple(dict.fromkeys(writer.program.notes))
    return WrittenProof(Path(path), program.hash, writer.claims, writer.missing, notes)


def hash_of(sdp: SDP) -> str:
    """The hash that names a program in proof files.

    Examples
    --------
    >>> from sdpdr.certify.proof_file import hash_of
    >>> from sdpdr import graphs, methods
    >>> hash_of(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())[:8]
    'f23eb4d0'
    """
    return FileProgram(sdp).hash


class _Writer:
    """Gathers claims and witnesses."""

    def __init__(self, program: ProgramInFile, solution: Proven) -> None:
        self.program, self._solution = program, solution
        self.claims, self.missing = dict[str, float | bool](), dict[str, str]()
        self._faces, self._exact, self._dual = list[Step](), dict[str, Step](), list[Step]()
        self._witnesses = dict[str, Witness]()

    def run(self) -> None:
        """All claims of the solution."""
        solution, ray = self._solution, self._solution.ray
        steps, self._troubles = list[Step](), list[str]()
        if solution.exposures:
            assert isinstance(self.program, FileProgram)
            steps, self._troubles = steps_of(self.program, solution.exposures)
        if self._take(steps):
            self.claims["infeasible"] = True
        elif ray is not None and ray.kind == "infeasible":
            self._contradiction(ray)
        elif ray is not None:
            self._unbounded(ray)
        else:
            behind = self._taken("value", "bound")
            # A value may leave out rows, which bounds then do without.
            if solution.attained is not None:
                self._value(solution.attained)
            if solution.bound is not None:
                self._bound(solution.bound, behind)
        if self._troubles:
            for claim, why in self.missing.items():
                self.missing[claim] = f"{why}; faces: {'; '.join(self._troubles)}"

    # -- faces ----------------------------------------------------------------------------------

    def _take(self, steps: Sequence[Step]) -> bool:
        """Take steps onto faces; whether they leave no point."""
        self._faces = [*self._faces, *steps]
        self._P = self.program.read()
        return take_faces(self._P, self._faces)

    def _taken(self, *claims: str) -> Array | None:
        """Take the faces behind which claims were proved; the multipliers that prove the last."""
        known = [found for claim in claims if (found := self.program.behind(claim)) is not None]
        for y in max((exposing for exposing, _ in known), key=len, default=[]):
            step = step_near(self._P, y, FACE)
            if step is None:
                self._troubles.append("multipliers that expose a face have no short fractions")
                return None
            self._take([step])
        last = self.program.behind(claims[-1])
        return None if last is None else last[1]

    def _without_dependent(self) -> bool:
        """Leave out equations that follow from others; whether there are any."""
        steps = dependent_rows(self._P)
        self._take(steps)
        return bool(steps)

    # -- value and bound ------------------------------------------------------------------------

    def _value(self, attained: float) -> None:
        if not self._solution.values:
            self.missing["value"] = "the point that has it is not kept"
            return
        goal = self.program.report(attained)
        found = self._near_point(goal)
        if isinstance(found, str) and self._without_dependent():
            found = self._near_point(goal)
        if isinstance(found, str):
            self.missing["value"] = found
            return
        rounded = found.number + 9.0 * (found.number - found.plain)
        claim = max(rounded, goal) if found.number <= goal else rounded
        self.claims["value"] = self.program.report(float(claim))
        self._witnesses["point"] = found.witness
        self._note_loss("value", claim - goal)

    def _near_point(self, goal: float | None = None) -> Found | str:
        point = self.program.matrices(self._solution.values)
        return find_value(self._P, forms_of(point, self._P), goal)

    def _note_loss(self, claim: str, loss: float) -> None:
        """Say where a claim is worse than what the solution proves."""
        number = float(self.claims[claim])
        if loss > _LOSS * abs(number):
            self.missing[claim] = f"the file proves {number!r} only, which is worse by {loss:.1e}"
        else:
            self.missing.pop(claim, None)

    def _bound(self, bound: float, behind: Array | None) -> None:
        """By the multipliers of the solution, which may move inwards, or by those behind faces."""
        goal, duals = self.program.report(bound), self._solution.duals
        given = self.program.multipliers(duals, 1.0)
        if behind is not None:
            behind[0] = 1.0
        for y in (given,) if behind is None else (behind, given):
            if self._is_bound(y, goal):
                return
        if "bound" in self.claims or not isinstance(self.program, FileProgram):
            return
        for moved in inwards(self.program.sdp, duals):
            self._is_bound(self.program.multipliers(moved, 1.0), goal, scaled=False)
            if "bound" in self.claims:
                return

    def _is_bound(self, y: Array, goal: float, *, scaled: bool = True) -> bool:
        """Claim the bound by multipliers next to y; whether it is as good as the one aimed at."""
        found = find_bound(self._P, y, images=self.program.images, scaled=scaled)
        number = -math.inf if isinstance(found, str) else found.number
        if goal - number > _LOSS * abs(goal):
            step = step_near(self._P, y, BOUND)
            exact = -math.inf if step is None else exact_bound(self._P, step)
            if step is not None and exact > number:
                self.claims["bound"] = self.program.report(min(exact, goal))
                self._exact = step
                self._note_loss("bound", goal - exact)
                return "bound" not in self.missing
        if isinstance(found, str):
            self.missing["bound"] = found
            return False
        claim = min(_below(number), goal)
        self.claims["bound"], self._exact = self.program.report(claim), {}
        self._witnesses["dual"] = found.witness
        self._note_loss("bound", goal - claim)
        return "bound" not in self.missing

    # -- no point, and no limit -----------------------------------------------------------------

    def _contradiction(self, ray: Ray) -> None:
        given = self.program.multipliers(ray.duals, 0.0) if ray.duals else None
        y = self._taken("infeasible") if given is None else given
        if y is None:
            self.missing["infeasible"] = f"{ray.argument} is no single combination of constraints"
            return
        y = y / (float(np.max(np.abs(y))) or 1.0)
        found = find_bound(self._P, y, ray=True, images=self.program.images)
        if not isinstance(found, str) and found.number > 0.0:
            self.claims["infeasible"] = True
            self._witnesses["dual"] = found.witness
            return
        step = step_near(self._P, y, CONTRADICTION)
        if step is not None and self._take([step]):
            self.claims["infeasible"] = True
            return
        contradicted = found if isinstance(found, str) else f"by {found.number:.1e} only"
        self.missing["infeasible"] = f"the multipliers contradict nothing: {contradicted}"

    def _unbounded(self, ray: Ray) -> None:
        if not ray.values:
            self._unbounded_behind_faces(ray.argument)
            return
        direction = self.program.matrices(ray.values, ray=True)
        found = self._improving(direction)
        if isinstance(found, str) and self._without_dependent():
            found = self._improving(direction)
        point = self._near_point()
        if isinstance(found, str) or isinstance(point, str):
            self.missing["unbounded"] = found if isinstance(found, str) else str(point)
            return
        self.claims["unbounded"] = True
        self._witnesses["point"] = point.witness
        self._witnesses["ray"] = found.witness

    def _unbounded_behind_faces(self, words: str) -> None:
        """That the dual program has no point, by exact steps, and a point inside."""
        point, directions = self._near_point(), self.program.directions()
        if not directions or isinstance(point, str):
            self.missing["unbounded"] = point if isinstance(point, str) else words
            return
        try:
            System(self._P, point.witness, ray=False).value(inside=True)
            D, steps = dual(self._P), list[Step]()
            for number, direction in enumerate(directions, start=1):
                is_last = number == len(directions)
                y = of_direction(self._P, D, direction)
                step = step_near(D, y, CONTRADICTION if is_last else FACE)
                need(step is not None, "no short fractions are next to a direction")
                assert step is not None
                steps.append(step)
                is_over = take_faces(D, [step])
            need(is_over, "the last direction improves nothing")
        except NotProvedError as why:
            self.missing["unbounded"] = f"{words}: {why}"
            return
        self.claims["unbounded"], self._dual = True, steps
        self._witnesses["point"] = point.witness

    def _improving(self, direction: Matrices) -> Found | str:
        """The direction, with scalars that are rounding as zero, or of small whole numbers."""
        P, said = self._P, "the direction does not improve the objective"
        for change in (_zeroed, _whole):
            changed = (w | change(w["R"], w["z"]) for w in forms_of(direction, P, ray=True))
            found = find_value(P, (with_scalars(P, w, w["z"]) for w in changed), ray=True)
            if not isinstance(found, str) and found.number < 0.0:
                return found
            said = found if isinstance(found, str) else said
        return said

    def contents(self) -> dict[str, Any]:
        """The claims, and what proves them."""
        steps = {"faces": self._faces, "exact": self._exact, "steps": self._dual}
        return {
            "format": "sdp-proof",
            "version": 6,
            "program": self.program.hash,
            "claims": self.claims,
            **{key: step for key, step in steps.items() if step},
            **{
                whose: {name: x.tolist() for name, x in witness.items()}
                for whose, witness in self._witnesses.items()
            },
        }


def _zeroed(R: Array, z: Array) -> dict[str, Array]:
    """A direction without scalars that are rounding beside the largest."""
    return {"R": R, "z": np.where(np.abs(z) < _ROUNDED * np.max(np.abs(z), initial=0.0), 0.0, z)}


def _whole(R: Array, z: Array) -> dict[str, Array]:
    """A direction of small whole numbers, which satisfies its equations without rounding.

    Where the factors are columns, a direction may be the only one up to its length, and then the
    equations have no regular solution.
    """
    z = _zeroed(R, z)["z"]
    least = float(np.min(np.abs(R), where=R != 0.0, initial=math.inf))
    return {"R": np.rint(R / least), "z": np.rint(z / least**2)} if math.isfinite(least) else {}


def _below(number: float) -> float:
    """A claim next to a bound, with room for the rounding of a checker elsewhere.

    Zero is proved by signs alone, without rounding.
    """
    if number == 0.0:
        return 0.0
    return math.nextafter(number, -math.inf) - 4.0 * math.ulp(number)
