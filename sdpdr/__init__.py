"""Semidefinite formulations of dimensionality reduction and matrix factorization.

Write a method as a sum of constraint blocks, solve it with any solver, and get back an answer
that carries its own proof of quality.
"""

from importlib.metadata import version as _version

from sdpdr import (
    baselines,
    blocks,
    datasets,
    density,
    errors,
    graphs,
    iterate,
    methods,
    metric,
    solvers,
)
from sdpdr.estimators import (
    ARE,
    ISM,
    MFNU,
    MVE,
    MVU,
    AnchoredMVU,
    ColoredMVU,
    DensityMap,
    GhodsiMetric,
    LOOCVUnfolding,
    XingMetric,
)
from sdpdr.model import Model, check_block, from_cvxpy, relax, soften
from sdpdr.plan import Plan, plan
from sdpdr.program import SDP, Solution, Status
from sdpdr.quality import Quality, quality, quality_table
from sdpdr.solve import solve

__version__ = _version("sdpdr")

__all__ = [
    "ARE",
    "ISM",
    "MFNU",
    "MVE",
    "MVU",
    "SDP",
    "AnchoredMVU",
    "ColoredMVU",
    "DensityMap",
    "GhodsiMetric",
    "LOOCVUnfolding",
    "Model",
    "Plan",
    "Quality",
    "Solution",
    "Status",
    "XingMetric",
    "baselines",
    "blocks",
    "check_block",
    "datasets",
    "density",
    "errors",
    "from_cvxpy",
    "graphs",
    "iterate",
    "methods",
    "metric",
    "plan",
    "quality",
    "quality_table",
    "relax",
    "soften",
    "solve",
    "solvers",
]
