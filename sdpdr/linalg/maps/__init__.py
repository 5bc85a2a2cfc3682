"""Linear maps: the interface, maps given by matrices, forms, products, and maps made of maps."""

from sdpdr.base.gather import names as _names
from sdpdr.linalg.maps.combine import Combined as Combined
from sdpdr.linalg.maps.combine import Stacked as Stacked
from sdpdr.linalg.maps.combine import Summed as Summed
from sdpdr.linalg.maps.forms import BilinearForms as BilinearForms
from sdpdr.linalg.maps.forms import Diagonal as Diagonal
from sdpdr.linalg.maps.forms import Entries as Entries
from sdpdr.linalg.maps.forms import QuadraticForms as QuadraticForms
from sdpdr.linalg.maps.forms import SquaredEdgeLengths as SquaredEdgeLengths
from sdpdr.linalg.maps.forms import lengths_in as lengths_in
from sdpdr.linalg.maps.forms import lengths_of as lengths_of
from sdpdr.linalg.maps.given import SvecMap as SvecMap
from sdpdr.linalg.maps.given import VectorMap as VectorMap
from sdpdr.linalg.maps.linear import LinearMap as LinearMap
from sdpdr.linalg.maps.linear import check_map as check_map
from sdpdr.linalg.maps.products import InnerProduct as InnerProduct
from sdpdr.linalg.maps.products import Products as Products
from sdpdr.linalg.maps.products import Trace as Trace

__all__ = _names(vars())
