"""SDPLR and LoRADS as programs: factors of low rank, which never become matrices here."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import DataError, UnknownNameError
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Expression
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.solutions import Answer, read_factors
from sdpdr.solvers.base import Availability
from sdpdr.solvers.external import (
    PROBLEM,
    SOLUTION,
    ExternalSolver,
    last_count,
    last_number,
)
from sdpdr.solvers.external_files import FiledProgram

# Share of the time limit that they get: writing the answer takes time too, and SDPLR counts CPU
# seconds.
_TIME_SHARE = 0.8
# SDPLR's own is 0.1; this one makes its bounds ten times as sharp for 1.5 times the time.
_CENTRALITY = 1e-3


@dataclass(frozen=True)
class _LowRankProgram(ExternalSolver):
    """What the two have in common (options as in `Solver`)."""

    # The other side of a program, where its matrices are large, is larger than any file should be.
    forms: ClassVar[tuple[str, ...]] = ("gram",)
    # Neither has been measured on the problem library.
    by_name_only: ClassVar[bool] = True

    def accepts(self, sdp: SDP) -> str | None:
        """Programs with a matrix: of nothing but scalars there is no rank."""
        if not any(v.size for v in sdp.psd_variables) and not sdp.lmis:
            return "it has no matrix variable, and nothing to write as a factor"
        return None

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its solution file."""
        return read_factors(folder / SOLUTION, program.written)

    def _seconds(self) -> int:
        """Whole seconds, and at least one, as both want them."""
        return 86400 if self.time_limit is None else max(1, int(_TIME_SHARE * self.time_limit))


