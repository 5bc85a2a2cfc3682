"""Non-negative matrices and their factors, without semidefinite programs."""

from sdpdr.families.factor.isometric.factorize import isometric_factors
from sdpdr.families.factor.isometric.problem import IsometricLagrangian, Multipliers
from sdpdr.families.factor.isometric.search import (
    IsometricFactors,
    IsometricRound,
    IsometricStatus,
)
from sdpdr.families.factor.nmf.rank import fooling_set, overlap_bound
from sdpdr.families.factor.nonnegative.box_search import box_search
from sdpdr.families.factor.nonnegative.branching import GlobalSearch, SearchStatus
from sdpdr.families.factor.nonnegative.cone_search import cone_search
from sdpdr.families.factor.nonnegative.copositive import Copositivity, copositivity, horn_matrix
from sdpdr.families.factor.nonnegative.copositive import Refutation as Certificate
from sdpdr.families.factor.nonnegative.cycles import horn_certificate, odd_cycle_certificate
from sdpdr.families.factor.nonnegative.dominant import (
    comparison_matrix,
    dominant_factor,
    has_triangle,
    scaled_dominant_factor,
    small_rank_factor,
    triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.inputs import (
    PartialMatrix,
    nonnegative_matrix,
    number_of_components,
    partial_matrix,
)
from sdpdr.families.factor.nonnegative.polish import (
    Polished,
    balanced,
    polish_factors,
    random_factors,
)
from sdpdr.families.factor.nonnegative.projected import Descent, QuadraticModel, descend
from sdpdr.families.factor.nonnegative.projection import hoyer
from sdpdr.families.factor.nonnegative.symmetric import (
    cp_rank_bound,
    is_doubly_nonnegative,
    obvious_certificate,
    symmetric_matrix,
)
from sdpdr.families.factor.nonnegative.symmetric_nmf import (
    PolishedSquare,
    Rotated,
    SymmetricNMF,
    polish_square,
    rotated_factor,
    square_residual,
    symmetric_nmf,
)
from sdpdr.families.factor.nonnegative.truncation import clipped_svd, rank_two, singular_tail

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
    "horn_certificate",
    "horn_matrix",
    "hoyer",
    "is_doubly_nonnegative",
    "isometric_factors",
    "nonnegative_matrix",
    "number_of_components",
    "obvious_certificate",
    "odd_cycle_certificate",
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
