"""Factorizations that take several programs, with what is proved about them."""

from sdpdr.factorize.completely_positive import completely_positive
from sdpdr.factorize.cp_programs import copositive_certificate, cp_iteration
from sdpdr.factorize.cp_records import CpAttempt, CpFactorization, CpStatus
from sdpdr.factorize.margins import MarginFactorization, dual_norm, margin_bound
from sdpdr.factorize.mmmf import mmmf, mmmf_primal
from sdpdr.factorize.nmf import nmf
from sdpdr.factorize.nmf_bound import NMFBound, nmf_bound
from sdpdr.factorize.nonnegative_rank import RankBound, nonnegative_rank_bound
from sdpdr.factorize.polynomial import PolynomialFactors, polynomial
from sdpdr.factorize.polynomial_fit import misfit_bound
from sdpdr.factorize.records import Factorization

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
