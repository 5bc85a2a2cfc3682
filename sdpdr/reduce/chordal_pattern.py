"""Which matrices of a program are worth a chordal decomposition, and why others are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.linalg import BilinearForms, Combined, LinearMap, Stacked, Summed
from sdpdr.linalg.cliques import CliqueCost, CliqueTree, clique_tree, merge_cliques
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.linalg.walks import breadth
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.point import PsdVariable
from sdpdr.program.sdp import SDP

# Share of the entries of a matrix from which one part of the program makes it dense.
DENSE = 0.5
# Largest cost of the cliques, relative to the undecomposed cone, that is worth a decomposition.
WORTH = 0.5
# Products of coefficients beyond which rows are not written out in search of cliques: each takes
# 90 bytes and half a microsecond, and a row along a tree has some twenty.
MOST_PRODUCTS = 50_000_000
# Products of one form above which only its order is considered: writing them takes half a second.
LONG_FORM = 1_000_000


@dataclass(frozen=True, eq=False)
class Trees:
    """Clique trees of the matrices that are decomposed, and reasons for the others.

    Attributes
    ----------
    variables : mapping from name to CliqueTree
    reasons : mapping from name to str
    """

    variables: dict[str, CliqueTree] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def refusal(self) -> str | None:
        """Why nothing is decomposed; None if something is."""
        if self.variables:
            return None
        reasons = "; ".join(f"{name!r}: {why}" for name, why in self.reasons.items())
        return (
            reasons
            or "the program has no matrix variable (the reduction 'dual' makes one of "
            "every matrix inequality)"
        )


def find_trees(sdp: SDP, cost: CliqueCost | None = None, broadest: int | None = None) -> Trees:
    """Clique trees of all matrices of a program that have cliques worth their overlaps.

    Parameters
    ----------
    sdp : SDP
    cost : CliqueCost, optional
    broadest : int, optional
        The largest `sdpdr.linalg.walks.breadth` of a pattern in which cliques are searched:
        cliques of about that order help little, and take long to find.

    Returns
    -------
    Trees
    """
    trees = Trees()
    cost = cost or CliqueCost()
    for v in sdp.psd_variables:
        found = _crowded(sdp, v, cost, broadest) or _tree(
            v.n, list(_readers(sdp, v.name)), cost, broadest
        )
        if isinstance(found, CliqueTree):
            trees.variables[v.name] = found
        else:
            trees.reasons[v.name] = found + _hint(sdp, v.name)
    return trees


def _expressions(sdp: SDP, name: str) -> Iterator[tuple[str, LinearMap]]:
    """The objective, rows and matrix inequalities that read a matrix variable, and their maps."""
    parts = [("the objective", sdp.objective)]
    parts += [(f"{r.label!r}", r.lhs) for r in sdp.rows]
    parts += [(f"{lmi.label!r}", lmi.lhs) for lmi in sdp.lmis]
    for part, expression in parts:
        if isinstance(read := expression.get(name), LinearMap):
            yield part, read


def long_rows(sdp: SDP, broadest: int) -> dict[str, str]:
    """Reasons why matrices have no small cliques on their face, found in single rows.

    Those that state the face, and the objective, do not count.

    Parameters
    ----------
    sdp : SDP
    broadest : int
        As of `find_trees`.
    """
    rows = replace(sdp, objective={}, rows=tuple(visible_rows(sdp)))
    faced = (v for v in sdp.psd_variables if exposing_rows(sdp, v.name))
    found = {v.name: _crowded(rows, v, CliqueCost(), broadest) for v in faced}
    return {name: why for name, why in found.items() if why}


def _crowded(sdp: SDP, v: PsdVariable, cost: CliqueCost, broadest: int | None) -> str:
    """Why a part reads too many entries to write their pattern out; empty if none does."""
    for part, read in _expressions(sdp, v.name):
        if read.n_entries > MOST_PRODUCTS:
            return f"{part} reads {read.n_entries:.1e} entries, too many to be searched for cliques"
        longest = _longest_form(read)
        widest = v.n if broadest is None else broadest
        if longest > widest or cost.clique(longest) > WORTH * cost.clique(v.n):
            return f"{part} has a row that reads all entries among {longest} of {v.n} indices"
    return ""


def _longest_form(linear_map: LinearMap) -> int:
    """Order of the largest clique that a long form makes of its indices; 0 where none is long."""
    if isinstance(linear_map, Combined):
        return _longest_form(linear_map.inner)
    if isinstance(linear_map, (Stacked, Summed)):
        return max(map(_longest_form, linear_map.maps), default=0)
    if not isinstance(linear_map, BilinearForms):
        return 0
    left, right = (
        np.diff(side.indptr).astype(np.intp) for side in (linear_map.left, linear_map.right)
    )
    # Elimination makes a clique of the shorter side of two.
    return int(np.max(np.minimum(left, right)[left * right > LONG_FORM], initial=0))


def _readers(sdp: SDP, name: str) -> Iterator[tuple[str, Index]]:
    """The parts that read a matrix variable, and the entries they read, as places in ``svec``."""
    for part, read in _expressions(sdp, name):
        yield part, _stored(read.matrix())


def _stored(matrix: sp.csr_array | sp.csc_array) -> Index:
    return np.unique(matrix.indices[matrix.data != 0.0]).astype(np.intp)


def _tree(
    n: int, readers: list[tuple[str, Index]], cost: CliqueCost, broadest: int | None
) -> CliqueTree | str:
    """A clique tree worth its overlaps, or why there is none."""
    if n < 2:
        return "it has a single entry"
    size = svec_size(n)
    for part, entries in readers:
        if entries.size > DENSE * size:
            return f"{part} reads {entries.size / size:.0%} of its entries, so nothing is sparse"
    read = np.unique(np.concatenate([np.zeros(0, np.intp), *(e for _, e in readers)]))
    pairs = np.column_stack(svec_pairs(read))
    if broadest is not None and (broad := breadth(_graph(n, pairs))) > broadest:
        return f"it has no small separators: cliques of order {broad} or so would be left"
    fine = clique_tree(n, pairs)
    tree = merge_cliques(fine, cost)
    if cost.tree(tree) > WORTH * cost.clique(n):
        return (
            f"its largest clique has {fine.sizes.max()} of {n} indices, and the cliques share "
            f"{fine.n_overlaps} entries, so that blocks and overlaps cost more than they save"
        )
    return tree


def _graph(n: int, pairs: Index) -> sp.csr_array:
    """An edge for every entry, both ways."""
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    return sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n))


def _hint(sdp: SDP, name: str) -> str:
    faces = [repr(r.label) for r in exposing_rows(sdp, name)]
    return f" (the reduction 'face' removes {', '.join(faces)})" if faces else ""
