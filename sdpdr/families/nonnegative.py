"""Nonnegative matrices and their factors, without semidefinite programs."""

from sdpdr.base.gather import names as _names
from sdpdr.families.factor.isometric.factorize import isometric_factors as isometric_factors
from sdpdr.families.factor.isometric.problem import IsometricLagrangian as IsometricLagrangian
from sdpdr.families.factor.isometric.problem import Multipliers as Multipliers
from sdpdr.families.factor.isometric.search import IsometricFactors as IsometricFactors
from sdpdr.families.factor.isometric.search import IsometricRound as IsometricRound
from sdpdr.families.factor.isometric.search import IsometricStatus as IsometricStatus
from sdpdr.families.factor.nmf.rank import fooling_set as fooling_set
from sdpdr.families.factor.nmf.rank import overlap_bound as overlap_bound
from sdpdr.families.factor.nonnegative.box_search import box_search as box_search
from sdpdr.families.factor.nonnegative.branch_and_bound import GlobalSearch as GlobalSearch
from sdpdr.families.factor.nonnegative.branch_and_bound import SearchStatus as SearchStatus
from sdpdr.families.factor.nonnegative.cone_search import cone_search as cone_search
from sdpdr.families.factor.nonnegative.copositive import Copositivity as Copositivity
from sdpdr.families.factor.nonnegative.copositive import Refutation as _Refutation
from sdpdr.families.factor.nonnegative.copositive import copositivity as copositivity
from sdpdr.families.factor.nonnegative.copositive import horn_matrix as horn_matrix
from sdpdr.families.factor.nonnegative.dominant import comparison_matrix as comparison_matrix
from sdpdr.families.factor.nonnegative.dominant import dominant_factor as dominant_factor
from sdpdr.families.factor.nonnegative.dominant import has_triangle as has_triangle
from sdpdr.families.factor.nonnegative.dominant import (
    scaled_dominant_factor as scaled_dominant_factor,
)
from sdpdr.families.factor.nonnegative.dominant import small_rank_factor as small_rank_factor
from sdpdr.families.factor.nonnegative.dominant import (
    triangle_free_certificate as triangle_free_certificate,
)
from sdpdr.families.factor.nonnegative.horn import horn_certificate as horn_certificate
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix as PartialMatrix
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix as nonnegative_matrix
from sdpdr.families.factor.nonnegative.inputs import number_of_components as number_of_components
from sdpdr.families.factor.nonnegative.inputs import partial_matrix as partial_matrix
from sdpdr.families.factor.nonnegative.polish import Polished as Polished
from sdpdr.families.factor.nonnegative.polish import balanced as balanced
from sdpdr.families.factor.nonnegative.polish import polish_factors as polish_factors
from sdpdr.families.factor.nonnegative.polish import random_factors as random_factors
from sdpdr.families.factor.nonnegative.projection import hoyer as hoyer
from sdpdr.families.factor.nonnegative.symmetric import cp_rank_bound as cp_rank_bound
from sdpdr.families.factor.nonnegative.symmetric import (
    is_doubly_nonnegative as is_doubly_nonnegative,
)
from sdpdr.families.factor.nonnegative.symmetric import obvious_certificate as obvious_certificate
from sdpdr.families.factor.nonnegative.symmetric import symmetric_matrix as symmetric_matrix
from sdpdr.families.factor.nonnegative.symmetric_nmf import SymmetricNMF as SymmetricNMF
from sdpdr.families.factor.nonnegative.symmetric_nmf import square_residual as square_residual
from sdpdr.families.factor.nonnegative.symmetric_nmf import symmetric_nmf as symmetric_nmf
from sdpdr.families.factor.nonnegative.truncation import clipped_svd as clipped_svd
from sdpdr.families.factor.nonnegative.truncation import rank_two as rank_two
from sdpdr.families.factor.nonnegative.truncation import singular_tail as singular_tail

Certificate = _Refutation
__all__ = _names(vars())
