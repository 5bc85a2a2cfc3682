"""Structured linear maps on symmetric matrices, their spectra and sparse factorizations."""

from sdpdr.linalg.check import check_map
from sdpdr.linalg.combine import Combined, Stacked, Summed
from sdpdr.linalg.forms import (
    BilinearForms,
    Diagonal,
    Entries,
    QuadraticForms,
    SquaredEdgeLengths,
)
from sdpdr.linalg.maps import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.products import InnerProduct, Products, Trace
from sdpdr.linalg.svec import smat, svec, svec_index, svec_size

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
    "smat",
    "svec",
    "svec_index",
    "svec_size",
]
