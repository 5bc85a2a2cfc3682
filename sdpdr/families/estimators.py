"""scikit-learn estimators: hyperparameters plus one line that names the recipe."""

from sdpdr.base.gather import names as _names
from sdpdr.families.factor.completely_positive.estimator import (
    CompletelyPositive as CompletelyPositive,
)
from sdpdr.families.factor.isometric.estimator import IsoNMF as IsoNMF
from sdpdr.families.factor.mmmf.estimators import MMMF as MMMF
from sdpdr.families.factor.mmmf.estimators import RatingMMMF as RatingMMMF
from sdpdr.families.factor.nmf.estimator import NMF as NMF
from sdpdr.families.factor.polynomial.estimator import (
    PolynomialFactorization as PolynomialFactorization,
)
from sdpdr.families.metric.estimators import GhodsiMetric as GhodsiMetric
from sdpdr.families.metric.estimators import XingMetric as XingMetric
from sdpdr.families.propagate.estimator import MixedLabelPropagation as MixedLabelPropagation
from sdpdr.families.regress.projections import LDA as LDA
from sdpdr.families.regress.projections import LPP as LPP
from sdpdr.families.regress.projections import LSDA as LSDA
from sdpdr.families.regress.projections import NPE as NPE
from sdpdr.families.regress.projections import SDA as SDA
from sdpdr.families.regress.projections import GraphProjection as GraphProjection
from sdpdr.families.regress.projections import IsoProjection as IsoProjection
from sdpdr.families.regress.spectral_regression import SpectralRegression as SpectralRegression
from sdpdr.families.sopca.estimator import SOPCA as SOPCA
from sdpdr.families.unfold.estimators.anchored import AnchoredMVU as AnchoredMVU
from sdpdr.families.unfold.estimators.are import ARE as ARE
from sdpdr.families.unfold.estimators.completion import DistanceCompletion as DistanceCompletion
from sdpdr.families.unfold.estimators.gram import GramEmbedding as GramEmbedding
from sdpdr.families.unfold.estimators.gram import LengthEmbedding as LengthEmbedding
from sdpdr.families.unfold.estimators.kernels import ColoredMVU as ColoredMVU
from sdpdr.families.unfold.estimators.kernels import DensityMap as DensityMap
from sdpdr.families.unfold.estimators.kernels import LOOCVUnfolding as LOOCVUnfolding
from sdpdr.families.unfold.estimators.mvu import MFNU as MFNU
from sdpdr.families.unfold.estimators.mvu import MVE as MVE
from sdpdr.families.unfold.estimators.mvu import MVU as MVU
from sdpdr.families.unfold.estimators.separation import ISM as ISM

__all__ = _names(vars())
