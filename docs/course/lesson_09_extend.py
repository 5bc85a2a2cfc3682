r"""
Lesson 9: New constraints, new points
=====================================

State your own knowledge about the data as a constraint, and place points that arrive later.

**Goals.** After this lesson you can

- turn a sentence about points into a linear condition on their Gram matrix, or show that none is;
- add it to a program, as an expression or as a block of your own, hard or with a penalty;
- put new points into a finished embedding, and know when not to.

**You need** lesson 4: unfolding. Lesson 3 for writing programs.
"""

# %%
# Which conditions are linear?
# ----------------------------
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
# Six of the beads lie on the circle, and the four in the middle of the string do not touch it:
# their multipliers are zero. A multiplier times the radius is the force with which the wall presses
# on a bead, just as a multiplier times the length of a thread is the force in it (lesson 4). The
# answer is proved like any other:

print(caught)

# %%
# As a block
# ----------
# A condition that is used more than once deserves a name. A *block* is a small class with data and
# with terms: each term is one constraint or one part of the objective. ``Equal(expression, value)``
# says that they are equal, ``AtMost`` that the expression is at most the value. An expression is a
# linear map applied to a variable, ``map @ Var("K")``. Here is the third sentence of the list. The
# law of cosines needs three squared lengths. Each of them is a linear map, and maps can be added.


@dataclass(frozen=True, eq=False)
class RightAngle(Block):
    """The edges from i to j and from i to k are at right angles."""

    n: int
    i: int
    j: int
    k: int

    def terms(self) -> Iterable[Equal]:
        """One equation, by the law of cosines."""
        one, other, across = (
            SquaredEdgeLengths(self.n, [sorted(pair)])
            for pair in ((self.i, self.j), (self.i, self.k), (self.j, self.k))
        )
        yield Equal((one + other - across) @ Var("K"), 0.0)


# %%
# ``check_block`` tests it before it is used: are its maps linear, do they agree with their
# adjoints, and does the program mean the same to both compilers of the package?

print(sdpdr.check_block(RightAngle(n, 4, 3, 5)))

# %%
# The string again, with a right angle at bead 4. *What do you expect?* An L?

angled = methods.mvu(string) + RightAngle(n, 4, 3, 5)
bent = sdpdr.solve(angled)
Y = bent.embedding(2)

fig, axis = plt.subplots(figsize=(7, 1.7))
axis.plot(*Y.T, "o-")
axis.set(aspect="equal", title="a right angle at bead 4")
axis.set_axis_off()
print(f"variance {bent.value:.3f}, dimensions {np.sum(bent.spectrum() > 1e-4)}")
corner = np.zeros((n, 2))
corner[:5, 0], corner[4:, 1] = np.arange(4, -1, -1), np.arange(6)
print(f"variance of an L: {np.sum((corner - corner.mean(axis=0)) ** 2):.3f}")

# %%
# Not an L but a tent. The condition speaks of beads 3, 4 and 5 only. The other beads are free to
# straighten the string again right beside them, and so the tent has more variance than the L with
# its two straight legs.
#
# Hard, or with a penalty
# -----------------------
# A constraint that contradicts the others makes the program infeasible. Data contradict each other
# all the time, so a constraint is often better *softened*: the excess over the bound is multiplied
# by a penalty and subtracted from the objective. *What do you expect* of the variance as the
# penalty rises? From which penalty on does the constraint hold?

pressure = caught.dual("ball")
penalties = pressure.max() * np.array([0.3, 0.7, 0.75, 0.8, 0.9, 1.05])
outside = []
for penalty in penalties:
    soft = sdpdr.solve(methods.mvu(string) + sdpdr.soften(ball, float(penalty)))
    outside.append(float(np.maximum(np.diag(soft.gram()) - 4.0, 0.0).sum()))
    print(f"penalty {penalty:.3f}: beyond the ball by {outside[-1]:8.4f}")

# %%
# (The excess is measured in squared lengths, and summed over all beads.) Up to some penalty the
# string stays as it was without the ball, and pays; then it bends. Above the largest multiplier of
# the hard constraint, 1.171, the constraint holds. This is so in general: a penalty above the
# multiplier is an *exact penalty*. Paying it would cost more than it gains, since the multiplier is
# the gain for each unit of excess (lesson 3).
#
# New points
# ----------
# A Gram matrix holds its own points only. When a point arrives later, its row is missing.
#
# *One more program:* solve a small program for the new point alone. Its neighbours have coordinates
# :math:`a_k` in the finished picture, and it has squared distances :math:`d_k` from them. Let y be
# its coordinates, and :math:`\kappa` the number that stands for :math:`|y|^2`. The matrix
#
# .. math:: Z = \begin{pmatrix} I & y \\ y^\top & \kappa \end{pmatrix} \succeq 0
#    \quad\Longleftrightarrow\quad \kappa \ge |y|^2
#
# makes everything linear, :math:`|y - a_k|^2 = |a_k|^2 - 2 a_k^\top y + \kappa`. (This equivalence
# is called the *Schur complement*. To see it, put the vector with the parts :math:`u` and 1 into
# the first condition of lesson 2: :math:`|u|^2 + 2 u^\top y + \kappa \ge 0` for every u, and the
# left side is smallest at :math:`u = -y`, where it is :math:`\kappa - |y|^2`.) If
# :math:`\kappa > |y|^2` the point does not fit into the dimensions of the picture: it lies above
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
# Both answers are right: the first point lies in the picture, the second half a unit above it.
#
# *A function:* learn the picture as a *function* of the data, by regression, and evaluate it
# anywhere. This is the idea of spectral regression (Cai thesis, section 3.1). In sdpdr every
# embedding takes an ``extension``.

