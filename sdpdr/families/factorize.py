"""Factorizations that take several programs, with what is proved about them."""

from sdpdr.base.gather import names as _names
from sdpdr.families.factor.completely_positive.factorize import CpFactorization as CpFactorization
from sdpdr.families.factor.completely_positive.factorize import CpStatus as CpStatus
from sdpdr.families.factor.completely_positive.factorize import (
    completely_positive as completely_positive,
)
from sdpdr.families.factor.mmmf.factorization import margin_bound as margin_bound
from sdpdr.families.factor.mmmf.factorization import mmmf as mmmf
from sdpdr.families.factor.mmmf.program import MarginFactorization as MarginFactorization
from sdpdr.families.factor.nmf.bounds import NMFBound as NMFBound
from sdpdr.families.factor.nmf.bounds import RankBound as RankBound
from sdpdr.families.factor.nmf.bounds import nmf_bound as nmf_bound
from sdpdr.families.factor.nmf.bounds import nonnegative_rank_bound as nonnegative_rank_bound
from sdpdr.families.factor.nmf.factorize import Factorization as Factorization
from sdpdr.families.factor.nmf.factorize import nmf as nmf
from sdpdr.families.factor.polynomial.factorize import PolynomialFactors as PolynomialFactors
from sdpdr.families.factor.polynomial.factorize import polynomial as polynomial

__all__ = _names(vars())
