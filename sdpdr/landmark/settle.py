"""Points moved a little, each by its own neighbours, until no edge is too long."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.svec import Array
from sdpdr.solvers.edges import EdgeForm

# Overshoot of a step; between one and two, as in successive over-relaxation.
_RELAXATION = 1.5
# Edges are drawn a little below their limit, so that finitely many sweeps get there.
_MARGIN = 2e-4
_SWEEPS = 300
# Squared lengths below this share of the mean around count as short, in graphs of many edges.
_SHORT = 0.25
_MANY = 20_000


def is_settleable(form: EdgeForm | None) -> bool:
    """Whether upper limits on the lengths of edges, none of them priced, are all there is."""
    if form is None:
        return False
    program = form.program
    priced = np.isfinite(program.price).any() or np.isfinite(program.stiffness).any()
    return not priced and not np.isfinite(program.lower).any()


def short_edges(form: EdgeForm) -> dict[str, np.ndarray]:
    """For every group of rows, those on edges much shorter than the edges around.

    A smooth map stretches some of the shortest edges many times over. To hold the whole map down
    for them loses much, to move two points a little loses nothing. None in small graphs.
    """
    program = form.program
    if program.m < _MANY:
        return {}
    ends, limits = program.edges.ravel(), np.repeat(program.upper, 2)
    mean = np.bincount(ends, limits, program.n) / np.maximum(np.bincount(ends), 1)
    short = program.upper < _SHORT * mean[program.edges].max(axis=1)
    return {label: short[edge] for label, edge in form.edge_of.items()}


def settle(form: EdgeForm, factor: Array, sweeps: int = _SWEEPS) -> Array:
    r"""Move points until every edge keeps its upper limit, or nearly.

    Where few edges are too long, shrinking the whole for the worst of them wastes what all
    others gained. Each sweep projects every edge that is too long on its limit, along itself,
    and every point takes the mean of the moves that its edges ask for.

    Parameters
    ----------
    form : EdgeForm
    factor : array of shape (n, r)
    sweeps : int, default 300

    Returns
    -------
    array of shape (n, r)
        Centred for the masses of the program.

    References
    ----------
    Cimmino's simultaneous projections, in Censor and Zenios, "Parallel Optimization", 1997,
    section 5; Jakobsen, "Advanced character physics", 2001, for the same sweeps on lengths.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.edges import edge_form
    >>> form = edge_form(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    >>> settle(form, np.array([[-1.1], [0.0], [0.9]])).round(2).ravel().tolist()
    [-0.96, -0.01, 0.97]
    """
    program = form.program
    m, n = program.m, program.n
    ends = np.arange(0, 2 * m + 1, 2)
    signs = np.tile([1.0, -1.0], m)
    incidence = sp.csr_array((signs, program.edges.ravel(), ends), shape=(m, n))
    to_nodes = incidence.T.tocsr()
    touching = abs(to_nodes)
    moved = factor.copy()
    for _ in range(sweeps):
        steps = incidence @ moved
        lengths = np.einsum("ek,ek->e", steps, steps)
        long = lengths > program.upper
        if not long.any():
            break
        wanted = np.where(
            long,
            0.5 * (1.0 - np.sqrt((1.0 - _MARGIN) * program.upper / np.maximum(lengths, 1e-300))),
            0.0,
        )
        asked = np.maximum(touching @ long.astype(float), 1.0)
        moved -= (_RELAXATION / asked)[:, None] * (to_nodes @ (wanted[:, None] * steps))
    return np.asarray(moved - program.mass @ moved / program.mass.sum())
