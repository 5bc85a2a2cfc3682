"""scikit-learn estimators: hyperparameters plus one line that names the recipe."""

from sdpdr.estimators.anchored import AnchoredMVU, insert
from sdpdr.estimators.are import ARE
from sdpdr.estimators.colored_mvu import ColoredMVU
from sdpdr.estimators.density import DensityMap
from sdpdr.estimators.ghodsi import GhodsiMetric
from sdpdr.estimators.loocv import LOOCVUnfolding
from sdpdr.estimators.mfnu import MFNU
from sdpdr.estimators.minimum_volume import MVE
from sdpdr.estimators.mvu import MVU
from sdpdr.estimators.separation import ISM
from sdpdr.estimators.xing import XingMetric

__all__ = [
    "ARE",
    "ISM",
    "MFNU",
    "MVE",
    "MVU",
    "AnchoredMVU",
    "ColoredMVU",
    "DensityMap",
    "GhodsiMetric",
    "LOOCVUnfolding",
    "XingMetric",
    "insert",
]
