r"""
Lesson 9: New constraints, new points
=====================================

Say something about your data that nobody has said before, and place points that came too late.

**Goals.** After this lesson you can

- turn a sentence about points into a linear condition on their Gram matrix, or see that it is none;
- add it to a program, as an expression or as a block of your own, hard or at a price;
- put new points into a finished embedding, and know when not to.

**You need** lesson 4: unfolding. Lesson 3 for the language.
"""

# %%
# What can be said
# ----------------
# A condition fits into a semidefinite program if it is linear in K. *What do you expect* of these?
#
# 1. Point i is no more than 2 away from the centre.
# 2. Point i is nearer to j than to k.
# 3. The edges from i to j and from i to k are at right angles.
# 4. Points i and j are *at least* 3 apart.
# 5. All points lie in a plane.
# 6. Point i lies between j and k, on the line.
#
# The first is :math:`K_{ii} \le 4`, the second :math:`D_{ij} \le D_{ik}` with
# :math:`D_{ij} = K_{ii} + K_{jj} - 2K_{ij}`, the fourth :math:`D_{ij} \ge 9`; all are linear. So is
# the third: by the law of cosines it says :math:`D_{ij} + D_{ik} = D_{jk}`. The fifth is a
# condition on the rank, and not convex: halfway between a horizontal and a vertical sheet is a
# solid. The sixth says that some :math:`t y_j + (1 - t) y_k - y_i` vanishes; for *known* t its
# squared length is :math:`v^\top K v = 0` with v made of t, 1 − t and −1, which is linear. (It
# leaves no interior, which lesson 5 warns of.)
#
# As an expression
# ----------------
# Ten beads on a string become a line of length nine. Put them in a ball of radius two.

from collections.abc import Iterable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods, psd
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import Block, Equal, Var

n = 10
string = graphs.path(np.ones(n - 1))
K = psd("K", n)  # the name that unfolding gives to its Gram matrix
ball = (K.diagonal() <= 2.0**2).named("ball")
model = methods.mvu(string) + ball
print(model.describe())

# %%
# *What do you expect* the beads to look like? Which of them press against the wall?

free, caught = sdpdr.solve(methods.mvu(string)), sdpdr.solve(model)
print(f"variance {free.value:.3f} without the ball, {caught.value:.3f} within it")
print("pressure:", caught.dual("ball").round(3))
print("dimensions:", np.sum(caught.spectrum() > 1e-4))

fig, axis = plt.subplots(figsize=(4.2, 4))
Y = caught.embedding(2)
axis.plot(*Y.T, color="gray", linewidth=1)
axis.scatter(*Y.T, c=caught.dual("ball"), s=60, zorder=3)
axis.add_patch(plt.Circle((0, 0), 2.0, fill=False, linestyle="--", color="tab:red"))
axis.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), title="the colour is the pressure")
axis.set_axis_off()

# %%
# The multipliers of the new condition are pressures of the wall (over the radius), as those of the
# threads are forces over lengths. And the answer is proved like any other:

print(caught)
print("proved by:", caught.argument)

# %%
# As a block
# ----------
# What is said more than once deserves a name. A *block* is a small class: data, and terms that say
# what holds. Here is the third sentence of the list. The law of cosines needs three squared
# lengths, each of which is a linear map from matrices to numbers; maps add up.


@dataclass(frozen=True, eq=False)
class RightAngle(Block):
    """The edges from i to j and from i to k are at right angles."""

    n: int
    i: int
    j: int
    k: int

    def terms(self) -> Iterable[Equal]:
        """One row, by the law of cosines."""
        one, other, across = (
            SquaredEdgeLengths(self.n, [sorted(pair)])
            for pair in ((self.i, self.j), (self.i, self.k), (self.j, self.k))
        )
        yield Equal((one + other - across) @ Var("K"), 0.0)


# %%
# Before it is used, it can be checked: are its maps linear, do they agree with their adjoints, do
# both compilers of the package read the same from it?

print(sdpdr.check_block(RightAngle(n, 4, 3, 5)))

# %%
# The string again, with a right angle at bead 4. *What do you expect?* Is a string with one right
# angle flat?

angled = methods.mvu(string) + RightAngle(n, 4, 3, 5)
bent = sdpdr.solve(angled)
Y = bent.embedding(2)

fig, axis = plt.subplots(figsize=(4.2, 3.4))
axis.plot(*Y.T, "o-")
axis.set(aspect="equal", title="a right angle at bead 4")
axis.set_axis_off()
print(f"variance {bent.value:.3f}, dimensions {np.sum(bent.spectrum() > 1e-4)}")

