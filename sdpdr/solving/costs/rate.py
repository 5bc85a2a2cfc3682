"""Constants of one solver in one form, as a calibration finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Tolerances at which shares of success are kept.
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Rate:
    r"""Seconds ``start + scale * (work / 1e9) ** power``, and the memory and luck to expect.

    Parameters
    ----------
    start, scale, power : float
    base, each : float
        Bytes of memory, and those for every number that the algorithm stores.
    reach : mapping from kind of program to tuple of float
        Share of the library's programs of that kind on which it reached each of `TOLERANCES`.
    """

    start: float
    scale: float
    power: float
    base: float
    each: float
    reach: Mapping[str, tuple[float, ...]]

    def seconds(self, work: float) -> float:
        """Seconds for a number of multiplications."""
        return float(self.start + self.scale * (work / 1e9) ** self.power)

    def memory(self, numbers: float) -> float:
        """Bytes for numbers stored."""
        return float(self.base + self.each * numbers)

    def share(self, kind: str, tol: float) -> float:
        """Share of the library's programs of that kind on which ``tol`` was reached."""
        looser = [k for k, known in enumerate(TOLERANCES) if known > tol * (1.0 + 1e-9)]
        return self.reach[kind][min(len(looser), len(TOLERANCES) - 1)]
