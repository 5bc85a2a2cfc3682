"""Maps for new points: spectral regression and its family."""

from sdpdr.families.regress.bags import BagIndex, MixtureWeights, mixture_weights, one_step_weights
from sdpdr.families.regress.classes import class_responses, semisupervised_responses
from sdpdr.families.regress.eigenmaps import KernelEigenmaps
from sdpdr.families.regress.feedback import RelevanceFeedback, precision_at
from sdpdr.families.regress.functional import BasisExpansion, basis_misfit
from sdpdr.families.regress.kernel import (
    KernelChoice,
    KernelMapping,
    choose_kernel,
    extended,
    fit_kernel,
)
from sdpdr.families.regress.linear import LinearEmbedding, TraceRatio, linear_embedding, trace_ratio
from sdpdr.families.regress.maps import Extension, fit_extension
from sdpdr.families.regress.penalties import (
    RidgeChoice,
    SparsePath,
    choose_ridge,
    grid_laplacian,
    sparse_path,
)
from sdpdr.families.regress.pencil import GraphEmbedding, Pencil, graph_embedding
from sdpdr.families.regress.ridge import LinearMapping, ridge
from sdpdr.families.regress.transduction import (
    barycentric_weights,
    convex_weights,
    isomap_form,
    semisupervised_isomap,
    semisupervised_lle,
    smoothness_form,
    transduce,
)
from sdpdr.families.regress.weights import (
    class_pencil,
    contrast_pencil,
    geodesic_pencil,
    knn_within_classes,
    laplacian_pencil,
    reconstruction_pencil,
    semisupervised_pencil,
)

__all__ = [
    "BagIndex",
    "BasisExpansion",
    "Extension",
    "GraphEmbedding",
    "KernelChoice",
    "KernelEigenmaps",
    "KernelMapping",
    "LinearEmbedding",
    "LinearMapping",
    "MixtureWeights",
    "Pencil",
    "RelevanceFeedback",
    "RidgeChoice",
    "SparsePath",
    "TraceRatio",
    "barycentric_weights",
    "basis_misfit",
    "choose_kernel",
    "choose_ridge",
    "class_pencil",
    "class_responses",
    "contrast_pencil",
    "convex_weights",
    "extended",
    "fit_extension",
    "fit_kernel",
    "geodesic_pencil",
    "graph_embedding",
    "grid_laplacian",
    "isomap_form",
    "knn_within_classes",
    "laplacian_pencil",
    "linear_embedding",
    "mixture_weights",
    "one_step_weights",
    "precision_at",
    "reconstruction_pencil",
    "ridge",
    "semisupervised_isomap",
    "semisupervised_lle",
    "semisupervised_pencil",
    "semisupervised_responses",
    "smoothness_form",
    "sparse_path",
    "trace_ratio",
    "transduce",
]
