"""scikit-learn estimators: hyperparameters plus one line that names the recipe."""

from sdpdr.estimators.anchored import AnchoredMVU, insert
from sdpdr.estimators.are import ARE
from sdpdr.estimators.colored_mvu import ColoredMVU
from sdpdr.estimators.completely_positive import CompletelyPositive
from sdpdr.estimators.density import DensityMap
from sdpdr.estimators.ghodsi import GhodsiMetric
from sdpdr.estimators.isometric_nmf import IsoNMF
from sdpdr.estimators.loocv import LOOCVUnfolding
from sdpdr.estimators.mfnu import MFNU
from sdpdr.estimators.minimum_volume import MVE
from sdpdr.estimators.mixed_labels import MixedLabelPropagation
from sdpdr.estimators.mmmf import MMMF, RatingMMMF
from sdpdr.estimators.mvu import MVU
from sdpdr.estimators.nmf import NMF
from sdpdr.estimators.polynomial import PolynomialFactorization
from sdpdr.estimators.projections import LDA, LPP, LSDA, NPE, SDA, GraphProjection, IsoProjection
from sdpdr.estimators.separation import ISM
from sdpdr.estimators.sopca import SOPCA
from sdpdr.estimators.spectral_regression import SpectralRegression
from sdpdr.estimators.xing import XingMetric

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
    "SOPCA",
    "AnchoredMVU",
    "ColoredMVU",
    "CompletelyPositive",
    "DensityMap",
    "GhodsiMetric",
    "GraphProjection",
    "IsoNMF",
    "IsoProjection",
    "LOOCVUnfolding",
    "MixedLabelPropagation",
    "PolynomialFactorization",
    "RatingMMMF",
    "SpectralRegression",
    "XingMetric",
    "insert",
]
