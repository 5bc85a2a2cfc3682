import sdpdr.families.propagate
import sdpdr.families.regress
import sdpdr.families.sopca

from . import graphs as graphs
from . import linalg as linalg
from . import model as model
from . import program as program
from . import reduce as reduce
from . import solvers as solvers
from . import testing as testing
from .base import errors as errors
from .families import estimators as estimators
from .families import factorize as factorize
from .families import iterate as iterate
from .families import methods as methods
from .families import metric as metric
from .families import nonnegative as nonnegative
from .families.factor.completely_positive.estimator import CompletelyPositive as CompletelyPositive
from .families.factor.isometric.estimator import IsoNMF as IsoNMF
from .families.factor.mmmf.estimators import MMMF as MMMF
from .families.factor.mmmf.estimators import RatingMMMF as RatingMMMF
from .families.factor.nmf.bounds import nmf_bound as nmf_bound
from .families.factor.nmf.estimator import NMF as NMF
from .families.factor.polynomial.estimator import PolynomialFactorization as PolynomialFactorization
from .families.metric.estimators import GhodsiMetric as GhodsiMetric
from .families.metric.estimators import XingMetric as XingMetric
from .families.propagate.estimator import MixedLabelPropagation as MixedLabelPropagation
from .families.regress.projections import LDA as LDA
from .families.regress.projections import LPP as LPP
from .families.regress.projections import LSDA as LSDA
from .families.regress.projections import NPE as NPE
from .families.regress.projections import SDA as SDA
from .families.regress.projections import IsoProjection as IsoProjection
from .families.regress.spectral_regression import SpectralRegression as SpectralRegression
from .families.sopca.estimator import SOPCA as SOPCA
from .families.unfold import baselines as baselines
from .families.unfold import density as density
from .families.unfold.estimators.anchored import AnchoredMVU as AnchoredMVU
from .families.unfold.estimators.are import ARE as ARE
from .families.unfold.estimators.completion import DistanceCompletion as DistanceCompletion
from .families.unfold.estimators.kernels import ColoredMVU as ColoredMVU
from .families.unfold.estimators.kernels import DensityMap as DensityMap
from .families.unfold.estimators.kernels import LOOCVUnfolding as LOOCVUnfolding
from .families.unfold.estimators.mvu import MFNU as MFNU
from .families.unfold.estimators.mvu import MVE as MVE
from .families.unfold.estimators.mvu import MVU as MVU
from .families.unfold.estimators.separation import ISM as ISM
from .families.unfold.quality import Quality as Quality
from .families.unfold.quality import quality as quality
from .lab import datasets as datasets
from .lab import library as library
from .lab import plot as plot
from .model import Model as Model
from .model import blocks as blocks
from .model import check_block as check_block
from .model import from_cvxpy as from_cvxpy
from .model import relax as relax
from .model import soften as soften
from .model.language import atom as atom
from .model.language import entropy as entropy
from .model.language import geo_mean as geo_mean
from .model.language import lambda_max as lambda_max
from .model.language import lambda_min as lambda_min
from .model.language import log_det as log_det
from .model.language import log_sum_exp as log_sum_exp
from .model.language import matrix as matrix
from .model.language import matrix_frac as matrix_frac
from .model.language import maximize as maximize
from .model.language import minimize as minimize
from .model.language import norm as norm
from .model.language import pos as pos
from .model.language import psd as psd
from .model.language import quad_form as quad_form
from .model.language import quad_over_lin as quad_over_lin
from .model.language import root_det as root_det
from .model.language import scalar as scalar
from .model.language import square as square
from .model.language import sum_exp as sum_exp
from .model.language import sum_largest as sum_largest
from .model.language import sum_log as sum_log
from .model.language import sum_logistic as sum_logistic
from .model.language import sum_squares as sum_squares
from .model.language import symmetric as symmetric
from .model.parameters import parameter as parameter
from .program import SDP as SDP
from .program import Solution as Solution
from .program import Status as Status
from .solving.as_cvxpy import CVXPY as CVXPY
from .solving.derivatives.sensitivities import derivative as derivative
from .solving.derivatives.sensitivities import sensitivity as sensitivity
from .solving.diagnosis import diagnose as diagnose
from .solving.join import join as join
from .solving.parametric import solve_many as solve_many
from .solving.plan import Plan as Plan
from .solving.plan import plan as plan
from .solving.solve import solve as solve
from .solving.verify.verify import verify as verify

bilinear = sdpdr.families.sopca
extend = sdpdr.families.regress
propagation = sdpdr.families.propagate

__version__: str
