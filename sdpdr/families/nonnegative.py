"""Nonnegative matrices and their factors, without semidefinite programs."""

from sdpdr.base.gather import names as _names
from sdpdr.families.factor.isometric.factorize import IsometricFactors as IsometricFactors
from sdpdr.families.factor.isometric.factorize import IsometricStatus as IsometricStatus
from sdpdr.families.factor.isometric.factorize import isometric_factors as isometric_factors
from sdpdr.families.factor.nonnegative.branch_and_bound import GlobalSearch as GlobalSearch
from sdpdr.families.factor.nonnegative.branch_and_bound import SearchStatus as SearchStatus
from sdpdr.families.factor.nonnegative.branch_and_bound import box_search as box_search
from sdpdr.families.factor.nonnegative.branch_and_bound import cone_search as cone_search
from sdpdr.families.factor.nonnegative.copositive import Copositivity as Copositivity
from sdpdr.families.factor.nonnegative.copositive import Refutation as Refutation
from sdpdr.families.factor.nonnegative.copositive import copositivity as copositivity
from sdpdr.families.factor.nonnegative.copositive import horn_matrix as horn_matrix
from sdpdr.families.factor.nonnegative.projection import hoyer as hoyer
from sdpdr.families.factor.nonnegative.truncation import clipped_svd as clipped_svd

__all__ = _names(vars())
