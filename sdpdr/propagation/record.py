"""What is known of a labelling: its ratio, how little it could be, and what the labels weigh."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sdpdr.linalg.svec import Array


class PropagationStatus(Enum):
    """How a search for the least ratio ended; the value of each member is advice."""

    OPTIMAL = "No labelling has a smaller ratio, but for a relative `gap`; that is proved."
    STALLED = (
        "A smaller ratio is possible: `bound` is that of the optimum. The alternation stopped at a "
        "point that neither of its steps improves."
    )
    UNPROVEN = "The ratio is at least `bound`, which rounding keeps from coming closer."
    NO_DISSIMILARITY = (
        "No dissimilar pair has an end without a label or two different labels, so that there is "
        "no ratio to minimise; the harmonic labelling is returned."
    )
    NOT_SOUGHT = "The method does not minimise the ratio."

    @property
    def advice(self) -> str:
        """What the status means and what to do."""
        return self.value

    def __repr__(self) -> str:
        return f"PropagationStatus.{self.name}"


@dataclass(frozen=True, eq=False)
class Propagation:
    r"""A labelling of all nodes.

    Attributes
    ----------
    y : array of shape (n,)
        The labels given where they were, the values found elsewhere.
    lam : float
        Weight :math:`\lambda` of dissimilar pairs: y minimises :math:`E_+ - \lambda E_-`. 0 for
        the harmonic labelling, nan where y has no such weight.
    ratio : float
        :math:`E_+(y)/E_-(y)`.
    bound : float
        No labelling with these labels has a smaller ratio: proved, rounding included. 0 where
        nothing was tried.
    label_weight : float
        :math:`|v_0|/|v|` of the vector :math:`v = (\beta, y_u)`, that is
        :math:`(1 + |y_u|^2)^{-1/2}`.
    gap_uu : float
        :math:`1 - \lambda^\ast/\lambda_{uu}`, where :math:`\lambda_{uu} \ge \lambda^\ast` is the
        least ratio of labellings that vanish where labels are known; small if the labels hardly
        decide. nan where it was not computed.
    status : PropagationStatus
    method : str
    n_iter : int
        Of the alternation; 0 for the other methods.
    history : tuple of tuples
        Scale, weight and ratio, :math:`(\beta, \lambda, E_+/E_-)`, after each step of the
        alternation.
    """

    y: Array
    lam: float
    ratio: float
    bound: float
    label_weight: float
    gap_uu: float
    status: PropagationStatus
    method: str
    n_iter: int = 0
    history: tuple[tuple[float, float, float], ...] = ()

    @property
    def gap(self) -> float:
        """The ratio less its bound, relative to the ratio; 0 if both are."""
        return (self.ratio - self.bound) / self.ratio if self.ratio > 0.0 else 0.0
