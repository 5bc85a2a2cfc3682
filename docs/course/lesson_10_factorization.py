r"""
Lesson 10: Factorization and its bounds
=======================================

Factors are easy to find and hard to believe; semidefinite programs say how good any could be.

**Goals.** After this lesson you can

- write the sum of singular values as a semidefinite program, and use it where the rank is meant;
- bound the error of *all* non-negative factorizations with k terms, whoever found them;
- tell three kinds of number apart: what was found, what is proved, and what is left between.

**You need** lesson 3, and singular values: :math:`M = \sum_k \sigma_k p_k q_k^\top`.
"""

# %%
# Two kinds of factors
# --------------------
# To write a matrix as :math:`M \approx A B^\top` with few columns is to explain its rows by few
# features. If A and B may be anything, the best choice is known: keep the largest singular values.
# No matrix of rank k is nearer to M, in the sum of squares, than :math:`\sum_{l > k} \sigma_l^2`
# (Eckart and Young).
#
# That changes at once when a condition is added. *Some entries of M are unknown*; or *A and B must
# not be negative*, since they are amounts or memberships. Then only local methods remain. They find
# factors, and nobody knows how good they are. This lesson is about the other side.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr
from sdpdr import factorize, methods, minimize, psd

# %%
# A number that stands for the rank
# ---------------------------------
# The rank counts the singular values. Their *sum*, the **trace norm** :math:`|M|_*`, is the largest
# convex function that is at most the rank among the matrices with :math:`\sigma_1 \le 1`
# [FHB2003]_, so it is what convex programs use in its place. How does one minimise it? As lengths
# of factors:
#
# .. admonition:: Fact
#
#    .. math::
#
#       |M|_* = \min_{M = A B^\top} \tfrac12 (|A|_F^2 + |B|_F^2)
#       = \min\ \tfrac12 (\operatorname{tr} P + \operatorname{tr} Q)
#       \quad\text{subject to}\quad \begin{pmatrix} P & M \\ M^\top & Q \end{pmatrix} \succeq 0 .
#
# *Proof.* The second and the third are the same: a positive semidefinite matrix is the Gram matrix
# of the rows of A and B stacked, with :math:`P = AA^\top`, :math:`Q = BB^\top` and :math:`M =
# AB^\top`. The singular value decomposition gives factors :math:`A = (\sqrt{\sigma_l}\, p_l)`,
# :math:`B = (\sqrt{\sigma_l}\, q_l)` with the value :math:`\sum_l \sigma_l`. That nothing is
# smaller: let G be the sum of all :math:`p_l q_l^\top`. Its largest singular value is one, so
#
# .. math:: \begin{pmatrix} I & -G \\ -G^\top & I \end{pmatrix} \succeq 0 ,
#
# and the inner product of both matrices is not negative:
# :math:`\operatorname{tr} P + \operatorname{tr} Q \ge 2 \langle G, M \rangle = 2 \sum_l \sigma_l`.
# :math:`\blacksquare`
#
# Missing entries
# ---------------
# Two thirds of a table of rank two are known. *What do you expect?* Can the rest be recovered?

rng = np.random.default_rng(0)
rows, columns = 24, 20
table = rng.standard_normal((rows, 2)) @ rng.standard_normal((2, columns))
seen = rng.random(table.shape) < 0.66
i, j = np.nonzero(seen)

Z = psd("Z", rows + columns)
smallest = minimize(0.5 * Z.trace()) + (Z[i, rows + j] == table[i, j]).named("seen")
print(smallest.describe())
solution = sdpdr.solve(smallest)
completed = solution["Z"][:rows, rows:]

fig, axes = plt.subplots(1, 3, figsize=(8.5, 2.9))
shown = {"vmin": -3, "vmax": 3, "cmap": "RdBu"}
for axis, (title, picture) in zip(
    axes,
    {"known": np.where(seen, table, np.nan), "completed": completed, "true": table}.items(),
    strict=True,
):
    axis.imshow(picture, **shown)
    axis.set_title(title)
    axis.set_axis_off()
fig.tight_layout()
print("singular values:", np.linalg.svd(completed, compute_uv=False)[:4].round(4))
print("largest error of an unknown entry:", np.abs(completed - table)[~seen].max().round(4))

