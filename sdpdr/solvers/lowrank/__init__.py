"""Low-rank interior-point engine for programs on the edges of a graph."""

from __future__ import annotations

from sdpdr.solvers.lowrank.engine import solve_edge_program
from sdpdr.solvers.lowrank.program import EdgeProgram, EngineResult, Objective, Options, Record

__all__ = ["EdgeProgram", "EngineResult", "Objective", "Options", "Record", "solve_edge_program"]
