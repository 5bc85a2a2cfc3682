"""Which programs a descent is the way to go for, and why."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.walks import breadth
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.general.problem import Block, Problem

# Order from which on fill matters, and the part of all points that are equally far from one where
# little is left of sparsity once some are eliminated.
_LARGE, _WIDE = 200, 0.4


def equations_alone(sdp: SDP) -> bool:
    """Whether a program consists of matrices and equations, which descent is made for."""
    plain = not sdp.lmis and not sdp.vector_variables and bool(sdp.psd_variables)
    return plain and bool(sdp.rows) and all(r.relation == "==" for r in sdp.rows)


def reason(problem: Problem) -> str:
    """Why a descent should come first; empty where it should not.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program import PsdVariable, Rows
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> unit = Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3))
    >>> sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.ones((3, 3)))}, (unit,))
    >>> reason(compile_problem(sdp))
    'All rows fix lengths, which descent on spheres keeps exactly.'
    """
    if not equations_alone(problem.sdp) or not problem.m:
        return ""
    if not Spheres(problem).free.any():
        return "All rows fix lengths, which descent on spheres keeps exactly."
    large = [b for b in problem.blocks if b.n >= _LARGE]
    for block in large:
        width = breadth(_pattern(block))
        if width >= _WIDE * block.n:
            return (
                f"Of {block.n} points {width} are equally far from one, so that factorizations "
                "would fill in, and descent was tried first."
            )
    return ""


def _pattern(block: Block) -> sp.csr_array:
    """Pairs of points that some row reads together, or the objective."""
    forms = block.forms
    row, column = np.concatenate([forms.i, forms.j]), np.concatenate([forms.j, forms.i])
    return sp.csr_array((np.ones(row.size), (row, column)), shape=(block.n, block.n))
