"""Data to try methods on: generated sets with a known shape, and the digits of scikit-learn.

Every function returns ``(X, y)``: points of shape (n, D), and for each point the value that
should vary smoothly over a good embedding (a position along the manifold) or its label. Of
`window_agent` and `window_walk` that value is a place, so that y has two columns.
"""

from sdpdr.lab.datasets.agents import digits, random_walk, window_agent, window_walk
from sdpdr.lab.datasets.catalogue import generate, generators
from sdpdr.lab.datasets.matrices import (
    matrix,
    partial_signs,
    random_matrices,
    random_nonnegative,
    signed_graph,
)
from sdpdr.lab.datasets.shapes import (
    Sample,
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
