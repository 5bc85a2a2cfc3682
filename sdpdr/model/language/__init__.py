"""The language of models: variables, comparisons, penalties, functions and objectives."""

from sdpdr.base.gather import names as _names
from sdpdr.model.language import numpy_functions as numpy_functions
from sdpdr.model.language.constraints import Constraint as Constraint
from sdpdr.model.language.constraints import compare as compare
from sdpdr.model.language.convex import Convex as Convex
from sdpdr.model.language.functions import atom as atom
from sdpdr.model.language.functions import entropy as entropy
from sdpdr.model.language.functions import geo_mean as geo_mean
from sdpdr.model.language.functions import lambda_max as lambda_max
from sdpdr.model.language.functions import lambda_min as lambda_min
from sdpdr.model.language.functions import log_det as log_det
from sdpdr.model.language.functions import log_sum_exp as log_sum_exp
from sdpdr.model.language.functions import matrix_frac as matrix_frac
from sdpdr.model.language.functions import norm as norm
from sdpdr.model.language.functions import quad_form as quad_form
from sdpdr.model.language.functions import quad_over_lin as quad_over_lin
from sdpdr.model.language.functions import root_det as root_det
from sdpdr.model.language.functions import sum_exp as sum_exp
from sdpdr.model.language.functions import sum_largest as sum_largest
from sdpdr.model.language.functions import sum_log as sum_log
from sdpdr.model.language.functions import sum_logistic as sum_logistic
from sdpdr.model.language.functions import sum_squares as sum_squares
from sdpdr.model.language.matrices import PsdMatrix as PsdMatrix
from sdpdr.model.language.matrices import PsdProduct as PsdProduct
from sdpdr.model.language.objectives import Objective as Objective
from sdpdr.model.language.objectives import maximize as maximize
from sdpdr.model.language.objectives import minimize as minimize
from sdpdr.model.language.penalties import Penalized as Penalized
from sdpdr.model.language.penalties import absolute as absolute
from sdpdr.model.language.penalties import pos as pos
from sdpdr.model.language.penalties import square as square
from sdpdr.model.language.variables import matrix as matrix
from sdpdr.model.language.variables import psd as psd
from sdpdr.model.language.variables import scalar as scalar
from sdpdr.model.language.variables import symmetric as symmetric

__all__ = _names(vars())
