"""Baselines: embeddings without a semidefinite program, to compare with."""

from sdpdr.base.gather import names as _names
from sdpdr.families.unfold.baselines.gplvm import GPLVM as GPLVM
from sdpdr.families.unfold.baselines.ncmvu import ncmvu as ncmvu
from sdpdr.families.unfold.baselines.spectral import classical_mds as classical_mds
from sdpdr.families.unfold.baselines.spectral import embed as embed
from sdpdr.families.unfold.baselines.spectral import isomap as isomap
from sdpdr.families.unfold.baselines.spectral import kernel_pca as kernel_pca
from sdpdr.families.unfold.baselines.spectral import laplacian_eigenmaps as laplacian_eigenmaps
from sdpdr.families.unfold.baselines.spectral import lle as lle
from sdpdr.families.unfold.baselines.spectral import names as names
from sdpdr.families.unfold.baselines.stress import SPE as SPE
from sdpdr.families.unfold.baselines.stress import Sammon as Sammon
from sdpdr.families.unfold.baselines.stress import kruskal_stress as kruskal_stress
from sdpdr.families.unfold.baselines.stress import metric_mds as metric_mds
from sdpdr.families.unfold.baselines.stress import nonmetric_mds as nonmetric_mds
from sdpdr.families.unfold.baselines.stress import spe_stress as spe_stress
from sdpdr.families.unfold.baselines.stress import stress as stress

__all__ = _names(vars())
