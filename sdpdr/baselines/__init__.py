"""What to compare with: embeddings without a semidefinite program, behind one face."""

from sdpdr.baselines.classical import (
    classical_mds,
    isomap,
    kernel_pca,
    laplacian_eigenmaps,
    lle,
)
from sdpdr.baselines.face import embed, names
from sdpdr.baselines.ncmvu import NCMVU, NonConvexUnfolding, lagrangian, ncmvu
from sdpdr.baselines.spe import SPE, spe, spe_stress

__all__ = [
    "NCMVU",
    "SPE",
    "NonConvexUnfolding",
    "classical_mds",
    "embed",
    "isomap",
    "kernel_pca",
    "lagrangian",
    "laplacian_eigenmaps",
    "lle",
    "names",
    "ncmvu",
    "spe",
    "spe_stress",
]
