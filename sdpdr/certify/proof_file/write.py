"""Write what proves an answer to a file that the checker reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.files import write_file
from sdpdr.certify.check_proof import (
    Program,
    program_hash,
    take_faces,
    witness_hash,
)
from sdpdr.certify.proof_file.bounds import find_bound
from sdpdr.certify.proof_file.forced import forced_step
from sdpdr.certify.proof_file.program import FileProgram, ProgramInFile
from sdpdr.certify.proof_file.steps import (
    Step,
    dependent_rows,
    exact_bound,
    exact_contradiction,
    steps_of,
)
from sdpdr.certify.proof_file.values import Found, Witness, find_value
from sdpdr.program.point import Value
from sdpdr.program.ray import Ray
from sdpdr.program.sdp import SDP

# What a claim may lose, relatively, before more is tried, and before it is said.
_LOSS = 1e-7
# Steps onto faces that a point is looked at for.
_FACES = 3
# Numbers of a direction beside the largest that are rounding, and what scalars that vanish become.
_ROUNDED, _LIFTED = 1e-9, 1e-4


class Proven(Protocol):
    """What is read of a solution."""

    @property
    def attained(self) -> float | None:
        """A value that is proved."""

    @property
    def bound(self) -> float | None:
        """A bound that is proved."""

    @property
    def values(self) -> Mapping[str, Value]:
        """The point."""

    @property
    def duals(self) -> Mapping[str, Array]:
        """The multipliers."""

    @property
    def ray(self) -> Ray | None:
        """What proves that there is no point, or no limit."""

    @property
    def exposures(self) -> tuple[Any, ...]:
        """Steps of facial reduction."""


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
    """The same of a program that is in the arrays of a file already.

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
    head, arrays = writer.contents()

    def write(place: Path) -> None:
        text = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
        with place.open("wb") as file:
            np.savez_compressed(file, **{"json": text, **arrays})

    write_file(path, write)
    notes = tuple(dict.fromkeys(writer.program.notes))
    return WrittenProof(Path(path), head["program"], writer.claims, writer.missing, notes)


def hash_of(sdp: SDP) -> str:
    """The hash that names a program in proof files.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> hash_of(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())[:8]
    '627faec4'
    """
    return program_hash(FileProgram(sdp).arrays)


