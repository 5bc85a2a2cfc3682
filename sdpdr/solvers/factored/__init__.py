"""General low-rank engine: any program over factors, by an augmented Lagrangian."""

from __future__ import annotations

from sdpdr.solvers.factored.compile import why_not
from sdpdr.solvers.factored.engine import solve_factored
from sdpdr.solvers.factored.options import Options, Record, Result

__all__ = ["Options", "Record", "Result", "solve_factored", "why_not"]
