"""The vocabulary: blocks that say one thing each about named variables."""

from sdpdr.blocks.actions import Actions, Coinciding
from sdpdr.blocks.anchors import AnchoredIsometry, AnchoredLengths, Coordinates, VarianceAboutMean
from sdpdr.blocks.bilinear import KeptNorms, Splittings
from sdpdr.blocks.close import Close
from sdpdr.blocks.copositive import Along, Copositive, Cut, SplitCopositive
from sdpdr.blocks.dependence import Dependence
from sdpdr.blocks.ellipsoid import Enclosing, RootDeterminant
from sdpdr.blocks.embedding import EntryPrice, Normalized
from sdpdr.blocks.entries import (
    Dispersion,
    LeastTrace,
    NeighbourSums,
    NonNegative,
    OtherSums,
    RowSums,
    SumsAtMost,
    TraceAtMost,
    UnitDiagonal,
)
from sdpdr.blocks.expressions import Agree, Costs, Fits, Rewards
from sdpdr.blocks.factor_norms import MaxNorm, ProductLift, TraceNorm
from sdpdr.blocks.flat import Flat
from sdpdr.blocks.floor import VarianceFloor
from sdpdr.blocks.geomean import GeometricMean
from sdpdr.blocks.gram import Centered, Gram, Variance
from sdpdr.blocks.hoyer import HoyerSparsity
from sdpdr.blocks.isometry import Band, Isometry, Lengths, Relation, Slack
from sdpdr.blocks.lift import FactorLift, Known
from sdpdr.blocks.margins import MarginMultipliers, Margins
from sdpdr.blocks.metric import (
    Cap,
    Distances,
    FrobeniusBall,
    LeadingDiagonal,
    LeadingTrace,
    Mahalanobis,
    Scatter,
    SizePrice,
    UnitTrace,
)
from sdpdr.blocks.moments import Localized, MomentMatrix
from sdpdr.blocks.nonnegative import (
    Envelope,
    LowRankBall,
    Overlap,
    SameCorner,
    SlicedProducts,
)
from sdpdr.blocks.polynomial import Layers, Moments, PolynomialLift
from sdpdr.blocks.products import ProductSums, Scalarised, SmallProducts
from sdpdr.blocks.propagation import FixedScaleDual, LargestMultiple, LeastEnergy, UnitEnergy
from sdpdr.blocks.regression import AbsoluteSize, LeastSquares, SquaredSize
from sdpdr.blocks.separation import LargestMargin, Reach, Separation
from sdpdr.blocks.spectral import (
    DualMaxNorm,
    Fantope,
    FrobeniusNorm,
    KyFan,
    SpectralNorm,
    dilation,
)
from sdpdr.blocks.spread import Apart, Spread

__all__ = [
    "AbsoluteSize",
    "Actions",
    "Agree",
    "Along",
    "AnchoredIsometry",
    "AnchoredLengths",
    "Apart",
    "Band",
    "Cap",
    "Centered",
    "Close",
    "Coinciding",
    "Coordinates",
    "Copositive",
    "Costs",
    "Cut",
    "Dependence",
    "Dispersion",
    "Distances",
    "DualMaxNorm",
    "Enclosing",
    "EntryPrice",
    "Envelope",
    "FactorLift",
    "Fantope",
    "Fits",
    "FixedScaleDual",
    "Flat",
    "FrobeniusBall",
    "FrobeniusNorm",
    "GeometricMean",
    "Gram",
    "HoyerSparsity",
    "Isometry",
    "KeptNorms",
    "Known",
    "KyFan",
    "LargestMargin",
    "LargestMultiple",
    "Layers",
    "LeadingDiagonal",
    "LeadingTrace",
    "LeastEnergy",
    "LeastSquares",
    "LeastTrace",
    "Lengths",
    "Localized",
    "LowRankBall",
    "Mahalanobis",
    "MarginMultipliers",
    "Margins",
    "MaxNorm",
    "MomentMatrix",
    "Moments",
    "NeighbourSums",
    "NonNegative",
    "Normalized",
    "OtherSums",
    "Overlap",
    "PolynomialLift",
    "ProductLift",
    "ProductSums",
    "Reach",
    "Relation",
    "Rewards",
    "RootDeterminant",
    "RowSums",
    "SameCorner",
    "Scalarised",
    "Scatter",
    "Separation",
    "SizePrice",
    "Slack",
    "SlicedProducts",
    "SmallProducts",
    "SpectralNorm",
    "SplitCopositive",
    "Splittings",
    "Spread",
    "SquaredSize",
    "SumsAtMost",
    "TraceAtMost",
    "TraceNorm",
    "UnitDiagonal",
    "UnitEnergy",
    "UnitTrace",
    "Variance",
    "VarianceAboutMean",
    "VarianceFloor",
    "dilation",
]
