"""How large a program is, and the work of a step of an interior-point method on it."""

from __future__ import annotations

from dataclasses import dataclass

from sdpdr.linalg.svec import svec_size
from sdpdr.program.arrows import arrow_labels, is_seen_as_arrow
from sdpdr.program.sdp import SDP, remembered

# Multiplications in the time that the calls in a step of a dense method take.
_DENSE_STEP_CALLS = 5e5


@dataclass(frozen=True)
class Sizes:
    """How large a program is, for solvers.

    Attributes
    ----------
    orders : tuple of int
        The orders of all matrices.
    entries, multipliers : int
        Unknowns of the program, and of its dual.
    block_work : float
        Multiplications of a step with a dense block for every matrix, tied to the rows it is in;
        arrows are second-order cones (`sdpdr.program.arrows`).
    """

    orders: tuple[int, ...]
    entries: int
    multipliers: int
    block_work: float

    @property
    def unknowns(self) -> int:
        """Those of the program or of its dual, whichever are fewer."""
        return min(self.multipliers or self.entries, self.entries or self.multipliers)

    @property
    def whole_work(self) -> float:
        """Multiplications of a step with one matrix for all unknowns."""
        matrices = sum(float(n) ** 3 for n in self.orders)
        return _DENSE_STEP_CALLS + self.unknowns**3 / 3.0 + self.unknowns * matrices


@remembered
def sizes(sdp: SDP) -> Sizes:
    """The sizes of a program.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> found = sizes(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> found.orders, found.entries, found.multipliers
    ((3,), 6, 5)
    """
    work, arrows = 0.0, arrow_labels(sdp)
    blocks = [
        (v.n, is_seen_as_arrow(sdp, v.name, v.n), sum(r.m for r in sdp.rows if v.name in r.lhs))
        for v in sdp.psd_variables
    ]
    blocks += [
        (k.order, k.label in arrows, sum(sdp.variable(name).size for name in k.lhs))
        for k in sdp.lmis
    ]
    for order, is_arrow, tied in blocks:
        s, r = float(order + 1 if is_arrow else svec_size(order)), float(tied)
        work += s**3 / 3.0 + s * s * r + s * r * r
    return Sizes(
        orders=tuple(order for order, *_ in blocks),
        entries=sum(v.size for v in sdp.variables),
        multipliers=sum(r.m for r in sdp.rows) + sum(svec_size(k.order) for k in sdp.lmis),
        block_work=work,
    )


def is_tiny(sdp: SDP) -> bool:
    """Whether Clarabel's steps take less than the calls in a step of a dense method.

    Such a program is solved in the form in which it is proved: reductions would take longer than
    they save. Beside its blocks, a step multiplies at most each number by each other.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> [is_tiny(methods.mvu(graphs.path([1.0] * n)).to_sdp()) for n in (4, 40)]
    [True, False]
    """
    found = sizes(sdp)
    numbers = float(found.entries + found.multipliers)
    return found.block_work + numbers**2 <= _DENSE_STEP_CALLS
