"""scikit-learn estimators: hyperparameters plus one line that names the recipe."""

from sdpdr.families.factor.completely_positive.estimator import CompletelyPositive
from sdpdr.families.factor.isometric.estimator import IsoNMF
from sdpdr.families.factor.margin.crossval import MMMFCV
from sdpdr.families.factor.margin.estimator import MMMF
from sdpdr.families.factor.margin.ratings import RatingMMMF
from sdpdr.families.factor.nmf.estimator import NMF
from sdpdr.families.factor.polynomial.estimator import PolynomialFactorization
from sdpdr.families.metric.estimators import GhodsiMetric, XingMetric
from sdpdr.families.propagate.estimator import MixedLabelPropagation
from sdpdr.families.regress.graph_projection import GraphProjection
from sdpdr.families.regress.projections import LDA, LPP, LSDA, NPE, SDA, IsoProjection
from sdpdr.families.regress.spectral_regression import SpectralRegression
from sdpdr.families.sopca.estimator import SOPCA
from sdpdr.families.unfold.estimators.anchored import AnchoredMVU
from sdpdr.families.unfold.estimators.are import ARE
from sdpdr.families.unfold.estimators.completion import DistanceCompletion
from sdpdr.families.unfold.estimators.densities import DensityMap
from sdpdr.families.unfold.estimators.gram import GramEmbedding, LengthEmbedding
from sdpdr.families.unfold.estimators.inserting import insert
from sdpdr.families.unfold.estimators.kernels import ColoredMVU, LOOCVUnfolding
from sdpdr.families.unfold.estimators.mvu import MFNU, MVE, MVU
from sdpdr.families.unfold.estimators.separation import ISM

__all__ = [
    "ARE",
    "ISM",
    "LDA",
    "LPP",
    "LSDA",
    "MFNU",
    "MMMF",
    "MMMFCV",
    "MVE",
    "MVU",
    "NMF",
    "NPE",
    "SDA",
    "SOPCA",
    "AnchoredMVU",
    "ColoredMVU",
    "CompletelyPositive",
    "DensityMap",
    "DistanceCompletion",
    "GhodsiMetric",
    "GramEmbedding",
    "GraphProjection",
    "IsoNMF",
    "IsoProjection",
    "LOOCVUnfolding",
    "LengthEmbedding",
    "MixedLabelPropagation",
    "PolynomialFactorization",
    "RatingMMMF",
    "SpectralRegression",
    "XingMetric",
    "insert",
]
