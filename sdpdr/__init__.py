"""Semidefinite formulations of dimensionality reduction and matrix factorization.

Write a method as a sum of constraint blocks, solve it with any solver, and get back an answer
that carries its own proof of quality.
"""

from importlib.metadata import version as _version

from sdpdr import (
    baselines,
    bilinear,
    blocks,
    datasets,
    density,
    errors,
    extend,
    factorize,
    graphs,
    iterate,
    methods,
    metric,
    nonnegative,
    propagation,
    solvers,
)
from sdpdr.estimators import (
    ARE,
    ISM,
    LDA,
    LPP,
    LSDA,
    MFNU,
    MMMF,
    MVE,
    MVU,
    NMF,
    NPE,
    SDA,
    SOPCA,
    AnchoredMVU,
    ColoredMVU,
    CompletelyPositive,
    DensityMap,
    GhodsiMetric,
    IsoNMF,
    IsoProjection,
    LOOCVUnfolding,
    MixedLabelPropagation,
    PolynomialFactorization,
    RatingMMMF,
    SpectralRegression,
    XingMetric,
)
from sdpdr.factorize import nmf_bound
from sdpdr.join import join
from sdpdr.model import Model, check_block, from_cvxpy, relax, soften
from sdpdr.plan import Plan, plan
from sdpdr.program import SDP, Solution, Status
from sdpdr.quality import Quality, quality, quality_table
from sdpdr.solve import solve

__version__ = _version("sdpdr")

__all__ = [
    "ARE",
    "ISM",
    "LDA",
    "LPP",
    "LSDA",
    "MFNU",
    "MMMF",
    "MVE",
    "MVU",
    "NMF",
    "NPE",
    "SDA",
    "SDP",
    "SOPCA",
    "AnchoredMVU",
    "ColoredMVU",
    "CompletelyPositive",
    "DensityMap",
    "GhodsiMetric",
    "IsoNMF",
    "IsoProjection",
    "LOOCVUnfolding",
    "MixedLabelPropagation",
    "Model",
    "Plan",
    "PolynomialFactorization",
    "Quality",
    "RatingMMMF",
    "Solution",
    "SpectralRegression",
    "Status",
    "XingMetric",
    "baselines",
    "bilinear",
    "blocks",
    "check_block",
    "datasets",
    "density",
    "errors",
    "extend",
    "factorize",
    "from_cvxpy",
    "graphs",
    "iterate",
    "join",
    "methods",
    "metric",
    "nmf_bound",
    "nonnegative",
    "plan",
    "propagation",
    "quality",
    "quality_table",
    "relax",
    "soften",
    "solve",
    "solvers",
]
