"""CSDP, SDPA and DSDP as external programs: command lines, parameter files, verdicts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from sdpdr.program.run import Verdict
from sdpdr.program.sdpa.solutions import Answer, read_csdp_solution, read_sdpa_result
from sdpdr.solvers.base import Availability
from sdpdr.solvers.external import (
    PROBLEM,
    SOLUTION,
    ExternalSolver,
    last_count,
    last_number,
)
from sdpdr.solvers.external_files import FiledProgram


@dataclass(frozen=True)
class Csdp(ExternalSolver):
    """CSDP, Borchers' interior-point program (options as in `Solver`; those of ``param.csdp``).

    References
    ----------
    Borchers, CSDP, a C library for semidefinite programming, Optimization Methods and Software
    11(1), 1999.
    """

    name: ClassVar[str] = "csdp"
    package: ClassVar[str] = "coinor-csdp"
    program: ClassVar[str] = "csdp"
    licence: ClassVar[str] = "CPL-1.0"
    # The choice of "auto" is not to change with the programs that are installed.
    by_name_only: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, str]] = {"maxiter": "max_iter"}

    def command(self, folder: Path) -> list[str]:
        """Write ``param.csdp``, which CSDP reads from its working directory."""
        given = self.native_options()
        if not self.defaults:
            given.setdefault("maxiter", 200)
        lines = [f"{name}={value}\n" for name, value in {**given, **self.options}.items()]
        (folder / "param.csdp").write_text("".join(lines), encoding="ascii")
        return [PROBLEM, SOLUTION]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """By the exit status."""
        return _CSDP.get(code, (Verdict.FAILED, f"exit status {code}"))

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From what it prints."""
        value = last_number(r"Primal objective value:\s*(\S+)", said)
        return value, last_count(r"Iter:\s*(\d+)", said)

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its solution file."""
        return read_csdp_solution(folder / SOLUTION, program.written)


_CSDP = {
    0: (Verdict.SOLVED, "solved"),
    1: (Verdict.INFEASIBLE, "primal infeasible"),
    2: (Verdict.UNBOUNDED, "dual infeasible"),
    3: (Verdict.INACCURATE, "partial success"),
    4: (Verdict.ITERATION_LIMIT, "maximum of iterations"),
    5: (Verdict.INACCURATE, "stuck at edge of primal feasibility"),
    6: (Verdict.INACCURATE, "stuck at edge of dual feasibility"),
    7: (Verdict.INACCURATE, "lack of progress"),
    8: (Verdict.INACCURATE, "singular matrix"),
}


@dataclass(frozen=True)
class SdpaProgram(ExternalSolver):
    """SDPA as a program (options as in `Solver`; those of ``param.sdpa``).

    `Sdpa` is the same method inside of this process, through cvxpy.

    References
    ----------
    Yamashita, Fujisawa, Fukuda, Kobayashi, Nakata, Nakata, Latest developments in the SDPA family
    for solving large-scale SDPs, Handbook on Semidefinite, Conic and Polynomial Optimization, 2012.
    """

    name: ClassVar[str] = "sdpa-file"
    package: ClassVar[str] = "sdpa"
    program: ClassVar[str] = "sdpa"
    licence: ClassVar[str] = "GPL-2.0"
    by_name_only: ClassVar[bool] = True
    version_words: ClassVar[tuple[str, ...]] = ("--version",)
    limits: ClassVar[Mapping[str, str]] = {"maxIteration": "max_iter"}
    remarks: ClassVar[Mapping[str, str]] = {
        "pdINF": "From where it began, the program or its dual looked infeasible, and it cannot "
        'tell which. options={"lambdaStar": 1e5} lets it begin farther out.'
    }

    def command(self, folder: Path) -> list[str]:
        """Write ``param.sdpa``, in which parameters are recognised by position, not by name."""
        given = {**_PARAMETERS, **self.native_options(), **self.options}
        lines = [f"{x} {name}\n" for name, x in given.items()]
        (folder / "param.sdpa").write_text("".join(lines), encoding="ascii")
        return ["-ds", PROBLEM, "-o", SOLUTION, "-p", "param.sdpa", "-numThreads", "1"]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """From the phase in its result file."""
        phase = re.search(r"phase\.value\s*=\s*(\w+)", _text(folder))
        if code != 0 or phase is None:
            return Verdict.FAILED, f"exit status {code}" + ("" if phase else " and no phase")
        return _PHASES.get(phase[1], Verdict.FAILED), phase[1]

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From its result file; SDPA calls the program over matrices the dual."""
        text = _text(folder)
        value = last_number(r"objValDual\s*=\s*(\S+)", text)
        return value, last_count(r"\bIteration\s*=\s*(\d+)", text)

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its result."""
        return read_sdpa_result(_text(folder), program.written)


# In SDPA's order. Its parameter file lists all of them, so its own defaults are among them. The
# bounds on the objective, beyond which it would give up, are too large to matter.
_PARAMETERS: dict[str, object] = {
    "maxIteration": 100,
    "epsilonStar": 1e-7,
    "lambdaStar": 1e2,
    "omegaStar": 2.0,
    "lowerBound": -1e30,
    "upperBound": 1e30,
    "betaStar": 0.1,
    "betaBar": 0.2,
    "gammaStar": 0.9,
    "epsilonDash": 1e-7,
    "xPrint": "%+.17e",
    "XPrint": "NOPRINT",
    "YPrint": "%+.17e",
    "infPrint": "%+.17e",
}
_PHASES = {
    "pdOPT": Verdict.SOLVED,
    "pdFEAS": Verdict.INACCURATE,
    "pFEAS": Verdict.INACCURATE,
    "dFEAS": Verdict.INACCURATE,
    "noINFO": Verdict.INACCURATE,
    "pFEAS_dINF": Verdict.INFEASIBLE,
    "pINF_dFEAS": Verdict.UNBOUNDED,
    "pUNBD": Verdict.INFEASIBLE,
    "dUNBD": Verdict.UNBOUNDED,
}


def _text(folder: Path) -> str:
    path = folder / SOLUTION
    return path.read_text(encoding="latin-1") if path.is_file() else ""


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
    limits: ClassVar[Mapping[str, str]] = {"maxit": "max_iter"}

    @classmethod
    def availability(cls) -> Availability:
        """Whether the program is on the PATH; its version is part of the name of a file in it."""
        found, path = super().availability(), shutil.which(cls.program)
        name = re.search(rb"results-dsdp-([\d.]+)", Path(path).read_bytes()) if path else None
        return replace(found, version=name[1].decode()) if name else found

    def command(self, folder: Path) -> list[str]:
        """All of its parameters have a place on the command line."""
        options = {**self.native_options(), **self.options}.items()
        return [PROBLEM, "-save", SOLUTION, *(w for k, x in options for w in (f"-{k}", str(x)))]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """By the last line of its own that is neither a number nor a time."""
        lines = re.findall(r"^DSDP ([^:\n]*?)[. ]*$", said, re.MULTILINE)
        words = lines[-1] if lines else f"exit status {code}"
        return _ENDS.get(words, Verdict.FAILED), words

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From what it prints; DSDP minimises over matrices."""
        value = last_number(r"^P Objective *: *(\S+)", said, sign=-1.0)
        return value, last_count(r"^(\d+) +[-+]?\d\.\d+e", said)

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its solution file, whose format is that of CSDP."""
        return read_csdp_solution(folder / SOLUTION, program.written)


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
