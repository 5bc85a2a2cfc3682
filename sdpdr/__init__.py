"""Semidefinite formulations of dimensionality reduction and matrix factorization.

Write a method as a sum of constraint blocks, solve it with any solver, and get back an answer
that carries its own proof of quality.
"""

from importlib.metadata import version as _version

from sdpdr import blocks, datasets, errors, graphs, methods, solvers
from sdpdr.estimators import MVU
from sdpdr.model import Model, check_block, from_cvxpy, relax, soften
from sdpdr.plan import Plan, plan
from sdpdr.program import SDP, Solution, Status
from sdpdr.solve import solve

__version__ = _version("sdpdr")

__all__ = [
    "MVU",
    "SDP",
    "Model",
    "Plan",
    "Solution",
    "Status",
    "blocks",
    "check_block",
    "datasets",
    "errors",
    "from_cvxpy",
    "graphs",
    "methods",
    "plan",
    "relax",
    "soften",
    "solve",
    "solvers",
]