# %%
# Nobody asked for rank two, and nobody said how many features there are. The multipliers of the
# seen entries are a matrix G that vanishes at the unknown places; as in the proof, it is the
# certificate: its largest singular value is at most one, and no completion has a trace norm below
# :math:`\langle G, M \rangle`, to which only known entries contribute.

G = np.zeros_like(table)
G[i, j] = -solution.dual("seen")  # a minimisation counts them with the other sign
print("largest singular value of G:", np.linalg.norm(G, 2).round(6))
print(f"bound {np.sum(G[seen] * table[seen]):.6f}, trace norm {solution.value:.6f}")

# %%
# Factors without signs
# ---------------------
# Now W and H must not be negative, :math:`V \approx WH`. Think of rows of V as documents, columns
# as words, terms as topics. A popular local method:

draw = np.random.default_rng(4)
V = draw.random((14, 10)) * (draw.random((14, 10)) < 0.5)
errors = []
for seed in range(8):
    local = NMF(4, init="random", random_state=seed, tol=1e-6, max_iter=2000)
    W = local.fit_transform(V)
    errors.append((np.linalg.norm(V - W @ local.components_) / np.linalg.norm(V), seed))
print("relative errors:", *(f"{error:.4f}" for error, _ in sorted(errors)))

# %%
# Different starts, different errors. *What do you expect:* could there be factors with half the
# smallest of these? Eckart and Young say something, since they allow all signs. A semidefinite
# program says more: with Z for :math:`WH / |WH|_F`, it bounds how much of V any k terms can
# explain.

best = NMF(4, init="random", random_state=min(errors)[1], tol=1e-8, max_iter=5000)
W = best.fit_transform(V)
graded = sdpdr.nmf_bound(V, W, best.components_)
singular = np.linalg.svd(V, compute_uv=False)
print(f"singular values prove {np.sqrt(np.sum(singular[4:] ** 2)) / graded.norm:.4f}")
print(graded)

# %%
# All factorizations with four terms, found or not, err by at least the first number. What was
# found is within the gap of it. How the program arises, and its proof, is told in
# :doc:`/methods/nmf_bounds`.
#
# How many terms?
# ---------------
# The least number of terms of an exact factorization with :math:`W, H \ge 0` is the **non-negative
# rank**. It is at least the rank. *What do you expect* for this matrix of rank three?

square = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
print("rank:", np.linalg.matrix_rank(square))
print(factorize.nonnegative_rank_bound(square))

# %%
# Four. One proof looks at the zeros (exercise 2), another is a semidefinite program like the one
# above. Give P, Q and M the additional condition to be non-negative, entry by entry, and call the
# optimum :math:`\nu(M)`. If M has a factorization with k terms then :math:`k \ge \nu^2 / |M|_F^2`
# [FP2015]_, where the trace norm would give the ordinary rank:

for name, nonnegative in (("trace norm", False), ("with non-negative entries", True)):
    norm = sdpdr.solve(methods.nmf_dnn(square, nonnegative=nonnegative)).value
    print(f"{name:26s} {norm:8.4f}   k ≥ {norm**2 / np.sum(square**2):.4f}")

# %%
# Symmetric factors
# -----------------
# In unfolding, :math:`K = YY^\top` with any Y, and the question which K are possible had a simple
# answer: :math:`K \succeq 0`. Ask for :math:`Y \ge 0`, as for memberships in clusters, and the
# matrices are called *completely positive*. They have no negative entries and no negative
# eigenvalues; up to order four this suffices [MM1962]_, and from order five on it does not.


def ring(c: float) -> np.ndarray:
    """The matrix c I + (neighbours on a ring of five)."""
    step = np.roll(np.eye(5), 1, axis=0)
    return c * np.eye(5) + step + step.T


for c in (1.8, 2.0):
    least = np.linalg.eigvalsh(ring(c))[0]
    print(f"c = {c}: smallest eigenvalue {least:.3f}\n   {factorize.completely_positive(ring(c))}")

# %%
# For the first a matrix M proves that there is no factor: :math:`\langle M, B B^\top \rangle \ge 0`
# for all :math:`B \ge 0`, and not for this A. (It is found from the *comparison matrix*, which is A
# with a minus before its entries off the diagonal: :doc:`/methods/completely_positive`.) For the
# second a factor is the proof. And there are matrices for which neither is found: to decide the
# question is NP-hard. *That is where the method of this course ends*: linear conditions and a cone
# for which there is a simple test. What can still be had is a bound from below, a point from above,
# and an honest number between.

