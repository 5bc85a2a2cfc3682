r"""The central path down to where the optimum is told apart from its neighbours.

Along the path, each number x of the cones has a multiplier z with :math:`x z = \mu`. At an optimum
that is strictly complementary one of them stays and the other vanishes like :math:`\mu`; the
tangent says which, as soon as :math:`\mu` is small beside what stays. The path is followed until
that is clear for all of them, or until doubles can tell no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import NotSmoothError
from sdpdr.certify.flat import Answer
from sdpdr.solving.derivatives.equations import Equations
from sdpdr.solving.derivatives.flat_model import NO_INTERIOR
from sdpdr.solving.derivatives.kkt import Place

# Gaps that the path has to reach, relative to the sizes of what the objective adds up, and those
# down to rounding that it may reach.
_GAPS, _FURTHER = (1e-5, 1e-6, 1e-7, 1e-8), (1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15)
# Relative errors up to which it is clear what vanishes, and that need not be smaller.
_TOLD, _PRECISE = 1e-4, 1e-12
# Distance of a power from one half where a number vanishes together with its multiplier.
_TOUCHES = 0.05
# Newton steps for each gap of both kinds, the length after which one more is the last, and the
# shortest share.
_STEPS, _FEWER, _NEAR, _SHARE = 50, 12, 1e-3, 1e-6
# Growth of multipliers in Newton's method, over the first and costs, where no point is inside.
_UNLIMITED = 1e4


class Path(NamedTuple):
    """What is seen of the path.

    Attributes
    ----------
    first, last : Place
        The first point of the path, and the last one.
    before : Place or None
        The one before the last.
    """

    first: Place
    last: Place
    before: Place | None

    @property
    def error(self) -> float:
        """About the relative error of the end of the tangent; infinite if it is not known.

        That is the square of distances of powers to their limits, but for the rounding of this
        point of the path.
        """
        own, others = self.last.powers, self._without_eigenvalues
        ends = np.minimum(np.abs(own), np.abs(own - 1.0))
        off = np.concatenate([ends, np.abs(others - np.round(others))])
        found = max([*off**2, self.last.distance, self.last.imbalance])
        return found if np.isfinite(found) else np.inf

    @property
    def is_told(self) -> bool:
        """Whether it is clear of all numbers whether they or their multipliers vanish."""
        return self.error <= _TOLD

    @property
    def touches(self) -> bool:
        """Whether a number, or eigenvalue, vanishes together with its multiplier."""
        powers = np.append(self.last.powers, np.abs(self._without_eigenvalues))
        return bool(np.any(np.abs(powers - 0.5) < _TOUCHES))

    @property
    def keeps_touching(self) -> bool:
        """Whether a number or eigenvalue does so at the last two points, and not in passing."""
        if self.before is None:
            return False
        powers = np.stack([self.before.powers, self.last.powers])
        return bool(np.any(np.all(np.abs(powers - 0.5) < _TOUCHES, axis=0)))

    @property
    def quotients(self) -> Array:
        """D at the optimum, and further along the path where it is not clear."""
        powers = self.last.powers_of_quotients(self.before)
        ends = np.where(powers > 1.0 - _TOUCHES, 0.0, self.last.quotients * (1.0 - powers))
        return np.where(powers < _TOUCHES - 1.0, np.inf, ends)

    @property
    def _without_eigenvalues(self) -> Array:
        """Powers of D in cones that have no eigenvalues."""
        powers = self.last.powers_of_quotients(self.before)
        frames = [frame.at for frame in self.last.frames if not frame.sizes.size]
        return powers[np.concatenate([np.zeros(0, dtype=np.intp), *frames])]


def follow_path(of: Equations, answer: Answer) -> Path:
    """Follow the central path from an answer.

    Raises
    ------
    NotSmoothError
        If multipliers are unlimited.
    LinAlgError
        If Newton's method finds no point of the path.
    """
    cost = float(np.abs(of.flat.c) @ np.abs(answer.x)) or 1.0
    levels = [gap * cost / of.flat.degree for gap in (*_GAPS, *_FURTHER)]
    u, y = of.start(answer, levels[0])
    first = _centred(of, u, y, levels[0], _STEPS)
    best = path = Path(first, first, None)
    for k, mu in enumerate(levels[1:], start=1):
        is_needed = k < len(_GAPS)
        if not is_needed and best.error <= _PRECISE:
            break
        try:
            u, y = _towards(of, path.last, mu)
            place = _centred(of, u, y, mu, _STEPS if is_needed else _FEWER)
        except (NotSmoothError, np.linalg.LinAlgError):
            if is_needed:
                raise
            break
        path = Path(first, place, path.last)
        best = path if is_needed or path.error < best.error else best
    return best


def _towards(of: Equations, place: Place, mu: float) -> tuple[Array, Array]:
    """Where the tangent leads at another mu, as far as that is inside of the cones."""
    (du, dy), further = place.tangent, mu - place.mu
    while not of.are_inside(place.u + further * du):
        further *= 0.5
    return place.u + further * du, place.y + further * dy


def _centred(of: Equations, u: Array, y: Array, mu: float, steps: int) -> Place:
    """The point of the path next to another one.

    Raises
    ------
    LinAlgError, NotSmoothError
        If Newton's method finds none, or multipliers are unlimited.
    """
    before, first = np.inf, y
    for _ in range(steps):
        place = Place(of, u, y, mu)
        if before < _NEAR:
            return place
        before, (du, dy) = place.distance, place.step
        if not np.isfinite(before):
            break
        share = 1.0
        while share > _SHARE and not of.are_inside(u + share / 0.95 * du):
            share *= 0.7
        u, y = u + share * du, y + share * dy
    if np.linalg.norm(y) > _UNLIMITED * (np.linalg.norm(first) + np.linalg.norm(of.c)):
        raise NotSmoothError(NO_INTERIOR)
    raise np.linalg.LinAlgError("Newton's method finds no point of the central path")
