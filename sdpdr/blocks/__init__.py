"""The vocabulary: blocks that say one thing each about named variables."""

from sdpdr.blocks.actions import Actions, Coinciding
from sdpdr.blocks.anchors import AnchoredIsometry, AnchoredLengths, Coordinates, VarianceAboutMean
from sdpdr.blocks.dependence import Dependence
from sdpdr.blocks.ellipsoid import Enclosing, RootDeterminant
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
from sdpdr.blocks.flat import Flat
from sdpdr.blocks.floor import VarianceFloor
from sdpdr.blocks.geomean import GeometricMean
from sdpdr.blocks.gram import Centered, Gram, Variance
from sdpdr.blocks.isometry import Band, Isometry, Lengths, Relation, Slack
from sdpdr.blocks.lift import FactorLift, Known
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
from sdpdr.blocks.separation import LargestMargin, Reach, Separation
from sdpdr.blocks.spread import Apart, Spread

__all__ = [
    "Actions",
    "AnchoredIsometry",
    "AnchoredLengths",
    "Apart",
    "Band",
    "Cap",
    "Centered",
    "Coinciding",
    "Coordinates",
    "Dependence",
    "Dispersion",
    "Distances",
    "Enclosing",
    "FactorLift",
    "Flat",
    "FrobeniusBall",
    "GeometricMean",
    "Gram",
    "Isometry",
    "Known",
    "LargestMargin",
    "LeadingDiagonal",
    "LeadingTrace",
    "LeastTrace",
    "Lengths",
    "Mahalanobis",
    "NeighbourSums",
    "NonNegative",
    "OtherSums",
    "Reach",
    "Relation",
    "RootDeterminant",
    "RowSums",
    "Scatter",
    "Separation",
    "SizePrice",
    "Slack",
    "Spread",
    "SumsAtMost",
    "TraceAtMost",
    "UnitDiagonal",
    "UnitTrace",
    "Variance",
    "VarianceAboutMean",
    "VarianceFloor",
]
