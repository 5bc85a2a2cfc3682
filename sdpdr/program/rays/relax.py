r"""Programs with more feasible points, in which a ray may have room.

Where these are infeasible, so is the program itself:

- rows with (nearly) no multiplier are left out;
- a matrix inequality :math:`G \succeq 0` is asked only on the range V of its multiplier,
  :math:`V^T G V \succeq 0`;
- directions that no row sees are taken out of a matrix variable: if :math:`A_e u = 0` for all e,
  then with X also P X P satisfies the rows, P being the projection that takes u out. (A face
  given by vectors that are not orthogonal to u is left out as well, since P X P may leave it.)

On what is left the slack of a ray may be positive definite, where on the whole it cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, Effort, EffortSpentError
from sdpdr.linalg import QuadraticForms, VectorMap
from sdpdr.linalg.svec import SQRT2, smat, svec, svec_pairs, svec_size
from sdpdr.program.certificate.free import Duals
from sdpdr.program.face import exposing_rows, null_vectors, visible_rows
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rays.unseen import range_basis, unseen_vectors
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_sizes
from sdpdr.program.standard import with_equations

Mask: TypeAlias = NDArray[np.bool_]

# Parts of the multipliers that are left out, relative to the largest.
_SHARES = (0.0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
# Of a change of basis, which is dense at first.
_MOST_ENTRIES = 5e7
# Operations that it takes, and its products with the maps, for each of them.
_EACH = 1e3
# What is left of a sum that cancels, relative to its terms.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class WeakerProgram:
    """A relaxed program without inequalities, and its multipliers.

    Attributes
    ----------
    sdp : SDP
    duals : mapping from row label to array
    lift : callable
        Takes multipliers of it to those of the program.
    is_exact : bool
        Whether its numbers are those stored, and not rounded ones.
    """

    sdp: SDP
    duals: Duals
    lift: Callable[[Duals], dict[str, Array]]
    is_exact: bool


def without_objective(sdp: SDP) -> SDP:
    """The program that asks for any feasible point."""
    variables = tuple(
        v if v.curvature is None else replace(v, curvature=None) for v in sdp.variables
    )
    return replace(sdp, variables=variables, objective={}, constant=0.0, maximize=False)


def relaxations(
    sdp: SDP, y: Duals, exactly: bool, deadline: Deadline = ENDLESS
) -> Iterator[WeakerProgram]:
    """Relaxations that keep less and less, the whole program first.

    Parameters
    ----------
    sdp : SDP
        Without objective.
    y : mapping from label to array
        Of all rows and matrix inequalities.
    exactly : bool
        Only those whose numbers need no rounding.
    deadline : Deadline, optional
        Nothing but the whole program comes after it, nor what would take longer to be written.
    """
    whole = {r.label: np.ones(r.m, dtype=bool) for r in sdp.rows}
    yield _relaxed(sdp, y, whole, {lmi.label: np.eye(lmi.order) for lmi in sdp.lmis}, exactly)
    visible = {r.label for r in visible_rows(sdp)}
    weights = {r.label: np.abs(y[r.label]) * row_sizes(r) for r in sdp.rows}
    heaviest = max((float(np.max(w, initial=0.0)) for w in weights.values()), default=0.0)
    seen = set()
    for along_axes in (True,) if exactly or not sdp.lmis else (True, False):
        for share in _SHARES:
            kept = {k: (w > share * heaviest) | (k not in visible) for k, w in weights.items()}
            bases = {lmi.label: range_basis(y[lmi.label], share, along_axes) for lmi in sdp.lmis}
            entries = [float(np.prod(list(map(svec_size, v.shape)))) for v in bases.values()]
            if max(entries, default=0.0) > _MOST_ENTRIES:
                continue  # The change of basis would fill the memory.
            try:
                Effort(deadline).foresee(_EACH * sum(entries))
            except EffortSpentError:
                continue
            key = tuple(np.asarray(a).tobytes() for a in (*kept.values(), *bases.values()))
            if key not in seen:
                seen.add(key)
                yield _relaxed(sdp, y, kept, bases, exactly)


def _relaxed(
    sdp: SDP, y: Duals, kept: dict[str, Mask], bases: dict[str, Array], exactly: bool
) -> WeakerProgram:
    rows = tuple(r.take(kept[r.label]) for r in sdp.rows if kept[r.label].any())
    lmis = tuple(_compress(lmi, bases[lmi.label]) for lmi in sdp.lmis if bases[lmi.label].size)
    duals = {r.label: y[r.label][kept[r.label]] for r in rows}
    duals |= {lmi.label: -svec(_inside(y[lmi.label], bases[lmi.label])) for lmi in lmis}
    smaller = with_equations(replace(sdp, rows=rows, lmis=lmis))
    program, is_exact = _without_unseen(smaller, exactly)

    def lift(found: Duals) -> dict[str, Array]:
        full = {label: np.zeros_like(part) for label, part in y.items()}
        for r in rows:
            # Rows that came to state a face keep theirs, which tell that they are needed.
            full[r.label][kept[r.label]] = found.get(r.label, duals[r.label])
        for lmi in lmis:
            v = bases[lmi.label]
            full[lmi.label] = v @ smat(-found[lmi.label]) @ v.T
        return full

    is_exact &= all(_is_of_axes(v) for v in bases.values())
    return WeakerProgram(program, duals, lift, is_exact)


def _is_of_axes(basis: Array) -> bool:
    return bool(np.isin(basis, (0.0, 1.0)).all() and (basis.sum(axis=0) == 1.0).all())


def _inside(z: Array, basis: Array) -> Array:
    """M with V M V^T nearest to Z."""
    inverse = np.linalg.pinv(basis)
    return np.asarray(inverse @ z @ inverse.T)


def _compress(lmi: Lmi, basis: Array) -> Lmi:
    """The matrix inequality on the range of a basis."""
    n, r = basis.shape
    if n == r and np.array_equal(basis, np.eye(n)):
        return lmi
    change = congruence(basis)
    lhs = {}
    for name, linear_map in lmi.lhs.items():
        changed = change @ linear_map
        if isinstance(changed, VectorMap):
            # A coefficient that only rounding keeps from zero would be an equation of its own.
            terms = abs(change) @ abs(linear_map.matrix())
            matrix = changed.matrix()
            changed = VectorMap(matrix.multiply(abs(matrix) > _ROUNDING * terms))
        lhs[name] = changed
    return Lmi(lmi.label, r, lhs, np.asarray(change @ lmi.constant))


def congruence(basis: Array) -> sp.csr_array:
    """The matrix that takes svec(M) to svec(V^T M V)."""
    n, r = basis.shape
    i, j = svec_pairs(np.arange(svec_size(n)))
    a, b = svec_pairs(np.arange(svec_size(r)))
    left, right = basis[np.ix_(i, a)], basis[np.ix_(i, b)]
    lower, upper = basis[np.ix_(j, a)], basis[np.ix_(j, b)]
    # On entry (a, b) of the result an entry (i, j) off the diagonal counts twice.
    off = np.where(i == j, 0.0, 1.0)[:, None]
    both = left * upper + off * lower * right
    # Both lie in `svec`, so that a root of two remains only where one of them is diagonal.
    on = (a == b)[None, :]
    scale = np.where(on & (off > 0.0), 1.0 / SQRT2, np.where(~on & (off == 0.0), SQRT2, 1.0))
    return sp.csr_array((both * scale).T)


def _without_unseen(sdp: SDP, exactly: bool) -> tuple[SDP, bool]:
    """The program without variables, scalars and directions that no row sees."""
    is_exact = True
    variables: list[Variable] = []
    rows = list(sdp.rows)
    visible = visible_rows(sdp)
    for v in sdp.variables:
        maps = [r.lhs[v.name] for r in visible if v.name in r.lhs]
        if isinstance(v, PsdVariable):
            unseen, exact = unseen_vectors(v.n, maps, exactly)
            is_exact &= exact
            if unseen.shape[1] == v.n:
                rows = [_without(r, v.name) for r in rows]
                continue
            if unseen.shape[1]:
                if (abs(null_vectors(sdp, v.name)).T @ np.abs(unseen)).any():
                    # P X P need not lie on the face, which is left out then.
                    stated = {r.label for r in exposing_rows(sdp, v.name)}
                    rows = [r for r in rows if r.label not in stated]
                forms = QuadraticForms(unseen.T)
                rows.append(Rows(f"{v.name}: unseen", "==", {v.name: forms}, np.zeros(forms.m)))
            variables.append(v)
            continue
        used = np.zeros(v.size, dtype=bool)
        for linear_map in maps:
            matrix = linear_map.matrix()
            used[matrix.indices[matrix.data != 0.0]] = True
        if used.any():
            variables.append(replace(v, size=int(used.sum())))
            rows = [_narrowed(r, v.name, used) for r in rows]
        else:
            rows = [_without(r, v.name) for r in rows]
    # A row that stated a face of a variable which is gone says nothing any more.
    said = tuple(r for r in rows if r.lhs or r in visible or np.any(r.rhs))
    return replace(sdp, variables=tuple(variables), rows=said), is_exact


def _without(rows: Rows, name: str) -> Rows:
    if name not in rows.lhs:
        return rows
    return replace(rows, lhs={k: a for k, a in rows.lhs.items() if k != name})


def _narrowed(rows: Rows, name: str, used: Mask) -> Rows:
    if name not in rows.lhs or used.all():
        return rows
    matrix = rows.lhs[name].matrix()[:, np.flatnonzero(used)]
    return replace(rows, lhs={**rows.lhs, name: VectorMap(matrix)})
