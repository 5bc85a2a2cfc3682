"""Whether what is given for a graph is one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sdpdr.base.errors import DataTypeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs.neighbor_graph import NeighborGraph

P = ParamSpec("P")
T = TypeVar("T")


def takes_graph(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function refuse a first argument ``graph`` that is none, and unknown keywords.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        The function with these checks.

    Raises
    ------
    DataTypeError
        Says how a graph is made of what was given.
    UnknownKeywordError

    Examples
    --------
    >>> from sdpdr import methods
    >>> import numpy as np
    >>> methods.mvu(np.zeros((3, 2)))
    Traceback (most recent call last):
        ...
    sdpdr.errors.DataTypeError: mvu() takes a graph of neighbours; what was passed is of type \
ndarray and shape (3, 2). For points X, write graphs.knn(X, n_neighbors=6); for distances D of \
all pairs, graphs.knn(D, n_neighbors=6, metric="precomputed"); for edges of n nodes, \
graphs.from_edges(n, edges, squared_lengths). Each is in sdpdr.graphs.
    """
    checked = checks_keywords(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        given = args[0] if args else kwargs.get("graph")
        if (args or "graph" in kwargs) and not isinstance(given, NeighborGraph):
            raise DataTypeError(
                f"{function.__name__}() takes a graph of neighbours; what was passed is "
                f"{_described(given)}. "
                "For points X, write graphs.knn(X, n_neighbors=6); for distances D of all pairs, "
                'graphs.knn(D, n_neighbors=6, metric="precomputed"); for edges of n nodes, '
                "graphs.from_edges(n, edges, squared_lengths). Each is in sdpdr.graphs."
            )
        return checked(*args, **kwargs)

    return call


def _described(given: object) -> str:
    shape = getattr(given, "shape", None)
    size = "" if shape is None else f" and shape {tuple(shape)}"
    return f"of type {type(given).__name__}{size}"