# %%
# Hard, or at a price
# -------------------
# A demand that contradicts the others makes the program infeasible. Data contradict each other all
# the time, so demands are often better *priced*: what exceeds the limit is multiplied by a price
# and taken off the objective. *What do you expect* of the variance as the price rises? From which
# price on is the demand kept?

pressure = caught.dual("ball")
prices = pressure.max() * np.array([0.3, 0.7, 0.75, 0.8, 0.9, 1.05])
outside = []
for price in prices:
    soft = sdpdr.solve(methods.mvu(string) + sdpdr.soften(ball, float(price)))
    outside.append(float(np.maximum(np.diag(soft.gram()) - 4.0, 0.0).sum()))
    print(f"price {price:.3f}: beyond the ball by {outside[-1]:8.4f}")

# %%
# Up to some price the string stays as it was without the ball, and pays; then it gives way. From
# the largest multiplier of the hard demand on, nothing is beyond. This is so in general: a price
# above the multiplier is an *exact penalty*. To pay it would cost more than the gain, and the
# multiplier is the gain for each unit (lesson 3).
#
# New points
# ----------
# A Gram matrix knows its points and no others. When a point arrives later, its row is missing.
#
# *The honest way:* solve a small program for it alone. Its neighbours have places :math:`a_k` in
# the finished picture, and it has squared distances :math:`d_k` from them. Let y be its place, and
# :math:`\kappa` its squared length. The matrix
#
# .. math:: Z = \begin{pmatrix} I & y \\ y^\top & \kappa \end{pmatrix} \succeq 0
#    \quad\Longleftrightarrow\quad \kappa \ge |y|^2
#
# makes everything linear, :math:`|y - a_k|^2 = |a_k|^2 - 2 a_k^\top y + \kappa`. If
# :math:`\kappa > |y|^2` the point does not fit into the dimensions of the picture: it stands above
# it, at the height :math:`(\kappa - |y|^2)^{1/2}`.

anchors = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
for place, height in ((np.array([1.0, 1.0]), 0.0), (np.array([1.0, 1.0]), 0.5)):
    sqdist = np.sum((anchors - place) ** 2, axis=1) + height**2
    Z = psd("Z", 3)
    reach = (anchors**2).sum(axis=1) - 2 * anchors @ Z[:2, 2] + Z[2, 2]
    located = sdpdr.solve(
        sdpdr.maximize(Z[2, 2])
        + (Z[[0, 1, 0], [0, 1, 1]] == np.array([1.0, 1.0, 0.0])).named("unit")
        + (reach == sqdist).named("reach")
    )
    found = located["Z"]
    above = np.sqrt(max(0.0, found[2, 2] - np.sum(found[:2, 2] ** 2)))
    print(f"found at {found[:2, 2].round(3)}, at height {above:.3f} above the picture")

# %%
# *The fast way:* learn the picture as a *function* of the data, by regression, and evaluate it
# anywhere. This is the idea of spectral regression (Cai thesis, section 3.1). In sdpdr every
# embedding takes an ``extension``.

X, along = sdpdr.datasets.swiss_roll(300, seed=0, height=10.0)
known, new = slice(0, 200), slice(200, 300)
unfolding = sdpdr.MVU(n_neighbors=5, extension="kernel").fit(X[known])
places = unfolding.transform(X[new])

fig, axis = plt.subplots(figsize=(8, 1.9))
axis.scatter(*unfolding.embedding_.T, c=along[known], s=14, vmin=along.min(), vmax=along.max())
shown = {"c": along[new], "vmin": along.min(), "vmax": along.max(), "edgecolors": "black"}
axis.scatter(*places.T, s=34, **shown)
axis.set(aspect="equal", title="new points have a rim")
fig.tight_layout()

# %%
# The colours agree. A function of this kind answers for every point of space, however absurd. So
# ask how far it can be trusted. ``trust`` is the share of the training points that lie at least as
# far from their nearest neighbour as the new point lies from its own: about one half is usual, zero
# says that no training point was ever so lonely.

absurd = np.array([[100.0, 0.0, 0.0]])
print("trust in the new points, median:", np.median(unfolding.trust(X[new])).round(2))
print("trust in the absurd one:        ", unfolding.trust(absurd).round(2))
print("left out and predicted, error:  ", round(float(unfolding.extension_.error), 3))