X, along = sdpdr.datasets.swiss_roll(300, seed=0, height=10.0)
known, new = slice(0, 200), slice(200, 300)
unfolding = sdpdr.MVU(n_neighbors=5, extension="kernel").fit(X[known])
placed = unfolding.transform(X[new])

fig, axis = plt.subplots(figsize=(8, 1.9))
axis.scatter(*unfolding.embedding_.T, c=along[known], s=14, vmin=along.min(), vmax=along.max())
shown = {"c": along[new], "vmin": along.min(), "vmax": along.max(), "edgecolors": "black"}
axis.scatter(*placed.T, s=34, **shown)
axis.set(aspect="equal", title="new points have a black edge")
fig.tight_layout()

# %%
# The colours of new points agree with those around them. But a function of this kind has a value at
# every point of space, however absurd. ``trust`` says how far to believe it: the share of the
# training points that lie at least as far from their nearest neighbour as the new point lies from
# its own. About one half is usual; zero means that no training point was as far from all others.

absurd = np.array([[100.0, 0.0, 0.0]])
print("trust in the new points, median:", np.median(unfolding.trust(X[new])).round(2))
print("trust in the absurd one:        ", unfolding.trust(absurd).round(2))
print("left out and predicted, error:  ", round(float(unfolding.extension_.error), 3))

# %%
# Exercises
# ---------
# **Exercise 1.** *15 minutes.* Write "the string's ends are no more than 5 apart" as an expression:
# a leash between the ends. What is the force in it? Compare its multiplier with the derivative of
# the variance with respect to the squared length of the leash.
#
# .. dropdown:: Hint
#
#    ``K.distance2(0, n - 1)`` is the squared length of the leash.
#
# .. dropdown:: Solution
#
#    The multiplier is a stiffness, and it is the derivative with respect to the *squared* length.
#    The force is the multiplier times the length, 5 here (lesson 4). The derivative with respect to
#    the length l itself is :math:`2 l` times the multiplier, twice the force: the push :math:`y_i`
#    of lesson 4 is half the gradient of the variance.
#
#    .. code-block:: python
#
#       def leashed(sqdist):
#           leash = (K.distance2(0, n - 1) <= sqdist).named("leash")
#           return sdpdr.solve(methods.mvu(string) + leash, tol=1e-8)
#
#       rate = (leashed(25.25).value - leashed(24.75).value) / 0.5
#       tight = leashed(25.0)
#       stiffness = float(tight.dual("leash")[0])
#       assert np.isclose(stiffness, rate, rtol=1e-2)
#       force = 5.0 * stiffness
#       # The balance at the first bead: leash and first thread hold its push.
#       beads, w = tight.embedding(2), tight.dual("isometry")
#       held = w[0] * (beads[0] - beads[1]) + stiffness * (beads[0] - beads[-1])
#       assert np.allclose(held, beads[0], atol=1e-2)
#       assert np.isclose(np.linalg.norm(stiffness * (beads[0] - beads[-1])), force, rtol=1e-3)

# %%
# **Exercise 2.** *20 minutes.* Write a block for an angle at i between j and k of at least 90
# degrees, with ``AtMost`` from ``sdpdr.model``. Check it, and use it at bead 4. Does it change the
# line? And what does the opposite inequality do?
#
# .. dropdown:: Hint
#
#    Start from ``RightAngle``. Both inequalities are one block with a sign.
#
# .. dropdown:: Solution
#
#    :math:`D_{ij} + D_{ik} \le D_{jk}`. A line has an angle of 180 degrees, so nothing changes and
#    the multiplier is zero. The opposite, at most 90 degrees, bends the string to exactly 90.
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
# **Exercise 3.** *10 minutes.* Show that the squared distance of the centres of two groups of
# points is linear in K. Require that the first five beads and the last five have centres no more
# than 3 apart.
#
# .. dropdown:: Hint
#
#    The difference of two centres is :math:`Y^\top f` for some vector f.
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
# **Exercise 4.** *10 minutes.* Leave the third anchor out. Where may the new point be? What does
# the program return, and what does the height mean?
#
# .. dropdown:: Hint
#
#    Draw both circles.
#
# .. dropdown:: Solution
#
#    Two circles meet in two points, symmetric to the line of the anchors, and the program may
#    return any mixture of the two. Their midpoint lies on the line, and half of their distance,
#    here one, appears as the height. An interior-point method returns the mixture of highest rank,
#    so a height of zero means that the position is determined.
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
# for the constraints of published methods. New points: :doc:`/methods/anchored` and
# :doc:`/methods/spectral_regression`, after the Cai thesis, section 3.1, and the Tong thesis,
# section 2.4.2 (see :doc:`/references`).
