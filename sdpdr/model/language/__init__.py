"""Models as one thinks them: variables with operators, comparisons, prices, goals."""

from sdpdr.model.language.goals import Goal, maximize, minimize
from sdpdr.model.language.prices import Convex, Priced, pos, square
from sdpdr.model.language.statements import Statement
from sdpdr.model.language.variables import PsdMatrix, matrix, psd, scalar, symmetric

__all__ = [
    "Convex",
    "Goal",
    "Priced",
    "PsdMatrix",
    "Statement",
    "matrix",
    "maximize",
    "minimize",
    "pos",
    "psd",
    "scalar",
    "square",
    "symmetric",
]
