"""The program on proved faces, without rounding, and the way to it and back.

Zero rows and columns of a matrix are left out. Other null vectors u are stated as rows X u = 0, on
which `sdpdr.reduce.Face` and the kernel choose a basis of the face.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index, Matrix
from sdpdr.linalg import Products, SvecMap
from sdpdr.linalg.exact import Mask
from sdpdr.linalg.svec import selection
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Factor, Point, PsdVariable, Value
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms
from sdpdr.program.standard import fresh_name
from sdpdr.reduce.base import Reduced
from sdpdr.reduce.bases import in_bases, out_of_bases
from sdpdr.reduce.facial.faces import Faces, multiple_in_integers
from sdpdr.reduce.kept import narrowed, spread


def on_faces(faces: Faces, silent: Set[tuple[str, int]]) -> Reduced:
    """The program on faces, and the way back.

    Parameters
    ----------
    faces : Faces
        Null vectors of which a multiple is a vector of doubles (`Faces.on_doubles`).
    silent : set of (label, number)
        Rows that every point on the faces satisfies.
    """
    sdp = faces.sdp
    kept = {name: faces.kept(name) for name, null in faces.null.items() if null.units}
    bases = {name: _embedding(at, sdp.variable(name).extents[0]) for name, at in kept.items()}
    gone = {name for name, at in kept.items() if not at.size}
    variables = [
        replace(v, n=kept[v.name].size) if isinstance(v, PsdVariable) and v.name in kept else v
        for v in sdp.variables
        if v.name not in gone
    ]

    def narrower(side: Expression) -> Expression:
        return in_bases({name: a for name, a in side.items() if name not in gone}, bases)

    rows, sources = list[Rows](), dict[str, Index]()
    for r in sdp.rows:
        name = next(iter(r.lhs), "")
        if _states_face(r) and name in kept:
            vector = r.lhs[name].vector[kept[name]]  # type: ignore[union-attr]
            at = kept[name] if np.any(vector) else kept[name][:0]
            narrow = Rows(r.label, "==", {name: Products(vector.size, vector)}, np.zeros(at.size))
        else:
            at = np.flatnonzero(_is_left(r, narrower(r.lhs), silent))
            narrow = replace(r, lhs=narrower(r.lhs)).take(at)
        sources[r.label] = at
        if at.size or not r.m:
            rows.append(narrow)
    taken = {*sdp.labels, *(v.name for v in sdp.variables)}
    rows += _stated(faces, kept, taken)
    if not variables:
        # Solvers need a variable: add a matrix of order one that is fixed to 1.
        name = fresh_name("nothing", taken)
        variables = [PsdVariable(name, 1)]
        rows.append(Rows(name, "==", {name: SvecMap(1, np.ones((1, 1)))}, np.ones(1)))
    reduced = replace(
        sdp,
        variables=tuple(variables),
        objective=narrower(sdp.objective),
        rows=tuple(rows),
        lmis=tuple(replace(lmi, lhs=narrower(lmi.lhs)) for lmi in sdp.lmis),
    )
    return Reduced(
        reduced,
        lambda point: _lifted(sdp, point, bases, sources),
        push=lambda point: _pushed(reduced, point, kept, sources),
    )


def _lifted(
    sdp: SDP,
    point: Point,
    bases: Mapping[str, Matrix],
    sources: Mapping[str, Index],
) -> Point:
    """A point of the program on faces as one of the original, zero on removed parts."""
    values = dict[str, Value]()
    if point.values:
        values = {**sdp.zero_point().values, **out_of_bases(point.values, bases)}
        values = {v.name: values[v.name] for v in sdp.variables}
    return Point(values, spread(sdp, sources, point.duals))


def _pushed(
    reduced: SDP, point: Point, kept: Mapping[str, Index], sources: Mapping[str, Index]
) -> Point:
    """A point of the original program as one on the faces, without removed parts."""
    values = dict[str, Value]()
    for v in reduced.variables:
        if v.name in point.values:
            value, at = point.values[v.name], kept.get(v.name)
            if at is not None and isinstance(value, Factor):
                value = Factor(value.factor[at])
            elif at is not None:
                value = value[np.ix_(at, at)]
            values[v.name] = value
    given = {label: np.nan_to_num(y) for label, y in point.duals.items()}
    duals = narrowed(reduced, sources, given)
    stated = {r.label: np.zeros(r.m) for r in reduced.rows if r.label not in sources}
    return Point(values, complete_multipliers(reduced, duals | stated) if duals else {})


def _embedding(kept: Index, n: int) -> sp.csr_array:
    """Columns of the unit matrix."""
    return sp.csr_array(selection(kept, n).T)


def _states_face(r: Rows) -> bool:
    """Whether a group is K u = 0."""
    single = len(r.lhs) == 1 and r.relation == "==" and not np.any(r.rhs)
    return single and all(isinstance(a, Products) for a in r.lhs.values())


def _is_left(r: Rows, lhs: Expression, silent: Set[tuple[str, int]]) -> Mask:
    """Which rows still constrain the point; ``lhs`` is their left-hand side on the faces."""
    broken = r.rhs != 0.0 if r.relation == "==" else r.rhs < 0.0
    nonzero = sum((row_norms(a) for a in lhs.values()), np.zeros(r.m)) > 0.0
    satisfied = np.array([(r.label, e) in silent for e in range(r.m)], dtype=bool)
    return broken | (nonzero & ~satisfied)


def _stated(faces: Faces, kept: Mapping[str, Index], taken: set[str]) -> Iterator[Rows]:
    """Rows X u = 0 for null vectors with several entries."""
    for name, null in faces.null.items():
        for pivot in sorted(null.mixed):
            entries = multiple_in_integers(null.vectors[pivot])
            u = np.zeros(faces.sdp.variable(name).extents[0])
            u[list(entries)] = [float(a) for a in entries.values()]
            u = np.ldexp(u, -int(np.frexp(np.abs(u).max())[1]))
            u = u[kept[name]] if name in kept else u
            label = fresh_name(f"{name}.face", taken)
            taken.add(label)
            yield Rows(label, "==", {name: Products(u.size, u)}, np.zeros(u.size))