class _Writer:
    """Gathers claims and witnesses."""

    def __init__(self, program: ProgramInFile, solution: Proven) -> None:
        self.program, self._solution = program, solution
        self.claims, self.missing = dict[str, float | bool](), dict[str, str]()
        self._faces, self._exact = list[Step](), dict[str, Step]()
        self._arrays = dict[str, Array]()

    def run(self) -> None:
        """All claims of the solution."""
        solution = self._solution
        self._faces, troubles = steps_of(self.program, solution.exposures)
        P = self._reduced()
        if P is None:
            self.claims["infeasible"] = True
        elif solution.ray is not None and solution.ray.kind == "infeasible":
            self._contradiction(P, solution.ray)
        elif solution.ray is not None:
            self._unbounded(P, solution.ray)
        else:
            if solution.bound is not None:
                self._bound(P, solution.bound)
            if solution.attained is not None:
                self._value(P, solution.attained)
        if troubles:
            for claim, why in self.missing.items():
                self.missing[claim] = f"{why}; faces: {'; '.join(troubles)}"

    def _reduced(self) -> Program | None:
        """The program on its faces; None where these leave no point."""
        P = self.program.read()
        return None if take_faces(P, self._faces) else P

    def _value(self, P: Program, attained: float) -> None:
        if not self._solution.values:
            self.missing["value"] = "the point that has it is not kept"
            return
        goal = self.program.report(attained)
        found = find_value(P, self.program.point(self._solution.values, P), goal)
        for improve in (self._without_dependent, self._on_forced_faces):
            if not isinstance(found, str):
                break
            fewer = improve(P)
            if fewer is not None:
                P, w = fewer, self.program.point(self._solution.values, fewer)
                found = find_value(P, w, goal)
        if isinstance(found, str):
            self.missing["value"] = found
            return
        rounded = found.number + 9.0 * (found.number - found.plain)
        claim = max(rounded, goal) if found.number <= goal else rounded
        self.claims["value"] = self.program.report(float(claim))
        self._keep("point", found.witness)
        self._note_loss("value", claim - goal)

    def _without_dependent(self, P: Program) -> Program | None:
        """The program without equations that follow from others; None if there are none."""
        steps = dependent_rows(P)
        self._faces = [*self._faces, *steps]
        return self._reduced() if steps else None

    def _note_loss(self, claim: str, loss: float) -> None:
        """Say where a claim is worse than what the solution proves."""
        number = float(self.claims[claim])
        if loss > _LOSS * abs(number):
            self.missing[claim] = f"the file proves {number!r} only, which is worse by {loss:.1e}"

    def _on_forced_faces(self, P: Program) -> Program | None:
        """The program on the face that the constraints force the point onto; None if on none."""
        smaller: Program | None = None
        for _ in range(_FACES):
            step = forced_step(P, self.program.point(self._solution.values, P))
            if step is None:
                break
            self._faces = [*self._faces, step]
            smaller = self._reduced()
            if smaller is None:
                break
            P = smaller
        return smaller and (self._without_dependent(smaller) or smaller)

    def _bound(self, P: Program, bound: float) -> None:
        goal, y = self.program.report(bound), self.program.multipliers(self._solution.duals, 1.0)
        found = find_bound(P, y, goal)
        if isinstance(found, str) or goal - found.number > _LOSS * abs(goal):
            step = exact_bound(P, y, goal)
            if step is not None:
                self.claims["bound"], self._exact = bound, step
                return
        if isinstance(found, str):
            self.missing["bound"] = found
            return
        claim = min(_below(found.number), goal)
        self.claims["bound"] = self.program.report(claim)
        self._arrays["y"] = found.witness
        self._note_loss("bound", goal - claim)

    def _contradiction(self, P: Program, ray: Ray) -> None:
        if not ray.duals:
            self.missing["infeasible"] = f"{ray.argument} is no single combination of constraints"
            return
        y = self.program.multipliers(ray.duals, 0.0)
        y = y / (float(np.max(np.abs(y))) or 1.0)
        found = find_bound(P, y, 0.0)
        if not isinstance(found, str) and found.number > 0.0:
            self.claims["infeasible"], self._arrays["y"] = True, found.witness
            return
        step = exact_contradiction(self.program, self._faces, y)
        if step is not None:
            self.claims["infeasible"], self._faces = True, [*self._faces, step]
            return
        contradicted = found if isinstance(found, str) else f"by {found.number:.1e} only"
        self.missing["infeasible"] = f"the multipliers contradict nothing: {contradicted}"

    def _unbounded(self, P: Program, ray: Ray) -> None:
        if not ray.values:
            self.missing["unbounded"] = f"{ray.argument} is no single direction"
            return
        direction = self.program.point(ray.values, P, ray=True)
        found = self._improving(P, direction)
        if isinstance(found, str) and (fewer := self._without_dependent(P)):
            P, found = fewer, self._improving(fewer, direction)
        point = find_value(P, self.program.point(self._solution.values, P))
        if isinstance(found, str) or isinstance(point, str):
            self.missing["unbounded"] = found if isinstance(found, str) else str(point)
            return
        self.claims["unbounded"] = True
        self._keep("point", point.witness)
        self._keep("ray", found.witness)

    def _improving(self, P: Program, direction: Witness) -> Found | str:
        """The direction, with what nearly vanishes as zero, or scalars away from zero."""
        z, said = direction["z"], "the direction does not improve the objective"
        largest = float(np.max(np.abs(z), initial=0.0))
        zeroed = np.where(np.abs(z) < _ROUNDED * largest, 0.0, z)
        lifted = np.where(P.sign == 1, np.maximum(zeroed, _LIFTED * largest), zeroed)
        plain, sparse = direction["R"], _without_small_rows(P, direction)
        whole = _whole(sparse, zeroed)
        for R, scalars in ((sparse, zeroed), (plain, zeroed), (plain, lifted), whole):
            found = find_value(P, {**direction, "R": R, "z": scalars}, ray=True)
            if not isinstance(found, str) and found.number < 0.0:
                return found
            said = found if isinstance(found, str) else said
        return said

    def _keep(self, whose: str, witness: Witness) -> None:
        self._arrays |= {f"{whose}_{name}": x for name, x in witness.items()}

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The text and the arrays of the file."""
        arrays = {**self.program.arrays, **self._arrays}
        head: dict[str, Any] = {"format": "sdp-proof", "version": 1, "claims": self.claims}
        head |= {"faces": self._faces} if self._faces else {}
        head |= {"exact": self._exact} if self._exact else {}
        hashes = {"program": program_hash(arrays), "witness": witness_hash(head, arrays)}
        return {**head, **hashes}, arrays


def _without_small_rows(P: Program, w: Witness) -> Array:
    """The factors, with rows that are rounding as zero, which they then stay."""
    found, begin = w["R"].copy(), 0
    for n, rank in zip(P.n.tolist(), w["rank"].tolist(), strict=True):
        R = found[begin : begin + n * rank].reshape(n, rank)
        lengths = np.linalg.norm(R, axis=1)
        R[lengths <= np.sqrt(_ROUNDED) * lengths.max(initial=0.0)] = 0.0
        begin += n * rank
    return found


def _whole(R: Array, z: Array) -> tuple[Array, Array]:
    """A direction of small whole numbers, which satisfies its equations without rounding.

    Where the factors are columns, a direction may be the only one up to its length, and then the
    equations have no regular solution.
    """
    least = float(np.min(np.abs(R), where=R != 0.0, initial=math.inf))
    return (np.rint(R / least), np.rint(z / least**2)) if math.isfinite(least) else (R, z)


def _below(number: float) -> float:
    """A claim next to a bound, with room for the rounding of a checker elsewhere."""
    return math.nextafter(number, -math.inf) - 4.0 * math.ulp(number)