# %%
# Exercises
# ---------
# **Exercise 1.** Show that for a matrix M of rank k, :math:`|M|_*^2 \le k\, |M|_F^2`. So the trace
# norm bounds the rank from below. For which matrices is the bound tight?
#
# .. dropdown:: Solution
#
#    :math:`(\sum_{l \le k} \sigma_l)^2 \le k \sum_{l \le k} \sigma_l^2` by Cauchy and Schwarz, with
#    equality if all k singular values are equal, as for orthogonal matrices and projections.
#
#    .. code-block:: python
#
#       for M in (table, V, square, np.eye(5)):
#           sigma = np.linalg.svd(M, compute_uv=False)
#           assert sigma.sum() ** 2 / np.sum(M**2) <= np.linalg.matrix_rank(M) + 1e-9
#       assert np.isclose(np.linalg.svd(np.eye(5))[1].sum() ** 2 / 5.0, 5.0)

# %%
# **Exercise 2.** Prove with the zeros of ``square`` that four terms are needed: find four places
# with ones such that no two of them can lie in one term :math:`w h^\top`.
#
# .. dropdown:: Solution
#
#    If the places (a, b) and (c, d) are positive in one term, then so are (a, d) and (c, b). So
#    choose four ones such that of any two of them, one of these crossing places is a zero: a
#    *fooling set*. Each needs a term of its own.
#
#    .. code-block:: python
#
#       places = [(0, 0), (1, 2), (2, 1), (3, 3)]
#       assert all(square[place] == 1.0 for place in places)
#       crossing = [
#           square[a, d] * square[c, b]
#           for a, b in places for c, d in places if (a, b) < (c, d)
#       ]
#       assert len(crossing) == 6 and max(crossing) == 0.0

# %%
# **Exercise 3.** How many known entries does the completion need? Try shares from 0.2 to 0.8. Then
# show that a row without any known entry cannot be recovered.
#
# .. dropdown:: Solution
#
#    A table of rank two has 2 (24 + 20 − 2) degrees of freedom: all entries of both factors, less
#    those of an invertible matrix of order two between them. With fewer entries than that it is
#    hopeless, and somewhat above it begins to work, not for all places alike. A row without known
#    entries is completed with zeros, since every other choice makes a factor longer.
#
#    .. code-block:: python
#
#       def missed(known):
#           a, b = np.nonzero(known)
#           program = minimize(0.5 * Z.trace()) + (Z[a, rows + b] == table[a, b])
#           return sdpdr.solve(program)["Z"][:rows, rows:] - table
#
#       freedom = 2 * (rows + columns - 2)
#       assert 0.15 * table.size < freedom < 0.2 * table.size
#       order = rng.permutation(table.size).reshape(table.shape)
#       error = {share: np.sum(missed(order < share * table.size) ** 2) for share in (0.15, 0.8)}
#       assert error[0.15] > 0.3 * np.sum(table**2) > 30 * error[0.8]
#       hidden = seen.copy()
#       hidden[0] = False
#       assert np.allclose(missed(hidden)[0], -table[0], atol=1e-3)

# %%
# **Exercise 4.** A grade must not depend on who found the factors. Give ``nmf_bound`` factors that
# are much worse, and compare.
#
# .. dropdown:: Solution
#
#    The lower end is the same up to the accuracy of the solve; only the upper end, and with it the
#    gap, is worse.
#
#    .. code-block:: python
#
#       poor = sdpdr.nmf_bound(V, np.ones((14, 4)), np.full((4, 10), V.mean() / 4))
#       assert np.isclose(poor.lower, graded.lower, rtol=1e-4)
#       assert poor.upper > graded.upper and poor.gap > graded.gap

# %%
# References
# ----------
# Matrix factorization as a semidefinite program: the Vasiloglou thesis, sections 4.1 to 4.3 and
# 6.2, corrected in places by :doc:`/methods/nmf_bounds`; trace norms and margins: [SRJ2004]_ and
# :doc:`/methods/mmmf`, Tong thesis, section 2.3; completely positive matrices: [BS2003]_ and
# :doc:`/methods/completely_positive` (see :doc:`/references`).
