"""Maps for new points: spectral regression and its family."""

from sdpdr.base.gather import names as _names
from sdpdr.families.regress.bags import BagIndex as BagIndex
from sdpdr.families.regress.bags import mixture_weights as mixture_weights
from sdpdr.families.regress.eigenmaps import KernelEigenmaps as KernelEigenmaps
from sdpdr.families.regress.embedding import graph_embedding as graph_embedding
from sdpdr.families.regress.embedding import linear_embedding as linear_embedding
from sdpdr.families.regress.embedding import trace_ratio as trace_ratio
from sdpdr.families.regress.feedback import RelevanceFeedback as RelevanceFeedback
from sdpdr.families.regress.functional import BasisExpansion as BasisExpansion
from sdpdr.families.regress.functional import basis_misfit as basis_misfit
from sdpdr.families.regress.kernel import extended as extended
from sdpdr.families.regress.kernel import fit_kernel as fit_kernel
from sdpdr.families.regress.maps import fit_extension as fit_extension
from sdpdr.families.regress.penalties import grid_laplacian as grid_laplacian
from sdpdr.families.regress.penalties import sparse_path as sparse_path
from sdpdr.families.regress.pencils import Pencil as Pencil
from sdpdr.families.regress.pencils import class_pencil as class_pencil
from sdpdr.families.regress.pencils import contrast_pencil as contrast_pencil
from sdpdr.families.regress.pencils import geodesic_pencil as geodesic_pencil
from sdpdr.families.regress.pencils import laplacian_pencil as laplacian_pencil
from sdpdr.families.regress.pencils import reconstruction_pencil as reconstruction_pencil
from sdpdr.families.regress.pencils import semisupervised_pencil as semisupervised_pencil
from sdpdr.families.regress.ridge import ridge as ridge
from sdpdr.families.regress.transduction import semisupervised_isomap as semisupervised_isomap
from sdpdr.families.regress.transduction import semisupervised_lle as semisupervised_lle
from sdpdr.families.regress.transduction import transduce as transduce

__all__ = _names(vars())
