"""Structured linear maps on symmetric matrices, their spectra and sparse factorizations."""

from sdpdr.linalg.cliques import CliqueCost, CliqueTree, clique_tree, merge_cliques
from sdpdr.linalg.completion import complete_max_det, complete_min_rank
from sdpdr.linalg.maps import (
    BilinearForms,
    Combined,
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Summed,
    SvecMap,
    Trace,
    VectorMap,
    check_map,
    lengths_in,
    lengths_of,
)
from sdpdr.linalg.spectral import intrinsic_dimension
from sdpdr.linalg.svec import smat, svec, svec_index, svec_size

__all__ = [
    "BilinearForms",
    "CliqueCost",
    "CliqueTree",
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
    "clique_tree",
    "complete_max_det",
    "complete_min_rank",
    "intrinsic_dimension",
    "lengths_in",
    "lengths_of",
    "merge_cliques",
    "smat",
    "svec",
    "svec_index",
    "svec_size",
]
