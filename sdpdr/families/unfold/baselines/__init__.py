"""What to compare with: embeddings without a semidefinite program, behind one face."""

from sdpdr.families.unfold.baselines.augmented import lagrangian
from sdpdr.families.unfold.baselines.classical import (
    classical_mds,
    isomap,
    kernel_pca,
    laplacian_eigenmaps,
    lle,
)
from sdpdr.families.unfold.baselines.face import embed, names
from sdpdr.families.unfold.baselines.latent import GPLVM, gplvm
from sdpdr.families.unfold.baselines.ncmvu import NCMVU, NonConvexUnfolding, ncmvu
from sdpdr.families.unfold.baselines.process import gplvm_objective
from sdpdr.families.unfold.baselines.scaling import (
    Sammon,
    kruskal_stress,
    metric_mds,
    nonmetric_mds,
    sammon,
    stress,
)
from sdpdr.families.unfold.baselines.spe import SPE, spe, spe_stress

__all__ = [
    "GPLVM",
    "NCMVU",
    "SPE",
    "NonConvexUnfolding",
    "Sammon",
    "classical_mds",
    "embed",
    "gplvm",
    "gplvm_objective",
    "isomap",
    "kernel_pca",
    "kruskal_stress",
    "lagrangian",
    "laplacian_eigenmaps",
    "lle",
    "metric_mds",
    "names",
    "ncmvu",
    "nonmetric_mds",
    "sammon",
    "spe",
    "spe_stress",
    "stress",
]
