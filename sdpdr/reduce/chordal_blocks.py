"""A matrix variable as blocks on cliques, each in a basis of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import scipy.sparse as sp

from sdpdr.linalg import SvecMap
from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import Array
from sdpdr.reduce.chordal_basis import Bases, agreement, in_basis
from sdpdr.reduce.chordal_split import overlap, split_columns


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks X_C = B_C X'_C B_C^T of a matrix variable.

    Parameters
    ----------
    tree : CliqueTree
    bases : list of arrays or None
        The B_C; None for the identity.
    """

    tree: CliqueTree
    bases: Bases | None

    def split(self, matrix: sp.csr_array) -> Iterator[tuple[int, SvecMap]]:
        """Rows on the variable as rows on the blocks X'_C that they read."""
        for k, part in split_columns(self.tree, matrix):
            rows = part if self.bases is None else in_basis(part, self.bases[k])
            yield k, SvecMap(self.tree.cliques[k].size, rows)

    def agreement(self, k: int) -> tuple[SvecMap, SvecMap]:
        """The overlap with the parent, seen from a clique and from its parent."""
        if self.bases is None:
            own, above = overlap(self.tree, k)
        else:
            own, above = agreement(self.tree, k, self.bases)
        orders = self.tree.sizes
        return SvecMap(int(orders[k]), own), SvecMap(int(orders[self.tree.parent[k]]), above)

    def expand(self, blocks: Sequence[Array]) -> list[Array]:
        """The blocks X_C of the variable from the X'_C."""
        if self.bases is None:
            return list(blocks)
        return [b @ x @ b.T for b, x in zip(self.bases, blocks, strict=True)]
