"""Maps for new points: spectral regression and its family."""

from sdpdr.extend.bags import BagIndex, MixtureWeights, mixture_weights, one_step_weights
from sdpdr.extend.barycentric import barycentric_weights
from sdpdr.extend.choice import RidgeChoice, choose_ridge
from sdpdr.extend.functional import BasisExpansion
from sdpdr.extend.kernel import (
    KernelChoice,
    KernelMapping,
    choose_kernel,
    extended,
    fit_kernel,
)
from sdpdr.extend.linear import LinearEmbedding, linear_embedding
from sdpdr.extend.maps import Extension, fit_extension
from sdpdr.extend.pencil import GraphEmbedding, Pencil, graph_embedding
from sdpdr.extend.responses import class_responses, semisupervised_responses
from sdpdr.extend.ridge import LinearMapping, ridge
from sdpdr.extend.smooth import grid_laplacian
from sdpdr.extend.sparse import SparsePath, sparse_path
from sdpdr.extend.trace_ratio import TraceRatio, trace_ratio
from sdpdr.extend.transduction import (
    convex_weights,
    isomap_form,
    semisupervised_isomap,
    semisupervised_lle,
    smoothness_form,
    transduce,
)
from sdpdr.extend.weights import (
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
    "KernelMapping",
    "LinearEmbedding",
    "LinearMapping",
    "MixtureWeights",
    "Pencil",
    "RidgeChoice",
    "SparsePath",
    "TraceRatio",
    "barycentric_weights",
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
