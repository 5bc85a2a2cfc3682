"""
Your own block puts an unfolding (MVU) on a leash
=================================================

A circle of points, with every neighbour at the same distance, unfolds to a regular polygon. What if
a leash joins one pair of opposite points? We write it as a small block, use it as a hard constraint
and as a penalty, and look at the forces.
"""

# %%
# The block
# ---------

from collections.abc import Iterable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import AtMost, Block, Var


@dataclass(frozen=True, eq=False)
class Leash(Block):
    """Keeps points i and j within a (plain) length of each other."""

    n: int
    i: int
    j: int
    length: float

    def terms(self) -> Iterable[AtMost]:
        """One row."""
        between = SquaredEdgeLengths(self.n, [(self.i, self.j)]) @ Var("K")
        yield AtMost(between, self.length**2, symbol="l²")


n = 40
print(sdpdr.check_block(Leash(n, 0, n // 2, 1.0)))

# %%
# A hard leash
# ------------
# The circle has diameter about 12.7. A leash of length 4 pinches it.

ring = methods.mvu(graphs.cycle(n))
model = ring + Leash(n, 0, n // 2, 4.0)
print(model.describe())
free, pinched = sdpdr.solve(ring), sdpdr.solve(model)
print(pinched)

# %%
# A leash with a penalty
# ----------------------
# `sdpdr.soften` turns any block's constraints into penalties. With a small weight the leash
# stretches. It stops stretching at a weight equal to the multiplier of the hard leash, the force.

force = float(pinched.dual("leash")[0])
weights = [0.3 * force, 0.8 * force, 1.2 * force]
soft = [sdpdr.solve(ring + sdpdr.soften(Leash(n, 0, n // 2, 4.0), weight)) for weight in weights]


def span(solution: sdpdr.Solution) -> float:
    """Distance between the two ends of the leash."""
    Y = solution.embedding(3)
    return float(np.linalg.norm(Y[0] - Y[n // 2]))


print(f"force in the hard leash: {force:.3f}")
for weight, solution in zip(weights, soft, strict=True):
    print(f"weight {weight:6.3f}   length {span(solution):7.3f}   variance {solution.value:8.1f}")

# %%
# The pictures, drawn with the leash; the colour of an edge is the force in it.

penalized = {f"weight {p:.2f}": s for p, s in zip(weights, soft, strict=True)}
shown = {"free": free, **penalized, "hard": pinched}
fig, axes = plt.subplots(1, len(shown), figsize=(11, 2.4), sharex=True, sharey=True)
top = max(float(s.dual("isometry").max()) for s in shown.values())
for axis, (title, solution) in zip(axes, shown.items(), strict=True):
    Y = solution.embedding(2)
    edges = graphs.cycle(n).edges
    for (i, j), load in zip(edges, solution.dual("isometry") / top, strict=True):
        axis.plot(*Y[[i, j]].T, color=plt.cm.viridis(0.95 * float(load)), linewidth=2.5)
    axis.plot(*Y[[0, n // 2]].T, "--", color="gray", linewidth=0.8)
    axis.set_title(title, fontsize=10)
    axis.set_aspect("equal")
    axis.set_axis_off()
fig.tight_layout()
