"""Where to begin: shapes from lengths where rows tell some, random factors elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap
from sdpdr.linalg.walks import connected_components
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.edge.objective import as_lengths
from sdpdr.solvers.lowrank.edge.program import EdgeProgram
from sdpdr.solvers.lowrank.edge.start import isomap_start

_NOISE = 1e-2  # of a shape, in all columns


def shape_from_lengths(sdp: SDP, name: str, seed: int) -> Array | None:
    """Isomap of the squared lengths that rows limit from above; None where they do not join all.

    Parameters
    ----------
    sdp : SDP
    name : str
        Of the matrix variable.
    seed : int

    Returns
    -------
    array of shape (n, r), or None

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> shape_from_lengths(sdp, "K", seed=0)[:, 0].round(6).tolist() in ([-1, 0, 1], [1, 0, -1])
    True
    """
    n = next(v.n for v in sdp.psd_variables if v.name == name)
    found = list(_lengths(sdp, name))
    if not found or n < 3:
        return None
    edges = np.concatenate([np.sort(e, axis=1) for e, _ in found])
    square = np.concatenate([d for _, d in found])
    _, first = np.unique(edges[:, 0] * n + edges[:, 1], return_index=True)
    edges, square = edges[first], square[first]
    graph = sp.csr_matrix((np.ones(len(edges)), tuple(edges.T)), shape=(n, n))
    if connected_components(graph)[0] > 1:
        return None
    return isomap_start(EdgeProgram(edges=edges, n=n, sqdist=square), seed=seed)


def noisy(shape: Array, rank: int, seed: int) -> Array:
    """A shape in the first columns of a factor, and a little noise in all."""
    rng = np.random.default_rng(seed)
    factor = _NOISE * float(np.abs(shape).max()) * rng.standard_normal((len(shape), rank))
    used = min(rank, shape.shape[1])
    factor[:, :used] += shape[:, :used]
    return factor


def _lengths(sdp: SDP, name: str) -> Iterator[tuple[Index, Array]]:
    """Edges and squared lengths of rows that are exact or limit from above."""
    for rows in sdp.rows:
        linear_map = rows.lhs.get(name)
        found = as_lengths(linear_map) if isinstance(linear_map, LinearMap) else None
        if found is not None:
            edges, factor = found
            upper = (factor > 0.0) & (rows.rhs > 0.0)
            yield edges[upper], (rows.rhs / np.where(upper, factor, 1.0))[upper]
