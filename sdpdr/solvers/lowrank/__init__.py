"""Our own solver: matrices as R R^T with few columns, by one of four engines."""

from __future__ import annotations

from sdpdr.solvers.lowrank.edge.engine import solve_edge_program
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, EdgeResult, Objective
from sdpdr.solvers.lowrank.frame import Options, Result
from sdpdr.solvers.lowrank.frame import StepRecord as Record
from sdpdr.solvers.lowrank.general.compile import why_not
from sdpdr.solvers.lowrank.general.engine import FactoredResult, solve_factored

__all__ = [
    "EdgeProgram",
    "EdgeResult",
    "FactoredResult",
    "Objective",
    "Options",
    "Record",
    "Result",
    "solve_edge_program",
    "solve_factored",
    "why_not",
]
