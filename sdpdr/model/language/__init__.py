"""Models as one thinks them: variables with operators, comparisons, prices, goals."""

from sdpdr.model.language.curved import Convex
from sdpdr.model.language.functions import (
    geo_mean,
    lambda_max,
    lambda_min,
    matrix_frac,
    norm,
    quad_form,
    quad_over_lin,
    root_det,
    sum_largest,
    sum_squares,
)
from sdpdr.model.language.goals import Goal, maximize, minimize
from sdpdr.model.language.matrices import PsdMatrix, PsdProduct
from sdpdr.model.language.prices import Priced, pos, square
from sdpdr.model.language.smooth_functions import (
    entropy,
    log_det,
    log_sum_exp,
    smooth,
    sum_exp,
    sum_log,
    sum_logistic,
)
from sdpdr.model.language.statements import Statement
from sdpdr.model.language.variables import matrix, psd, scalar, symmetric

__all__ = [
    "Convex",
    "Goal",
    "Priced",
    "PsdMatrix",
    "PsdProduct",
    "Statement",
    "entropy",
    "geo_mean",
    "lambda_max",
    "lambda_min",
    "log_det",
    "log_sum_exp",
    "matrix",
    "matrix_frac",
    "maximize",
    "minimize",
    "norm",
    "pos",
    "psd",
    "quad_form",
    "quad_over_lin",
    "root_det",
    "scalar",
    "smooth",
    "square",
    "sum_exp",
    "sum_largest",
    "sum_log",
    "sum_logistic",
    "sum_squares",
    "symmetric",
]
