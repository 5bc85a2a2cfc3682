"""COPT, by its own interface.

That of cvxpy takes a time limit for infeasibility, drops what COPT says when it raises, and has a
row for every entry of a matrix, of which there are few without a licence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SolverLicenceError
from sdpdr.program.entries import entries_of
from sdpdr.program.point import Point, PsdVariable, Variable
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.solutions import Answer
from sdpdr.solvers.base import Outcome, Progress, Solver
from sdpdr.solvers.external_files import FiledProgram, filed
from sdpdr.solvers.processes.native import native_code_runs
from sdpdr.solvers.processes.silence import undisturbed

_ENDS = {
    1: (Verdict.SOLVED, "optimal"),
    2: (Verdict.INFEASIBLE, "infeasible"),
    3: (Verdict.UNBOUNDED, "unbounded"),
    4: (Verdict.FAILED, "infeasible or unbounded"),
    5: (Verdict.INACCURATE, "numerical trouble"),
    7: (Verdict.INACCURATE, "imprecise"),
    8: (Verdict.TIME_LIMIT, "out of time"),
    9: (Verdict.INACCURATE, "unfinished"),
    10: (Verdict.INACCURATE, "interrupted"),
    11: (Verdict.ITERATION_LIMIT, "iteration limit"),
}
# Its code for what it does not do without a licence, and how much it does.
_LICENCE, _FREE = 4, 2000
# Its other methods, one of which it may choose by itself, leave multipliers that prove little.
_PRIMAL_DUAL = 0


@dataclass(frozen=True)
class Copt(Solver):
    """COPT, a commercial interior-point method (options as in `Solver`; its own parameters).

    Without a licence it takes programs of 2,000 rows and 2,000 scalars and matrices, for
    non-commercial use. Which of a program and its dual has fewer rows is what it gets.

    References
    ----------
    Ge, Huangfu, Wang, Wu, Ye, Cardinal Optimizer (COPT) user guide, 2022,
    https://arxiv.org/abs/2208.14314.
    """

    name: ClassVar[str] = "copt"
    package: ClassVar[str] = "coptpy"
    module: ClassVar[str] = "coptpy"
    extra: ClassVar[str] = "copt"
    licence: ClassVar[str] = "commercial"
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi", "chordal", "chordal-lmi")
    is_native: ClassVar[bool] = True
    # It always prints where it looks for a licence; the output of a worker is not shown.
    is_dangerous: ClassVar[bool] = True
    # It has not been measured on the problem library.
    by_name_only: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, str]] = {"TimeLimit": "time_limit", "BarIterLimit": "max_iter"}

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Hand the program over as matrices, solve it, and read its point.

        Raises
        ------
        SolverLicenceError
            If the program is too large to be solved without a licence.
        """
        deadline = Deadline(self.time_limit)
        native_code_runs()
        import coptpy

        program = filed(sdp, keep_free=True)
        with undisturbed(self.verbose):
            model, rows, order = _loaded(coptpy, program, self.verbose)
            rest = replace(self, time_limit=deadline.left())
            for name, value in rest._parameters().items():
                model.setParam(name, value)
            compiling = deadline.spent
            try:
                model.solve()
            except coptpy.CoptError as error:
                if getattr(error, "retcode", None) != _LICENCE:
                    raise
                raise SolverLicenceError(_too_large(program)) from None
        seconds = {"compile": compiling, "solve": deadline.spent - compiling}
        return _outcome(model, program, rows, order, seconds)

    def _parameters(self) -> dict[str, Any]:
        """The uniform options in COPT's names, and its own."""
        method = {} if self.defaults else {"SDPMethod": _PRIMAL_DUAL}
        return {"Threads": 1, **method, **self.native_options(), **self.options}


def _too_large(program: FiledProgram) -> str:
    scalars = sum(v.size for v in program.equality.vector_variables)
    matrices = len(program.equality.psd_variables)
    return (
        f"solver 'copt' has no licence here, and takes {_FREE} rows, and {_FREE} scalars and "
        f"matrices, without one; this program has {program.n_rows} rows, {scalars} scalars and "
        f"{matrices} matrices. Any other solver in sdpdr.solvers() will do."
    )


