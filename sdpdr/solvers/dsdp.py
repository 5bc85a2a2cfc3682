"""DSDP as a program: its words on the command line, its verdicts, and its iterations."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from sdpdr.solvers.base import Availability, Verdict
from sdpdr.solvers.external import PROBLEM, SOLUTION, ExternalSolver
from sdpdr.solvers.external_files import Answer, FiledProgram, read_csdp_solution


@dataclass(frozen=True)
class Dsdp(ExternalSolver):
    """DSDP, a dual-scaling interior-point program (options as in `Solver`; those of ``dsdp5``).

    It keeps its multipliers feasible and below 1e7 (``boundy``) and the trace of its matrices below
    a penalty (``penalty``), so programs whose solutions are larger come out wrong, and graded so.

    References
    ----------
    Benson, Ye, Algorithm 875: DSDP5, software for semidefinite programming, ACM Transactions on
    Mathematical Software 34(3), 2008.
    """

    name: ClassVar[str] = "dsdp"
    package: ClassVar[str] = "dsdp"
    program: ClassVar[str] = "dsdp5"
    licence: ClassVar[str] = "DSDP"
    # Its own limits on points and multipliers make answers wrong that are large.
    by_name_only: ClassVar[bool] = True
    version_words: ClassVar[tuple[str, ...]] = ("-help",)

    @classmethod
    def availability(cls) -> Availability:
        """Whether the program is on the PATH; its version is part of the name of a file in it."""
        found, path = super().availability(), shutil.which(cls.program)
        name = re.search(rb"results-dsdp-([\d.]+)", Path(path).read_bytes()) if path else None
        return replace(found, version=name[1].decode()) if name else found

    def command(self, folder: Path) -> list[str]:
        """All of its parameters have a place on the command line."""
        given: dict[str, object] = {**self.tolerances()}
        if self.max_iter is not None:
            given["maxit"] = self.max_iter
        options = {**given, **self.options}.items()
        return [PROBLEM, "-save", SOLUTION, *(w for k, x in options for w in (f"-{k}", str(x)))]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """By the last line of its own that is neither a number nor a time."""
        lines = re.findall(r"^DSDP ([^:\n]*?)[. ]*$", said, re.MULTILINE)
        words = lines[-1] if lines else f"exit status {code}"
        return _ENDS.get(words, Verdict.FAILED), words

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From what it prints; DSDP minimises over matrices."""
        value = re.search(r"^P Objective *: *(\S+)", said, re.MULTILINE)
        steps = re.findall(r"^(\d+) +[-+]?\d\.\d+e", said, re.MULTILINE)
        return -float(value[1]) if value else None, int(steps[-1]) if steps else None

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its solution file, whose format is that of CSDP."""
        return read_csdp_solution(folder / SOLUTION, program)


_ENDS = {
    "Converged": Verdict.SOLVED,
    "Dual Unbounded, Primal Infeasible": Verdict.INFEASIBLE,
    "Primal Unbounded, Dual Infeasible": Verdict.UNBOUNDED,
    "Terminated Because Dual Objective Exceeded its Bound": Verdict.INFEASIBLE,
    "Terminated Due Maximum Number of Iterations": Verdict.ITERATION_LIMIT,
    "Terminated Due to Small Steps": Verdict.INACCURATE,
    "Terminated Due to Indefinite Schur Complement": Verdict.INACCURATE,
    "Finished": Verdict.INACCURATE,
}
