"""From the standard form to a problem over factors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, placed
from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg import Diagonal, LinearMap, SvecMap
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import svec_size
from sdpdr.program.face import null_vectors
from sdpdr.program.point import PsdVariable, VectorVariable
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.general.parts import Part, part_of
from sdpdr.solvers.lowrank.general.problem import (
    FactorBlock,
    FactorProblem,
    Units,
    free_vectors,
    hidden_rows,
)

# Order up to which the slack of a matrix inequality is worth a matrix variable of its own.
LARGEST_LMI = 120


def why_not(sdp: SDP) -> str | None:
    """None if the program can be written over factors, else the reason why not."""
    large = [lmi for lmi in sdp.lmis if lmi.order > LARGEST_LMI]
    if large:
        return (
            f"matrix inequality {large[0].label!r} has order {large[0].order}, and its slack "
            f"would be a dense matrix variable (at most {LARGEST_LMI})"
        )
    if not sdp.psd_variables and not sdp.lmis:
        return "there is no matrix variable, so it is a linear program"
    return None


def compile_problem(sdp: SDP) -> FactorProblem:
    """Write a program over factors.

    Parameters
    ----------
    sdp : SDP

    Returns
    -------
    FactorProblem

    Raises
    ------
    NotAcceptedError
        With the reason, in words.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> problem = compile_problem(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> problem.m, problem.blocks[0].face.shape
    (2, (3, 1))
    """
    refusal = why_not(sdp)
    if refusal:
        raise NotAcceptedError(refusal)
    hidden = {r.label for r in hidden_rows(sdp)}
    rows = [r for r in sdp.rows if r.label not in hidden]
    groups = [(r.label, r.lhs, r.rhs, r.relation == "==") for r in rows]
    groups += [(lmi.label, lmi.lhs, -lmi.constant, True) for lmi in sdp.lmis]
    sizes = [rhs.size for _, _, rhs, _ in groups]
    stacks = [(sdp.objective, 1), *((lhs, rhs.size) for _, lhs, rhs, _ in groups)]
    ends = np.cumsum([0, *sizes]).tolist()
    slices = {group[0]: slice(*span) for group, span in zip(groups, pairwise(ends), strict=True)}
    total = ends[-1] + 1
    scalars = [v for v in sdp.vector_variables if v.nonnegative]
    columns = [(v.name, v.n, False, _column(v, stacks)) for v in sdp.psd_variables]
    columns += [(v.name, v.size, True, _column(v, stacks)) for v in scalars]
    for lmi in sdp.lmis:
        part = _taken_off(lmi.order, slices[lmi.label].start + 1, total)
        columns.append((f"{lmi.label}.slack", lmi.order, False, part))
    vectors = free_vectors(sdp)
    on_free = [sp.csr_array((total, 0)), *(_matrix_on(v, stacks) for v in vectors)]
    free = sp.csr_array(sp.hstack(on_free, format="csr"))
    curvature = np.concatenate([np.zeros(0), *(_curvature(v) for v in vectors)])
    rhs = np.concatenate([np.zeros(0), *(rhs for _, _, rhs, _ in groups)])
    units = _units([part for *_, part in columns], free, rhs)
    scale = np.concatenate([[1.0 / units.objective], 1.0 / units.rows]) * units.unknown
    rescale = sp.diags_array(scale, format="csr")
    faces = {v.name: _orthonormal(null_vectors(sdp, v.name)) for v in sdp.psd_variables}
    blocks = [
        FactorBlock(name, n, Forms(part.mixed(rescale)), faces.get(name, np.zeros((n, 0))), alone)
        for name, n, alone, part in columns
    ]
    return FactorProblem(
        sdp=sdp,
        blocks=tuple(blocks),
        free=sp.csr_array(rescale @ free),
        curvature=curvature * units.unknown**2 / units.objective,
        rhs=rhs / units.rows,
        equal=np.repeat([equal for *_, equal in groups], sizes).astype(bool),
        slices=slices,
        units=units,
    )


def _curvature(variable: VectorVariable) -> Array:
    return np.zeros(variable.size) if variable.curvature is None else variable.curvature


def _column(variable: PsdVariable | VectorVariable, stacks: list[tuple[Expression, int]]) -> Part:
    """All rows on one variable; scalars as the diagonal of a matrix."""
    n = variable.extents[0]
    parts, missing = [], 0
    for expression, m in stacks:
        found = expression.get(variable.name)
        if found is None:
            missing += m
            continue
        a = found if isinstance(found, LinearMap) else found.matrix() @ Diagonal(n)
        parts += [Part.nothing(n, missing), part_of(a)]
        missing = 0
    return Part.stacked([*parts, Part.nothing(n, missing)])


def _matrix_on(variable: VectorVariable, stacks: list[tuple[Expression, int]]) -> sp.csr_array:
    starts = np.cumsum([0, *(m for _, m in stacks)]).tolist()
    found = zip(starts, (expression.get(variable.name) for expression, _ in stacks), strict=False)
    blocks = ((start, 0, a.matrix()) for start, a in found if a is not None)
    return placed(blocks, (starts[-1], variable.size))


def _taken_off(order: int, first: int, total: int) -> Part:
    """Rows ``-svec(T)`` from row ``first`` on, and nothing elsewhere."""
    size = svec_size(order)
    before, after = Part.nothing(order, first), Part.nothing(order, total - first - size)
    minus = SvecMap(order, -sp.eye_array(size, format="csr"))
    return Part.stacked([before, part_of(minus), after])


def _units(parts: list[Part], free: sp.csr_array, rhs: Array) -> Units:
    """Units in which rows, right sides and the objective are near one."""
    squares = sum(p.squared_norms() for p in parts) + np.asarray(free.multiply(free).sum(axis=1))
    norms = np.sqrt(squares)
    size = np.where(norms[1:] > 0.0, norms[1:], 1.0)
    ratio = np.abs(rhs) / size
    # In units in which the largest are beyond the square of all digits, their powers overflow.
    least = UNIT**2 * float(np.max(ratio, initial=0.0))
    unknown = max(float(np.median(ratio[ratio > 0.0])), least) if least > 0.0 else 1.0
    rows = np.maximum(size * unknown, np.abs(rhs))
    objective = float(norms[0]) * unknown if norms[0] > 0.0 else 1.0
    return Units(unknown, objective, rows)


def _orthonormal(columns: sp.csr_array) -> Array:
    dense: Array = columns.toarray()
    return np.asarray(np.linalg.qr(dense)[0])
