r"""Chordal decomposition: one large cone becomes several small ones that agree where they overlap.

A matrix variable X of which rows and costs read a sparse pattern is positive semidefinite on that
pattern exactly if its blocks X_C on the maximal cliques C of a chordal extension are. Each entry
that is read goes to one clique that holds it, and rows

.. math:: (X_C)_{UU} = (X_D)_{UU}, \qquad U = C \cap D,

make each clique C agree with its parent D. A matrix inequality whose matrices share a sparse
pattern is a matrix variable of the dual, so `Dual` followed by `Chordal` splits it.

References
----------
Fukuda, Kojima, Murota, Nakata, Exploiting sparsity in semidefinite programming via matrix
completion I, SIAM J. Optim. 11(3), 2001. Vandenberghe, Andersen, Chordal Graphs and Semidefinite
Optimization, Found. Trends Optim. 1(4), 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sdpdr.linalg.cliques import CliqueCost, complete_min_rank
from sdpdr.program.point import Factor, Point, PsdVariable, Variable, as_dense
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.chordal_blocks import Blocks, block_bases
from sdpdr.reduce.chordal_pattern import find_trees


@dataclass(frozen=True)
class Chordal(Reduction):
    """Decompose matrix variables along the cliques of their patterns.

    Parameters
    ----------
    cost : CliqueCost, optional
        Costs of cliques and overlaps, which decide which cliques are merged.

    Notes
    -----
    Blocks are called ``"K[0]"``, ``"K[1]"``, ... and their overlaps ``"K.overlap[1]"``, ... They
    are written in bases in which their entries are about one (`sdpdr.reduce.chordal_blocks`).
    In other bases, interior-point methods lose digits on Gram matrices of long graphs. Lifted
    matrices are factors with as many columns as the largest rank of a block. Centring reads
    every entry, so put `Face` in front, with its sparse basis.

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

    def accepts(self, sdp: SDP) -> str | None:
        """Any program with a matrix variable that smaller cliques cover."""
        return find_trees(sdp, self.cost).refusal()

    def _reduce(self, sdp: SDP) -> Reduced:
        trees = find_trees(sdp, self.cost).variables
        blocks = {name: Blocks(tree, block_bases(sdp, name, tree)) for name, tree in trees.items()}
        return Reduced(
            _decomposed(sdp, blocks),
            lambda point: _lifted(blocks, point),
            push=lambda point: _pushed(blocks, point),
        )


def _lifted(blocks: Mapping[str, Blocks], point: Point) -> Point:
    """The completed matrices, without the multipliers of overlaps, which the original has not."""
    values, duals = dict(point.values), dict(point.duals)
    for name, b in blocks.items():
        count = range(len(b.tree.cliques))
        found = [values.pop(_block(name, k), None) for k in count]
        for k in count:
            duals.pop(_overlap(name, k), None)
        if all(x is not None for x in found):
            parts = b.expand([as_dense(x) for x in found if x is not None])
            values[name] = Factor(complete_min_rank(b.tree, parts))
    return Point(values, duals)


def _pushed(blocks: Mapping[str, Blocks], point: Point) -> Point:
    """A starting point for the blocks, without multipliers of overlaps, which are unknown."""
    values = dict(point.values)
    for name, b in blocks.items():
        if name in values:
            for k, block in enumerate(b.shrink(values.pop(name))):
                values[_block(name, k)] = block
    return Point(values, dict(point.duals))


def _block(name: str, k: int) -> str:
    return f"{name}[{k}]"


def _overlap(name: str, k: int) -> str:
    return f"{name}.overlap[{k}]"


def _decomposed(sdp: SDP, blocks: Mapping[str, Blocks]) -> SDP:
    """The program in terms of blocks, with rows that make them agree."""

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
    """The blocks of a matrix; other variables as they are."""
    if variable.name not in blocks:
        yield variable
        return
    for k, clique in enumerate(blocks[variable.name].tree.cliques):
        yield PsdVariable(_block(variable.name, k), clique.size)


def _agreement(name: str, blocks: Blocks, k: int) -> Rows:
    """Rows that make a clique agree with its parent."""
    own, above = blocks.agreement(k)
    lhs = {_block(name, k): own, _block(name, int(blocks.tree.parent[k])): -above}
    return Rows(_overlap(name, k), "==", lhs, np.zeros(own.m))
