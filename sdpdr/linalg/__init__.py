"""Structured linear maps on symmetric matrices, their spectra and sparse factorizations."""

from sdpdr.base.gather import names as _names
from sdpdr.linalg.maps import BilinearForms as BilinearForms
from sdpdr.linalg.maps import Combined as Combined
from sdpdr.linalg.maps import Diagonal as Diagonal
from sdpdr.linalg.maps import Entries as Entries
from sdpdr.linalg.maps import InnerProduct as InnerProduct
from sdpdr.linalg.maps import LinearMap as LinearMap
from sdpdr.linalg.maps import Products as Products
from sdpdr.linalg.maps import QuadraticForms as QuadraticForms
from sdpdr.linalg.maps import SquaredEdgeLengths as SquaredEdgeLengths
from sdpdr.linalg.maps import Stacked as Stacked
from sdpdr.linalg.maps import Summed as Summed
from sdpdr.linalg.maps import SvecMap as SvecMap
from sdpdr.linalg.maps import Trace as Trace
from sdpdr.linalg.maps import VectorMap as VectorMap
from sdpdr.linalg.maps import check_map as check_map
from sdpdr.linalg.maps import lengths_in as lengths_in
from sdpdr.linalg.maps import lengths_of as lengths_of
from sdpdr.linalg.spectral import intrinsic_dimension as intrinsic_dimension
from sdpdr.linalg.svec import smat as smat
from sdpdr.linalg.svec import svec as svec
from sdpdr.linalg.svec import svec_index as svec_index
from sdpdr.linalg.svec import svec_size as svec_size

__all__ = _names(vars())