@dataclass(frozen=True)
class Sdplr(_LowRankProgram):
    """SDPLR, the augmented Lagrangian over a factor (options as in `Solver`; those of its file).

    ``options`` are the words of the parameter file that ``sdplr gen_params`` writes, for instance
    ``{"Rank reduction": 1}``. It knows no limit of iterations.

    References
    ----------
    Burer, Monteiro, A nonlinear programming algorithm for solving semidefinite programs via
    low-rank factorization, Mathematical Programming 95(2), 2003.
    """

    name: ClassVar[str] = "sdplr"
    package: ClassVar[str] = "sdplr"
    program: ClassVar[str] = "sdplr"
    source: ClassVar[str] = "https://github.com/sburer/sdplr"
    licence: ClassVar[str] = "GPL-2.0"
    # Without an answer to its first question it ends.
    version_words: ClassVar[tuple[str, ...]] = ("gen_params",)

    def command(self, folder: Path) -> list[str]:
        """Parameters go by their place in the file, not by name.

        Raises
        ------
        UnknownNameError
            For an option that has no place.
        DataError
            For a limit of iterations, which has none either.
        """
        if self.max_iter is not None:
            raise DataError(
                f"max_iter is {self.max_iter}, and solver 'sdplr' knows no limit of iterations: "
                "give it a time_limit."
            )
        for name in self.options:
            if name not in _PARAMETERS:
                raise UnknownNameError("option of solver 'sdplr'", name, _PARAMETERS)
        given = {"Time limit": self._seconds(), **self._careful(), **self.options}
        lines = [f"{name} : {x}\n" for name, x in {**_PARAMETERS, **given}.items()]
        (folder / "sdplr.params").write_text("".join(lines), encoding="ascii")
        # The third word would be a solution to begin from.
        return [PROBLEM, "sdplr.params", "none", SOLUTION]

    def _careful(self) -> dict[str, float]:
        """The tolerance, and steps that are done before multipliers move, for the bound's sake."""
        options = self.tolerances()
        return {"Centrality tolerance": _CENTRALITY, **options} if options else {}

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """By the infeasibility that it ends with, and the time that it took."""
        end = re.search(r"DIMACS error measures:\s*(\S+)", said)
        if code != 0 or end is None:
            words = f"exit status {code}"
            return Verdict.FAILED, words if end else f"{words} and no errors measured"
        wanted = {**_PARAMETERS, **self.tolerances(), **self.options}["Feasibility tolerance"]
        if float(end[1]) <= float(str(wanted)):
            return Verdict.SOLVED, "feasible to its tolerance"
        if self.time_limit is not None and _seconds_told(said) >= self._seconds():
            return Verdict.TIME_LIMIT, "out of time"
        return Verdict.INACCURATE, "not feasible to its tolerance"

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From the last line of its table; SDPLR minimises over matrices."""
        lines = re.findall(r"^ +\d+ +(\d+) +(\S+) +\S+ +\d+ *$", said, re.MULTILINE)
        return (-float(lines[-1][1]), int(lines[-1][0])) if lines else (None, None)


# In SDPLR's order. Its parameter file lists all of them, so its own defaults are among them.
_PARAMETERS: dict[str, object] = {
    "Input type": 1,
    "Feasibility tolerance": 1e-5,
    "Centrality tolerance": 1e-1,
    "Penalty factor increase": 2.0,
    "Rank reduction": 0,
    "Time limit": 3600,
    "Print level": 1,
    "Dimension threshold for dense matrices": 10,
    "Density threshold for dense matrices": 0.75,
    "Number of LBFGS vectors": 4,
    "Rank tolerance": 2.2204460492503131e-16,
    "Duality gap tolerance": 1e-3,
    "Check dual bound": -1,
    "Dual bound type": 1,
}


def _seconds_told(said: str) -> float:
    """The last column of the last line of its table."""
    found = re.findall(r"^ +\d+ +\d+ .* (\d+) *$", said, re.MULTILINE)
    return float(found[-1]) if found else 0.0


@dataclass(frozen=True)
class Lorads(_LowRankProgram):
    """LoRADS, splitting by alternating directions over two factors (options as in `Solver`).

    ``options`` are the words of its command line, for instance ``{"timesLogRank": 4.0}``. As
    published it writes no solution; ``benchmarks/lorads/build`` of our sources builds one that
    does, and no other is taken for it.

    References
    ----------
    Han, Li, Lin, Chen, Deng, Ge, Liu, Ye, A low-rank ADMM splitting approach for semidefinite
    programming, 2024, https://arxiv.org/abs/2403.09133.
    """

    name: ClassVar[str] = "lorads"
    package: ClassVar[str] = "lorads"
    program: ClassVar[str] = "lorads"
    source: ClassVar[str] = "https://github.com/COPT-Public/LoRADS"
    licence: ClassVar[str] = "MIT"
    environment: ClassVar = {"LORADS_SOLUTION": SOLUTION}
    limits: ClassVar = {"maxALMIter": "max_iter", "maxADMMIter": "max_iter"}

    @classmethod
    def availability(cls) -> Availability:
        """Whether the program is on the PATH, and knows how to write a solution."""
        path = shutil.which(cls.program)
        if path is None:
            return super().availability()
        with suppress(OSError):
            if b"LORADS_SOLUTION" in Path(path).read_bytes():
                # It has no word that makes it tell.
                return Availability(True, True, "unknown", "")
        words = f"program {cls.program!r} writes no solution, as it is published: {cls.remedy()}"
        return Availability(False, False, "", words)

    @classmethod
    def remedy(cls) -> str:
        """How to get it."""
        return f"{super().remedy()}, with benchmarks/lorads/build of sdpdr's sources"

    def write(self, program: FiledProgram, path: Path) -> None:
        """Scalars are written as the diagonal of a matrix: its rows ignore a diagonal block."""
        replace(program, written=with_matrices_alone(program.written)).write(path)

    def command(self, folder: Path) -> list[str]:
        """All of its parameters have a place on the command line."""
        given = {"timeSecLimit": self._seconds(), **self.native_options(), **self.options}
        return [PROBLEM, *(word for k, x in given.items() for word in (f"--{k}", str(x)))]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """By the reason that it gives for its end."""
        end = re.search(r"End Program[^\n]*?(?:`([^`\n]+)`|since ([\w ]+)|the status is)", said)
        if code != 0 or end is None:
            return Verdict.FAILED, f"exit status {code}" + ("" if end else " and no summary")
        words = end[1] or end[2] or "unknown"
        return _ENDS.get(words, Verdict.INACCURATE), words

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """From its summary; LoRADS minimises over matrices."""
        value = last_number(r"1\.Primal Objective: *: *(\S+)", said, sign=-1.0)
        return value, last_count(r"^(?:ALM Outer|ADMM )Iter:(\d+)", said)


_ENDS = {
    "Official terminate criteria": Verdict.SOLVED,
    "final terminate criteria": Verdict.INACCURATE,
    "the maximum number of iterations": Verdict.ITERATION_LIMIT,
    "time limit": Verdict.TIME_LIMIT,
}


def with_matrices_alone(sdp: SDP) -> SDP:
    """Non-negative vectors as diagonals of matrices whose other entries nothing mentions.

    Parameters
    ----------
    sdp : SDP
        Over matrices and non-negative vectors, with equalities alone.

    Returns
    -------
    SDP
        With the same optimal values and the same multipliers.
    """
    names = {v.name for v in sdp.vector_variables}

    def change(expression: Expression) -> Expression:
        return {n: _on_diagonal(a) if n in names else a for n, a in expression.items()}

    variables: tuple[Variable, ...] = tuple(
        PsdVariable(v.name, v.size) if v.name in names else v for v in sdp.variables
    )
    rows = tuple(replace(r, lhs=change(r.lhs)) for r in sdp.rows)
    return replace(sdp, variables=variables, objective=change(sdp.objective), rows=rows)


def _on_diagonal(linear_map: LinearMap | VectorMap) -> SvecMap:
    entries = sp.coo_array(linear_map.matrix())
    row, place = (np.asarray(part, dtype=np.intp) for part in entries.coords)
    m, size = entries.shape
    return SvecMap.from_entries(size, m, row, place, place, entries.data)
