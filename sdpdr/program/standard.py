r"""Programs rewritten over cones alone: equalities, matrices that are PSD, scalars that are >= 0.

`to_equality_form` serves solvers and file formats that support nothing else:

=====================  ======================================================================
in the program         in equality form
=====================  ======================================================================
``lhs <= rhs``         ``lhs + t == rhs`` with a non-negative vector t, ``<label>.slack``
``lhs + g >= 0`` (LMI)  ``lhs - svec(T) == -g`` with a PSD matrix T, ``<label>.slack``
free vector z          z = p - q with non-negative ``z.plus`` and ``z.minus``
cost q z^2 / 2         entry (0, 1) of a 2 x 2 PSD matrix ``z[k]`` with corner W_00 = 1 and
                       cost (q / 2) W_11, so that W_11 = z^2 at an optimum
=====================  ======================================================================

Rows keep their labels. Multipliers y of the new rows are those of the old ones; a matrix
inequality had :math:`Z = -\mathrm{smat}(y)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.point import PsdVariable, Variable, VectorVariable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP

Image = Callable[[VectorMap], "LinearMap | VectorMap"]


@checks_keywords
def to_equality_form(sdp: SDP, *, keep_free: bool = False) -> SDP:
    """Rewrite a program with equalities, PSD matrices and non-negative scalars only.

    Feasible points correspond, with equal objective, as the table of this module says. A
    program already in this form is returned as it is. Quadratic costs make one small matrix
    variable per scalar, which suits hundreds of them rather than many thousands.

    Parameters
    ----------
    sdp : SDP
    keep_free : bool, default False
        Leave free scalars without a quadratic cost as they are. If they are split, p and q may grow
        together without limit, so the set of solutions is unbounded.

    Returns
    -------
    SDP

    References
    ----------
    Vandenberghe and Boyd, "Semidefinite programming", SIAM Review 38(1), 1996, section 2.

    Examples
    --------
    >>> from sdpdr.program import to_equality_form
    >>> from sdpdr import graphs, methods
    >>> to_equality_form(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    SDP(mvu; matrices [K: 3x3], 2 scalars, 5 rows, 0 matrix inequalities)
    """
    sdp = with_equations(sdp)
    for v in sdp.vector_variables:
        if v.curvature is not None:
            sdp = _without_curvature(sdp, v, v.curvature)
        elif not v.nonnegative and not keep_free:
            sdp = _without_sign(sdp, v)
    return sdp


def with_equations(sdp: SDP) -> SDP:
    """The program with equations only; scalars keep their signs and quadratic costs."""
    return without_inequalities(without_lmis(sdp))


def of_equations(sdp: SDP, duals: Mapping[str, Array]) -> dict[str, Array]:
    """Convert multipliers of a program to those of `with_equations`."""
    found = {r.label: duals[r.label] for r in sdp.rows}
    return found | {lmi.label: -svec(duals[lmi.label]) for lmi in sdp.lmis}


def of_program(sdp: SDP, y: Mapping[str, Array]) -> dict[str, Array]:
    """Convert multipliers of `with_equations`, perhaps of some labels only, to the program's."""
    found = {r.label: y[r.label] for r in sdp.rows if r.label in y}
    return found | {lmi.label: -smat(y[lmi.label]) for lmi in sdp.lmis}


def equality_rows(sdp: SDP) -> int:
    """How many rows the equality form of a program has."""
    quadratic = sum(v.size for v in sdp.vector_variables if v.curvature is not None)
    return sdp.n_rows + sum(svec_size(lmi.order) for lmi in sdp.lmis) + quadratic


def without_lmis(sdp: SDP) -> SDP:
    """Write matrix inequalities as rows with a PSD slack variable; their y is -svec(Z)."""
    names = {v.name for v in sdp.variables}
    variables, rows = list(sdp.variables), list(sdp.rows)
    for lmi in sdp.lmis:
        slack = PsdVariable(fresh_name(f"{lmi.label}.slack", names), lmi.order)
        taken_off = SvecMap(lmi.order, -sp.eye_array(svec_size(lmi.order), format="csr"))
        lhs = {**lmi.lhs, slack.name: taken_off}
        variables.append(slack)
        rows.append(Rows(lmi.label, "==", lhs, -lmi.constant))
    return replace(sdp, variables=tuple(variables), rows=tuple(rows), lmis=()) if sdp.lmis else sdp


def without_inequalities(sdp: SDP) -> SDP:
    """Write inequalities as equalities with a non-negative slack vector, with the same y."""
    if all(r.relation == "==" for r in sdp.rows):
        return sdp
    names = {v.name for v in sdp.variables}
    variables, rows = list(sdp.variables), []
    for r in sdp.rows:
        if r.relation == "==":
            rows.append(r)
            continue
        slack = VectorVariable(fresh_name(f"{r.label}.slack", names), r.m, nonnegative=True)
        lhs = {**r.lhs, slack.name: VectorMap(sp.eye_array(r.m, format="csr"))}
        variables.append(slack)
        rows.append(Rows(r.label, "==", lhs, r.rhs))
    return replace(sdp, variables=tuple(variables), rows=tuple(rows))


def with_one_vector(sdp: SDP) -> SDP:
    """A program in equality form with its scalars as one vector, which comes after the matrices.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = to_equality_form(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> [v.name for v in with_one_vector(sdp).variables]
    ['K', 'scalars']
    """
    vectors, names = sdp.vector_variables, {v.name for v in sdp.variables}
    if not vectors:
        return sdp
    size = sum(v.size for v in vectors)
    one = VectorVariable(fresh_name("scalars", names), size, nonnegative=True)

    def change(expression: Expression, m: int) -> Expression:
        kept = {v.name: expression[v.name] for v in sdp.psd_variables if v.name in expression}
        missing = {v.name: VectorMap(sp.csr_array((m, v.size))) for v in vectors}
        parts = [(missing | dict(expression))[v.name].matrix() for v in vectors]
        return kept | {one.name: VectorMap(sp.hstack(parts, format="csr"))}

    rows = tuple(replace(r, lhs=change(r.lhs, r.m)) for r in sdp.rows)
    variables: tuple[Variable, ...] = (*sdp.psd_variables, one)
    return replace(sdp, variables=variables, objective=change(sdp.objective, 1), rows=rows)


def _without_sign(sdp: SDP, free: VectorVariable) -> SDP:
    names = {v.name for v in sdp.variables}
    plus = VectorVariable(fresh_name(f"{free.name}.plus", names), free.size, nonnegative=True)
    minus = VectorVariable(fresh_name(f"{free.name}.minus", names), free.size, nonnegative=True)
    return _substitute(sdp, free.name, {plus: lambda b: b, minus: lambda b: -b})


def _without_curvature(sdp: SDP, scalars: VectorVariable, curvature: Array) -> SDP:
    """Write every scalar z as entry (0, 1) of a matrix [[1, z], [z, t]], with t for z^2 as cost."""
    names = {v.name for v in sdp.variables}
    labels = {r.label for r in sdp.rows}
    places = [f"{scalars.name}[{k}]" for k in range(scalars.size)]
    blocks = [PsdVariable(fresh_name(place, names), 2) for place in places]
    sdp = _substitute(sdp, scalars.name, {w: _corner(k) for k, w in enumerate(blocks)})
    objective, rows = dict(sdp.objective), list(sdp.rows)
    for w, weight in zip(blocks, curvature, strict=True):
        square = _entry(1, np.array([0]), 1, 1, np.array([weight / 2.0]))
        linear = objective.get(w.name)
        objective[w.name] = linear + square if isinstance(linear, LinearMap) else square
        one = _entry(1, np.array([0]), 0, 0, np.ones(1))
        rows.append(Rows(fresh_name(w.name, labels), "==", {w.name: one}, np.ones(1)))
    return replace(sdp, objective=objective, rows=tuple(rows))


def _corner(k: int) -> Image:
    """Column k of a map on the scalars, as a map on the off-diagonal entry of its matrix."""

    def image(linear_map: VectorMap) -> LinearMap:
        column = linear_map.matrix()[:, [k]].tocoo()
        return _entry(linear_map.m, column.row.astype(np.intp), 0, 1, column.data / 2.0)

    return image


def _entry(m: int, row: Index, i: int, j: int, value: Array) -> SvecMap:
    return SvecMap.from_entries(2, m, row, np.full(row.shape, i), np.full(row.shape, j), value)


def _substitute(sdp: SDP, old: str, new: Mapping[Variable, Image]) -> SDP:
    """Replace a vector, everywhere it appears, by the sum of maps on new variables."""

    def change(expression: Expression) -> Expression:
        linear_map = expression.get(old)
        if not isinstance(linear_map, VectorMap):
            return expression
        kept = {name: a for name, a in expression.items() if name != old}
        images = {v.name: image(linear_map) for v, image in new.items()}
        return kept | {name: a for name, a in images.items() if a.matrix().nnz}

    variables = [w for v in sdp.variables for w in (new if v.name == old else (v,))]
    return sdp.rewritten(change, variables)


def fresh_name(name: str, taken: Collection[str]) -> str:
    """Append primes to a name until it is not taken."""
    while name in taken:
        name += "'"
    return name
