"""What to compare with: embeddings without a semidefinite program, behind one face."""

from sdpdr.base.gather import names as _names
from sdpdr.families.unfold.baselines.augmented import lagrangian as lagrangian
from sdpdr.families.unfold.baselines.classical import classical_mds as classical_mds
from sdpdr.families.unfold.baselines.classical import isomap as isomap
from sdpdr.families.unfold.baselines.classical import kernel_pca as kernel_pca
from sdpdr.families.unfold.baselines.classical import laplacian_eigenmaps as laplacian_eigenmaps
from sdpdr.families.unfold.baselines.classical import lle as lle
from sdpdr.families.unfold.baselines.face import embed as embed
from sdpdr.families.unfold.baselines.face import names as names
from sdpdr.families.unfold.baselines.latent import GPLVM as GPLVM
from sdpdr.families.unfold.baselines.latent import gplvm as gplvm
from sdpdr.families.unfold.baselines.ncmvu import NCMVU as NCMVU
from sdpdr.families.unfold.baselines.ncmvu import NonConvexUnfolding as NonConvexUnfolding
from sdpdr.families.unfold.baselines.ncmvu import ncmvu as ncmvu
from sdpdr.families.unfold.baselines.process import gplvm_objective as gplvm_objective
from sdpdr.families.unfold.baselines.scaling import Sammon as Sammon
from sdpdr.families.unfold.baselines.scaling import kruskal_stress as kruskal_stress
from sdpdr.families.unfold.baselines.scaling import metric_mds as metric_mds
from sdpdr.families.unfold.baselines.scaling import nonmetric_mds as nonmetric_mds
from sdpdr.families.unfold.baselines.scaling import sammon as sammon
from sdpdr.families.unfold.baselines.scaling import stress as stress
from sdpdr.families.unfold.baselines.spe import SPE as SPE
from sdpdr.families.unfold.baselines.spe import spe as spe
from sdpdr.families.unfold.baselines.spe import spe_stress as spe_stress

__all__ = _names(vars())
