r"""Chordal decomposition: one large cone becomes several small ones that agree where they overlap.

Two sides of one coin. A *matrix variable* X that rows and costs read on a sparse pattern only is
positive semidefinite on that pattern exactly if its blocks X_C on the maximal cliques C of a
chordal extension are. Each entry that is read goes to one clique that holds it, and rows

.. math:: (X_C)_{UU} = (X_D)_{UU}, \qquad U = C \cap D,

say that a clique C agrees with its parent D. A *matrix inequality* F(x) >= 0 whose matrices
share a sparse pattern is a sum of positive semidefinite matrices, one on each clique: every entry
of F goes to one clique, and free scalars W_C on the overlaps are added to the clique and taken
from its parent. The second is the dual of the first, and is lifted in the same manner.

References
----------
Fukuda, Kojima, Murota, Nakata, Exploiting sparsity in semidefinite programming via matrix
completion I, SIAM J. Optim. 11(3), 2001. Kim, Kojima, Mevissen, Yamashita, Exploiting sparsity in
linear and nonlinear matrix inequalities via positive semidefinite matrix completion, Math. Program.
129, 2011. Vandenberghe, Andersen, Chordal Graphs and Semidefinite Optimization, Found. Trends
Optim. 1(4), 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import UnknownNameError
from sdpdr.linalg import VectorMap
from sdpdr.linalg.cliques import CliqueCost, CliqueTree, complete_max_det, complete_min_rank
from sdpdr.linalg.svec import svec_size
from sdpdr.program.point import (
    Factor,
    Point,
    PsdVariable,
    Value,
    Variable,
    VectorVariable,
    as_dense,
)
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.chordal_blocks import Blocks, block_bases, overlap, split_rows
from sdpdr.reduce.chordal_pattern import find_trees

Completion = Literal["rank", "determinant"]


@dataclass(frozen=True)
class Chordal(Reduction):
    """Decompose matrix variables and matrix inequalities along the cliques of their patterns.

    Parameters
    ----------
    cost : CliqueCost, optional
        What cliques and overlaps cost, which decides the cliques that merge.
    balance : bool, default True
        Write the blocks in bases in which the limits of the program make their entries of size one
        (see `sdpdr.reduce.chordal_blocks`). Without, interior-point methods lose digits on
        Gram matrices of long graphs; with it, rows of overlaps are dense.
    completion : {"rank", "determinant"}, default "rank"
        How matrix variables are completed: as a factor with as many columns as the largest rank of
        a block, or densely, with the largest determinant. Multipliers of matrix inequalities are
        dense, and have the larger determinant, in any case.

    Notes
    -----
    Blocks are called ``"K[0]"``, ``"K[1]"``, ... and their overlaps ``"K.overlap[1]"``, ...
    Centring reads every entry, so put `Face` in front, with its sparse basis.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.reduce.chordal import Chordal
    >>> from sdpdr.reduce.base import Composed
    >>> from sdpdr.reduce.face import Face
    >>> sdp = methods.mvu(graphs.path(np.ones(40))).to_sdp()
    >>> reduced = Composed((Face("sparse"), Chordal())).apply(sdp).sdp
    >>> max(v.n for v in sdp.psd_variables), max(v.n for v in reduced.psd_variables) < 12
    (41, True)
    """

    name: ClassVar[str] = "chordal"
    cost: CliqueCost | None = None
    balance: bool = True
    completion: Completion = "rank"

    def __post_init__(self) -> None:
        if self.completion not in ("rank", "determinant"):
            raise UnknownNameError("completion", self.completion, ("rank", "determinant"))

    def accepts(self, sdp: SDP) -> str | None:
        """Any program with a matrix variable or inequality that smaller cliques cover."""
        return find_trees(sdp, self.cost).refusal()

    def _reduce(self, sdp: SDP) -> Reduced:
        trees = find_trees(sdp, self.cost)
        blocks = {name: self._blocks(sdp, name, tree) for name, tree in trees.variables.items()}
        reduced = _decompose_lmis(_decompose_variables(sdp, blocks), trees.lmis)
        return Reduced(
            reduced,
            lambda point: self._lift(blocks, trees.lmis, point),
            push=lambda point: _pushed(blocks, trees.lmis, point),
        )

    def _blocks(self, sdp: SDP, name: str, tree: CliqueTree) -> Blocks:
        return Blocks(tree, block_bases(sdp, name, tree) if self.balance else None)

    def _lift(
        self, blocks: Mapping[str, Blocks], lmis: Mapping[str, CliqueTree], point: Point
    ) -> Point:
        values, duals = dict(point.values), dict(point.duals)
        for name, b in blocks.items():
            found = _take(name, b.tree, values, duals)
            if found is not None:
                values[name] = self._complete(b.tree, b.expand(found))
        for label, tree in lmis.items():
            found = _take(label, tree, duals, values)
            if found is not None:
                duals[label] = complete_max_det(tree, found)
        return Point(values, duals)

    def _complete(self, tree: CliqueTree, blocks: list[Array]) -> Value:
        if self.completion == "rank":
            return Factor(complete_min_rank(tree, blocks))
        return complete_max_det(tree, blocks)


def _pushed(blocks: Mapping[str, Blocks], lmis: Mapping[str, CliqueTree], point: Point) -> Point:
    """A start of the blocks; multipliers of overlaps, and their scalars, are not known."""
    values, duals = dict(point.values), dict(point.duals)
    for name, b in blocks.items():
        if name in values:
            for k, block in enumerate(b.shrink(values.pop(name))):
                values[_block(name, k)] = block
    for label, tree in lmis.items():
        if label in duals:
            Z = duals.pop(label)
            for k, clique in enumerate(tree.cliques):
                duals[_block(label, k)] = Z[np.ix_(clique, clique)]
    return Point(values, duals)


def _block(name: str, k: int) -> str:
    return f"{name}[{k}]"


def _overlap(name: str, k: int) -> str:
    return f"{name}.overlap[{k}]"


def _take(
    name: str, tree: CliqueTree, found: dict[str, Any], overlaps: dict[str, Any]
) -> list[Array] | None:
    """Remove a decomposition's blocks and overlaps; the blocks, if they are all there."""
    blocks = [found.pop(_block(name, k), None) for k in range(len(tree.cliques))]
    for k in range(len(tree.cliques)):
        overlaps.pop(_overlap(name, k), None)
    return None if any(b is None for b in blocks) else [as_dense(b) for b in blocks]


