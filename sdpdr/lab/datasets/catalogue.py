"""All data sets by name, for cards and the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType

from sdpdr.base.errors import DataError, UnknownNameError
from sdpdr.lab.datasets.agents import digits, window_agent, window_walk
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
        function.__name__: function
        for function in (
            swiss_roll,
            s_curve,
            trefoil_knot,
            circle,
            spiral,
            path,
            grid_with_hole,
            gaussian,
            two_clusters,
            digits,
            window_agent,
            window_walk,
            matrix,
            random_matrices,
            partial_signs,
            signed_graph,
            random_nonnegative,
        )
    }
)
"""All data sets of this module by name."""


def generate(name: str, **arguments: object) -> Sample:
    """Make the data set of a name.

    Parameters
    ----------
    name : str
        A key of `generators`.
    **arguments
        Passed on.

    Raises
    ------
    UnknownNameError
        There is no such data set; the nearest name is offered.
    DataError
        The data set does not take such an argument.

    Examples
    --------
    >>> generate("swiss_roll", n=30)[0].shape
    (30, 3)
    """
    if name not in generators:
        raise UnknownNameError("data set", name, generators)
    parameters = signature(generators[name]).parameters
    unknown = sorted(set(arguments) - set(parameters))
    if unknown:
        raise DataError(
            f"{name} takes {', '.join(parameters)}, not {', '.join(unknown)}. Rename or drop it."
        )
    return generators[name](**arguments)
