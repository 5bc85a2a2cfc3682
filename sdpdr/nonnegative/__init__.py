"""Non-negative matrices and their factors, without semidefinite programs."""

from sdpdr.nonnegative.box_search import box_search
from sdpdr.nonnegative.branching import SearchStatus
from sdpdr.nonnegative.cone_search import GlobalSearch, cone_search
from sdpdr.nonnegative.copositive import Certificate, Copositivity, copositivity, horn_matrix
from sdpdr.nonnegative.dominant import (
    comparison_matrix,
    dominant_factor,
    has_triangle,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.nonnegative.fooling import fooling_set
from sdpdr.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.nonnegative.isometric import isometric_factors
from sdpdr.nonnegative.isometric_lagrangian import IsometricLagrangian, Multipliers
from sdpdr.nonnegative.isometric_records import IsometricFactors, IsometricRound, IsometricStatus
from sdpdr.nonnegative.overlap import overlap_bound
from sdpdr.nonnegative.partial import PartialMatrix, partial_matrix
from sdpdr.nonnegative.polish import Polished, balanced, polish_factors, random_factors
from sdpdr.nonnegative.projected import Descent, QuadraticModel, descend
from sdpdr.nonnegative.rotation import Rotated, rotated_factor
from sdpdr.nonnegative.sparsity import hoyer
from sdpdr.nonnegative.symmetric import (
    cp_rank_bound,
    is_doubly_nonnegative,
    obvious_certificate,
    symmetric_matrix,
)
from sdpdr.nonnegative.symmetric_nmf import SymmetricNMF, symmetric_nmf
from sdpdr.nonnegative.symmetric_polish import PolishedSquare, polish_square, square_residual
from sdpdr.nonnegative.truncation import clipped_svd, rank_two, singular_tail

__all__ = [
    "Certificate",
    "Copositivity",
    "Descent",
    "GlobalSearch",
    "IsometricFactors",
    "IsometricLagrangian",
    "IsometricRound",
    "IsometricStatus",
    "Multipliers",
    "PartialMatrix",
    "Polished",
    "PolishedSquare",
    "QuadraticModel",
    "Rotated",
    "SearchStatus",
    "SymmetricNMF",
    "balanced",
    "box_search",
    "clipped_svd",
    "comparison_matrix",
    "cone_search",
    "copositivity",
    "cp_rank_bound",
    "descend",
    "dominant_factor",
    "fooling_set",
    "has_triangle",
    "horn_matrix",
    "hoyer",
    "is_doubly_nonnegative",
    "isometric_factors",
    "nonnegative_matrix",
    "number_of_components",
    "obvious_certificate",
    "overlap_bound",
    "partial_matrix",
    "polish_factors",
    "polish_square",
    "random_factors",
    "rank_two",
    "rotated_factor",
    "scaled_dominant_factor",
    "singular_tail",
    "small_rank_factor",
    "square_residual",
    "symmetric_matrix",
    "symmetric_nmf",
    "triangle_free_certificate",
]