def _kind(variable: Variable) -> str:
    """Its cone in COPT's words. Matrices of order 1, which it does not take, are scalars."""
    if isinstance(variable, PsdVariable):
        return "s" if variable.n > 1 else "l"
    return "l" if variable.nonnegative else "f"


def _in_order(sdp: SDP) -> list[Variable]:
    """Variables in COPT's order: free scalars, those with a sign, matrices."""
    return sorted((v for v in sdp.variables if v.size), key=lambda v: "fls".index(_kind(v)))


def _loaded(
    coptpy: ModuleType, program: FiledProgram, verbose: bool
) -> tuple[Any, Index, list[Variable]]:
    """A model of min c'x with A x = b over cones, where it has put each row, and the variables."""
    sdp = program.equality
    order = _in_order(sdp)
    entries = entries_of(sdp, order)
    first = np.cumsum([0, *(v.size for v in order)])
    number, block, i, j = entries.place
    matrix = np.array([_kind(v) == "s" for v in order], dtype=bool)
    size = np.array([v.n if isinstance(v, PsdVariable) else 0 for v in order], dtype=np.int64)
    # The lower triangle of a matrix, column by column; the longer index names the row.
    low, high = np.minimum(i, j) - 1, np.maximum(i, j) - 1
    triangle = low * size[block - 1] - low * (low + 1) // 2 + high
    column = first[block - 1] + np.where(matrix[block - 1], triangle, i - 1)
    table = sp.csr_array(
        (entries.value, (number, column)), shape=(program.n_rows + 1, int(first[-1]))
    )
    config = coptpy.EnvrConfig()
    if not verbose:
        config.set("nobanner", "1")
    model = coptpy.Envr(config).createModel()
    model.setParam("Logging", int(verbose))
    dims = {
        "f": sum(v.size for v in order if _kind(v) == "f"),
        "l": sum(v.size for v in order if _kind(v) == "l"),
        "s": [v.n for v in order if isinstance(v, PsdVariable) and v.n > 1],
    }
    cost = -table[[0]].toarray().ravel()
    rhs = np.concatenate([np.zeros(0), *(r.rhs for r in sdp.rows)])
    rows = model.loadConeMatrix(cost, sp.csc_matrix(table[1:]), rhs, dims)
    model.objsense = coptpy.COPT.MINIMIZE
    return model, np.asarray(rows, dtype=np.int64), order


def _outcome(
    model: Any,
    program: FiledProgram,
    rows: Index,
    order: list[Variable],
    seconds: dict[str, float],
) -> Outcome:
    verdict, words = _ENDS.get(model.status, (Verdict.FAILED, f"status {model.status}"))
    if program.is_dual:
        verdict = verdict.mirrored
    claim = Claim(words, iterations=int(model.barrieriter))
    if not model.haslpsol:
        return Outcome(Point(), verdict, claim, seconds)
    claim = replace(claim, value=program.value(-float(model.objval)))
    sdp = program.equality
    # It fails if matrices are requested and there are none.
    matrices = model.getPsdValues() if any(_kind(v) == "s" for v in order) else []
    numbers = np.concatenate([model.getValues(), matrices])
    parts = dict(zip((v.name for v in order), _parts(numbers, order), strict=True))
    blocks = [parts[v.name] for v in sdp.psd_variables if v.size]
    scalars = [parts[v.name] for v in sdp.vector_variables if v.size]
    if scalars:
        blocks.append(np.concatenate(scalars))
    # It keeps rows with matrices apart, and counts both from one, the former below zero.
    plain = np.asarray(model.getDuals(), dtype=float)
    rest = model.getPsdDuals() if (rows < 0).any() else []
    x = -np.concatenate([plain, rest])[np.where(rows > 0, rows - 1, plain.size - rows - 1)]
    return Outcome(program.point(Answer(x, tuple(blocks))), verdict, claim, seconds)


def _parts(numbers: Array, order: list[Variable]) -> Iterator[Array]:
    """Values of the variables: vectors, and matrices from their lower triangles."""
    ends = np.cumsum([v.size for v in order])[:-1]
    for v, part in zip(order, np.split(numbers, ends), strict=True):
        if not isinstance(v, PsdVariable):
            yield part
            continue
        dense = np.zeros((v.n, v.n))
        # Columns of the lower triangle are rows of the upper one.
        dense[np.triu_indices(v.n)] = part
        yield dense + np.triu(dense, 1).T
