"""Factorizations that take several programs, with what is proved about them."""

from sdpdr.families.factor.completely_positive.factorize import completely_positive
from sdpdr.families.factor.completely_positive.programs import copositive_certificate, cp_iteration
from sdpdr.families.factor.completely_positive.records import CpAttempt, CpFactorization, CpStatus
from sdpdr.families.factor.margin.bound import MarginFactorization, margin_bound
from sdpdr.families.factor.margin.mmmf import mmmf, mmmf_primal
from sdpdr.families.factor.margin.norms import dual_norm
from sdpdr.families.factor.nmf.nmf import nmf
from sdpdr.families.factor.nmf.nmf_bound import NMFBound, nmf_bound
from sdpdr.families.factor.nmf.rank import RankBound, nonnegative_rank_bound
from sdpdr.families.factor.nmf.search import Factorization
from sdpdr.families.factor.polynomial.factorize import PolynomialFactors, polynomial
from sdpdr.families.factor.polynomial.fit import misfit_bound

__all__ = [
    "CpAttempt",
    "CpFactorization",
    "CpStatus",
    "Factorization",
    "MarginFactorization",
    "NMFBound",
    "PolynomialFactors",
    "RankBound",
    "completely_positive",
    "copositive_certificate",
    "cp_iteration",
    "dual_norm",
    "margin_bound",
    "misfit_bound",
    "mmmf",
    "mmmf_primal",
    "nmf",
    "nmf_bound",
    "nonnegative_rank_bound",
    "polynomial",
]