# %%
# Exercises
# ---------
# **Exercise 1.** Write "the string's ends are no more than 5 apart" as an expression, and read the
# force in that leash. Compare it with the derivative of the variance by the squared length of the
# leash.
#
# .. dropdown:: Solution
#
#    The multiplier is the derivative, once more.
#
#    .. code-block:: python
#
#       def leashed(sqdist):
#           leash = (K.distance2(0, n - 1) <= sqdist).named("leash")
#           return sdpdr.solve(methods.mvu(string) + leash, tol=1e-8)
#
#       rate = (leashed(25.25).value - leashed(24.75).value) / 0.5
#       assert np.isclose(leashed(25.0).dual("leash"), rate, rtol=1e-2)

# %%
# **Exercise 2.** Write the block ``AtLeastRight``: the angle at i between j and k is at least 90
# degrees. Check it, and use it at bead 4. Does it change the line? And what does its contrary do?
#
# .. dropdown:: Solution
#
#    :math:`D_{ij} + D_{ik} \le D_{jk}`. A line has an angle of 180 degrees, so nothing changes and
#    the multiplier is zero. The contrary, at most 90 degrees, bends the string to exactly 90.
#
#    .. code-block:: python
#
#       from sdpdr.model import AtMost
#
#       @dataclass(frozen=True, eq=False)
#       class Angle(Block):
#           n: int
#           i: int
#           j: int
#           k: int
#           sign: float
#
#           def terms(self):
#               one, other, across = (
#                   SquaredEdgeLengths(self.n, [sorted(pair)])
#                   for pair in ((self.i, self.j), (self.i, self.k), (self.j, self.k))
#               )
#               yield AtMost((self.sign * (one + other - across)) @ Var("K"), 0.0)
#
#       assert "every law holds" in str(sdpdr.check_block(Angle(n, 4, 3, 5, 1.0)))
#       blunt = sdpdr.solve(methods.mvu(string) + Angle(n, 4, 3, 5, 1.0))
#       sharp = sdpdr.solve(methods.mvu(string) + Angle(n, 4, 3, 5, -1.0))
#       assert np.isclose(blunt.value, free.value, rtol=1e-5)
#       assert np.isclose(sharp.value, bent.value, rtol=1e-5)

# %%
# **Exercise 3.** Show that the distance of the centres of two groups of points is linear in K,
# after squaring. Ask that the first five beads and the last five have centres no more than 3 apart.
#
# .. dropdown:: Solution
#
#    With f equal to :math:`\tfrac15` on the first five and :math:`-\tfrac15` on the last,
#    the difference of the centres is :math:`Y^\top f`, and its squared length
#    :math:`f^\top K f`.
#
#    .. code-block:: python
#
#       f = np.repeat([0.2, -0.2], 5)
#       drawn = methods.mvu(string) + (K.inner(np.outer(f, f)) <= 9.0).named("centres")
#       nearer = sdpdr.solve(drawn)
#       assert nearer.certified(1e-6)
#       assert np.isclose(f @ nearer.gram() @ f, 9.0, rtol=1e-4)
#       assert nearer.value < free.value

# %%
# **Exercise 4.** Leave the third anchor out. Where may the new point be? What does the program
# answer, and what does the height say?
#
# .. dropdown:: Solution
#
#    Two circles meet in two points, symmetric to the line of the anchors, and the program may
#    return any mixture of the two. Their midpoint lies on the line, and the missing half distance,
#    here one, shows as height. The mixture of highest rank, which interior points tend to, has no
#    height only where the place is determined.
#
#    .. code-block:: python
#
#       pair, L = anchors[:2], psd("L", 3)
#       apart = (pair**2).sum(axis=1) - 2 * pair @ L[:2, 2] + L[2, 2]
#       vague = sdpdr.solve(
#           sdpdr.maximize(L[2, 2])
#           + (L[[0, 1, 0], [0, 1, 1]] == np.array([1.0, 1.0, 0.0]))
#           + (apart == np.sum((pair - np.array([1.0, 1.0])) ** 2, axis=1))
#       )["L"]
#       assert np.isclose(vague[0, 2], 1.0, atol=1e-3)
#       assert np.isclose(vague[2, 2], 2.0, atol=1e-3)

# %%
# References
# ----------
# :doc:`/guide/language` for expressions, :doc:`/howto/add_block` for blocks, :doc:`/methods/index`
# for what others have said about points. New points: :doc:`/methods/anchored` and
# :doc:`/methods/spectral_regression`, after the Cai thesis, section 3.1, and the Tong thesis,
# section 2.4.2 (see :doc:`/references`).
