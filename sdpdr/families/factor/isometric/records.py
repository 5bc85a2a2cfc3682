"""What a search for isometric factors returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sdpdr.base.arrays import Array
from sdpdr.base.progress import Advised


class IsometricStatus(Advised):
    """How a search for isometric factors ended; the value of each member is advice."""

    SETTLED = (
        "Lengths hold to the tolerance and the objective has stopped falling. This is a local "
        "optimum; `bound` says how much better others may be at most."
    )
    STALLED = (
        "Lengths (or the product, where it is a constraint) have stopped coming closer: perhaps "
        "there are no such factors. Take more components, fewer neighbours, or product='penalty'."
    )
    ITERATION_LIMIT = (
        "The limit of rounds was reached: look at `dist` and `rec`, and go on with start=(W, H) if "
        "they are not small enough."
    )
    TIME_LIMIT = "The time limit was reached; the best factors so far are returned."
    INTERRUPTED = "Interrupted; the best factors so far are returned."
    DIVERGED = (
        "Distances grew without limit. Take a smaller pull, objective='none', or product='penalty'."
    )


@dataclass(frozen=True)
class IsometricRound:
    """One round between two updates of the multipliers.

    Attributes
    ----------
    objective : float
    rec, dist, spread : float
        As of `IsometricFactors`.
    slope : float
        Norm of the projected gradient of the Lagrangian.
    length_penalty, product_penalty : float
        Relative to the squares of all lengths and of all data.
    steps : int
        Of the inner method.
    seconds : float
        Since the beginning.
    """

    objective: float
    rec: float
    dist: float
    spread: float
    slope: float
    length_penalty: float
    product_penalty: float
    steps: int
    seconds: float


@dataclass(frozen=True, eq=False)
class IsometricFactors:
    r"""Non-negative factors, how well they fit and how well they keep lengths.

    Attributes
    ----------
    W : array of shape (n, k)
        A row for each node of the graph.
    H : array of shape (k, m)
    status : IsometricStatus
    rec : float
        :math:`|V - WH|_F / |V|_F`.
    dist : float
        :math:`|(|w_i - w_j|^2 - d_{ij})|_2 / |d|_2` over the edges, of SQUARED lengths.
    spread : float
        Sum of squared distances of the pairs pulled apart; 0 without an objective.
    objective : float
        What was minimised: :math:`\tfrac12 \mathrm{rec}^2 - \beta\,\mathrm{spread}/S`, without the
        first term where the product was a constraint, and without the second where there are no
        pairs.
    rec_bound : float
        No factors of k columns have a smaller ``rec``, isometric or not (Eckart-Young).
    spread_bound : float
        No placement with the lengths of the graph has a larger spread.
    bound : float
        No factors whose lengths hold have a smaller objective: both bounds put into it.
    multipliers : array of shape (edges,)
        Of the lengths: the rate at which the objective rises with the squared length of an edge.
    history : tuple of IsometricRound
    """

    W: Array
    H: Array
    status: IsometricStatus
    rec: float
    dist: float
    spread: float
    objective: float
    bound: float
    rec_bound: float
    spread_bound: float
    multipliers: Array
    history: tuple[IsometricRound, ...]

    @property
    def gap(self) -> float:
        """Distance of the objective to ``bound``, in the units of the objective."""
        return self.objective - self.bound

    def rows(self) -> list[dict[str, Any]]:
        """The history as plain mappings, ready for a table or a figure."""
        return [asdict(record) for record in self.history]

    def __repr__(self) -> str:
        return (
            f"IsometricFactors({self.status.name}: rec {self.rec:.2%} (at least "
            f"{self.rec_bound:.2%}), dist {self.dist:.1e})"
        )
