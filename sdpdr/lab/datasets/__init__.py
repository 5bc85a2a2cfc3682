"""Data to try methods on: generated sets with a known shape, and the digits of scikit-learn.

Every function returns ``(X, y)``: points of shape (n, D), and for each point the value that
should vary smoothly over a good embedding (a position along the manifold) or its label. For
`window_agent` and `window_walk` that value is a position, so that y has two columns.
"""

from collections.abc import Callable, Mapping
from inspect import isfunction, signature
from types import MappingProxyType

from sdpdr.base.checks import choice
from sdpdr.lab.datasets import agents, matrices, shapes
from sdpdr.lab.datasets.agents import digits, random_walk, window_agent, window_walk
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

generators: Mapping[str, Callable[..., Sample]] = MappingProxyType(
    {
        name: make
        for module in (shapes, agents, matrices)
        for name, make in vars(module).items()
        if isfunction(make) and signature(make).return_annotation == "Sample"
    }
)
"""All data sets of this module by name."""

__all__ = [
    "Sample", "circle", "digits", "gaussian", "generators", "grid_with_hole", "matrix",
    "partial_signs", "path", "random_matrices", "random_nonnegative", "random_walk", "s_curve",
    "signed_graph", "spiral", "swiss_roll", "trefoil_knot", "two_clusters", "window_agent",
    "window_walk",
]  # fmt: skip


def generate(name: str, **arguments: object) -> Sample:
    """Make the data set of a name in `generators`, as cards do."""
    choice("data set", name, generators)
    return generators[name](**arguments)
