"""Solvers behind one contract; `sdpdr.solvers()` is the table of what runs here."""

import sys
from types import ModuleType as _ModuleType

from sdpdr.base.gather import names as _names
from sdpdr.program.run import Verdict as Verdict
from sdpdr.solvers.base import FORMS as FORMS
from sdpdr.solvers.base import Availability as Availability
from sdpdr.solvers.base import Outcome as Outcome
from sdpdr.solvers.base import Solver as Solver
from sdpdr.solvers.copt import Copt as Copt
from sdpdr.solvers.cvxpy_solvers import Clarabel as Clarabel
from sdpdr.solvers.cvxpy_solvers import Cvxopt as Cvxopt
from sdpdr.solvers.cvxpy_solvers import Mosek as Mosek
from sdpdr.solvers.cvxpy_solvers import Scs as Scs
from sdpdr.solvers.cvxpy_solvers import Sdpa as Sdpa
from sdpdr.solvers.dense.solver import Dense as Dense
from sdpdr.solvers.external import ExternalSolver as ExternalSolver
from sdpdr.solvers.external_programs import Csdp as Csdp
from sdpdr.solvers.external_programs import Dsdp as Dsdp
from sdpdr.solvers.external_programs import SdpaProgram as SdpaProgram
from sdpdr.solvers.ipopt import Ipopt as Ipopt
from sdpdr.solvers.low_rank_programs import Lorads as Lorads
from sdpdr.solvers.low_rank_programs import Sdplr as Sdplr
from sdpdr.solvers.lowrank.solver import LowRank as LowRank
from sdpdr.solvers.multiprecision import Multiprecision as Multiprecision
from sdpdr.solvers.multiprecision import Reference as Reference
from sdpdr.solvers.multiprecision import reference as reference
from sdpdr.solvers.nearest.solver import Nearest as Nearest
from sdpdr.solvers.registry import SolverInfo as SolverInfo
from sdpdr.solvers.registry import SolverTable as SolverTable
from sdpdr.solvers.registry import find as find
from sdpdr.solvers.registry import table as table
from sdpdr.solvers.tolerance import Rule as Rule

__all__ = _names(vars())


class _CallableModule(_ModuleType):
    """Lets `sdpdr.solvers()` print the table while `sdpdr.solvers.Clarabel` stays an attribute."""

    def __call__(self) -> SolverTable:
        return table()


sys.modules[__name__].__class__ = _CallableModule
