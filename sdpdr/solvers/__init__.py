"""Solvers behind one contract; `sdpdr.solvers()` is the table of what runs here."""

import sys
from types import ModuleType

from sdpdr.program.run import Verdict
from sdpdr.solvers.base import FORMS, Availability, Outcome, Solver
from sdpdr.solvers.copt import Copt
from sdpdr.solvers.cvxpy_solvers import Clarabel, Cvxopt, Mosek, Scs, Sdpa
from sdpdr.solvers.dense.solver import Dense
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.external_programs import Csdp, Dsdp, SdpaProgram
from sdpdr.solvers.ipopt import Ipopt
from sdpdr.solvers.low_rank_programs import Lorads, Sdplr
from sdpdr.solvers.lowrank.solver import LowRank
from sdpdr.solvers.multiprecision import Multiprecision, Reference, reference
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import SolverInfo, SolverTable, find, table
from sdpdr.solvers.tolerance import Rule

__all__ = [
    "FORMS",
    "Availability",
    "Clarabel",
    "Copt",
    "Csdp",
    "Cvxopt",
    "Dense",
    "Dsdp",
    "ExternalSolver",
    "Ipopt",
    "Lorads",
    "LowRank",
    "Mosek",
    "Multiprecision",
    "Nearest",
    "Outcome",
    "Reference",
    "Rule",
    "Scs",
    "Sdpa",
    "SdpaProgram",
    "Sdplr",
    "Solver",
    "SolverInfo",
    "SolverTable",
    "Verdict",
    "find",
    "reference",
    "table",
]


class _CallableModule(ModuleType):
    """Lets `sdpdr.solvers()` print the table while `sdpdr.solvers.Clarabel` stays an attribute."""

    def __call__(self) -> SolverTable:
        return table()


sys.modules[__name__].__class__ = _CallableModule
