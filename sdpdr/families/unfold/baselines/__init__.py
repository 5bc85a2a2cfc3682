"""What to compare with: embeddings without a semidefinite program, behind one face."""

from sdpdr.families.unfold.baselines.classical import (
    classical_mds,
    isomap,
    kernel_pca,
    laplacian_eigenmaps,
    lle,
)
from sdpdr.families.unfold.baselines.face import embed, names
from sdpdr.families.unfold.baselines.ncmvu import NCMVU, NonConvexUnfolding, lagrangian, ncmvu
from sdpdr.families.unfold.baselines.spe import SPE, spe, spe_stress

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
