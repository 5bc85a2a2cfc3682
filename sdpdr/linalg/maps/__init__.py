"""Linear maps: what all can do, those given by matrices, forms, products, and maps made of maps."""

from sdpdr.linalg.maps.combine import Combined, Stacked, Summed
from sdpdr.linalg.maps.forms import (
    BilinearForms,
    Diagonal,
    Entries,
    QuadraticForms,
    SquaredEdgeLengths,
    lengths_in,
    lengths_of,
)
from sdpdr.linalg.maps.given import SvecMap, VectorMap
from sdpdr.linalg.maps.linear import LinearMap, check_map
from sdpdr.linalg.maps.products import InnerProduct, Products, Trace

__all__ = [
    "BilinearForms",
    "Combined",
    "Diagonal",
    "Entries",
    "InnerProduct",
    "LinearMap",
    "Products",
    "QuadraticForms",
    "SquaredEdgeLengths",
    "Stacked",
    "Summed",
    "SvecMap",
    "Trace",
    "VectorMap",
    "check_map",
    "lengths_in",
    "lengths_of",
]