# -- matrix variables ---------------------------------------------------------------------------


def _decompose_variables(sdp: SDP, blocks: Mapping[str, Blocks]) -> SDP:
    if not blocks:
        return sdp

    def split(expression: Expression) -> Expression:
        parts: dict[str, Any] = {}
        for name, linear_map in expression.items():
            if name not in blocks:
                parts[name] = linear_map
                continue
            for k, part in blocks[name].split(linear_map.matrix()):
                parts[_block(name, k)] = part
        return parts

    agreements = [
        _agreement(name, b, k)
        for name, b in blocks.items()
        for k, shared in enumerate(b.tree.separators)
        if shared.size
    ]
    split_up = sdp.rewritten(split, [b for v in sdp.variables for b in _variables(v, blocks)])
    return replace(split_up, rows=(*split_up.rows, *agreements))


def _variables(variable: Variable, blocks: Mapping[str, Blocks]) -> Iterator[Variable]:
    if variable.name not in blocks:
        yield variable
        return
    for k, clique in enumerate(blocks[variable.name].tree.cliques):
        yield PsdVariable(_block(variable.name, k), clique.size)


def _agreement(name: str, blocks: Blocks, k: int) -> Rows:
    """Rows that say that a clique agrees with its parent."""
    own, above = blocks.agreement(k)
    lhs = {_block(name, k): own, _block(name, int(blocks.tree.parent[k])): -above}
    return Rows(_overlap(name, k), "==", lhs, np.zeros(own.m))


# -- matrix inequalities ------------------------------------------------------------------------


def _decompose_lmis(sdp: SDP, trees: Mapping[str, CliqueTree]) -> SDP:
    lmis: list[Lmi] = []
    scalars: list[Variable] = []
    for lmi in sdp.lmis:
        if lmi.label not in trees:
            lmis.append(lmi)
            continue
        tree = trees[lmi.label]
        scalars += [
            VectorVariable(_overlap(lmi.label, k), svec_size(s.size))
            for k, s in enumerate(tree.separators)
            if s.size
        ]
        lmis += _pieces(sdp, lmi, tree)
    return replace(sdp, variables=(*sdp.variables, *scalars), lmis=tuple(lmis))


def _pieces(sdp: SDP, lmi: Lmi, tree: CliqueTree) -> list[Lmi]:
    orders = tree.sizes.tolist()
    lhs: list[dict[str, Any]] = [{} for _ in orders]
    constants = [np.zeros(svec_size(k)) for k in orders]
    for name, linear_map in lmi.lhs.items():
        wrap = sdp.variable(name).rows
        for k, part in split_rows(tree, linear_map.matrix()):
            lhs[k][name] = wrap(part)
    for k, part in split_rows(tree, sp.csr_array(lmi.constant[:, None])):
        constants[k] = part.toarray().ravel()
    for k, shared in enumerate(tree.separators):
        if shared.size:
            own, above = overlap(tree, k)
            lhs[k][_overlap(lmi.label, k)] = VectorMap(own.T)
            lhs[int(tree.parent[k])][_overlap(lmi.label, k)] = VectorMap(-above.T)
    return [
        Lmi(_block(lmi.label, k), order, lhs[k], constants[k]) for k, order in enumerate(orders)
    ]
