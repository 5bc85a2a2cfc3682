"""Data to try methods on: generated sets with a known shape, and the digits of scikit-learn.

Every function returns ``(X, y)``: points of shape (n, D), and for each point the value that
should vary smoothly over a good embedding (a position along the manifold) or its label. Of
`window_agent` and `window_walk` that value is a place, so that y has two columns.
"""

from sdpdr.datasets.agents import random_walk, window_agent, window_walk
from sdpdr.datasets.catalogue import generate, generators
from sdpdr.datasets.images import digits
from sdpdr.datasets.matrices import matrix, random_matrices, random_nonnegative
from sdpdr.datasets.observed import partial_signs
from sdpdr.datasets.sample import Sample
from sdpdr.datasets.shapes import (
    circle,
    gaussian,
    grid_with_hole,
    path,
    s_curve,
    spiral,
    swiss_roll,
    trefoil_knot,
    two_clusters,
)
from sdpdr.datasets.signed import signed_graph

__all__ = [
    "Sample",
    "circle",
    "digits",
    "gaussian",
    "generate",
    "generators",
    "grid_with_hole",
    "matrix",
    "partial_signs",
    "path",
    "random_matrices",
    "random_nonnegative",
    "random_walk",
    "s_curve",
    "signed_graph",
    "spiral",
    "swiss_roll",
    "trefoil_knot",
    "two_clusters",
    "window_agent",
    "window_walk",
]
