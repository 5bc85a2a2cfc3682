r"""
Lesson 10: Factorization and its bounds
=======================================

Factors are easy to find and hard to judge; semidefinite programs bound how good any can be.

**Goals.** After this lesson you can

- write the sum of singular values as a semidefinite program, and use it in place of the rank;
- bound the error of *all* non-negative factorizations with k terms;
- distinguish the error of a factorization from a proved lower bound, and report the gap.

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
# That changes when a condition is added. *Some entries of M are unknown*; or *A and B must not be
# negative*, since they are amounts or memberships. Then only local methods remain. They find
# factors, and do not say how good these are. This lesson is about proved bounds.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr
from sdpdr import factorize, methods, minimize, psd

# %%
# A convex function in place of the rank
# --------------------------------------
# The rank counts the singular values. Their *sum*, the **trace norm** :math:`|M|_*`, is the largest
# convex function that is at most the rank among the matrices with :math:`\sigma_1 \le 1`
# [FHB2003]_, so convex programs use it in place of the rank. How is it minimised? As the squared
# lengths of factors:
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
# :math:`B = (\sqrt{\sigma_l}\, q_l)` with the value :math:`\sum_l \sigma_l`. No value is
# smaller: let G be the sum of all :math:`p_l q_l^\top`. Its largest singular value is one, so
#
# .. math:: \begin{pmatrix} I & -G \\ -G^\top & I \end{pmatrix} \succeq 0 ,
#
# and its inner product with the matrix of P, Q and M is not negative:
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
print(f"largest error of an unknown entry: {np.abs(completed - table)[~seen].max():.0e}")

# %%
# All unknown entries are recovered, up to the accuracy of the solver, although the program does not
# contain the number two. The multipliers of the known entries make a matrix G that vanishes at the
# unknown entries. This is a minimum, so with the signs of lesson 3 :math:`S = C + \sum_e y_e A_e`.
# Here :math:`C = \tfrac12 I`, and :math:`A_e` has one half at its entry and at the transposed one.
# So S is half of the matrix in the proof, with :math:`G_{ij} = -y_e`. As there, the largest
# singular value of G is at most one, and no completion has a trace norm below :math:`\langle G, M
# \rangle`, to which only known entries contribute.

G = np.zeros_like(table)
G[i, j] = -solution.dual("seen")
print("largest singular value of G:", np.linalg.norm(G, 2).round(6))
print(f"bound {np.sum(G[seen] * table[seen]):.6f}, trace norm {solution.value:.6f}")

# %%
# Factors without signs
# ---------------------
# Now W and H must not be negative, :math:`V \approx WH`. Think of rows of V as documents, columns
# as words, terms as topics. A popular local method, from eight random starts:

draw = np.random.default_rng(4)
V = draw.random((14, 10)) * (draw.random((14, 10)) < 0.5)
errors = []
for seed in range(8):
    local = NMF(4, init="random", random_state=seed, tol=1e-6, max_iter=2000)
    W = local.fit_transform(V)
    errors.append((np.linalg.norm(V - W @ local.components_) / np.linalg.norm(V), seed))
print("relative errors:", *(f"{error:.4f}" for error, _ in sorted(errors)))

# %%
# The starts end at two different errors. *What do you expect:* could there be factors with half the
# smaller error? The theorem of Eckart and Young gives a lower bound, since it allows all signs. A
# semidefinite program gives a better one: with Z for :math:`WH / |WH|_F`, it bounds how much of V
# any k terms can explain.

best = NMF(4, init="random", random_state=min(errors)[1], tol=1e-8, max_iter=5000)
W = best.fit_transform(V)
graded = sdpdr.nmf_bound(V, W, best.components_)
singular = np.linalg.svd(V, compute_uv=False)
print(f"singular values prove {np.sqrt(np.sum(singular[4:] ** 2)) / graded.norm:.4f}")
print(graded)

# %%
# Singular values prove that the relative error of every factorization with four terms is at least
# 0.371, the program proves 0.393, and the best factors found have 0.407. So no factors can have
# half of that error; between 0.393 and 0.407 the question is open. :doc:`/methods/nmf_bounds`
# derives the program and proves it.
#
# How many terms?
# ---------------
# The least number of terms of an exact factorization with :math:`W, H \ge 0` is the **non-negative
# rank**. It is at least the rank. *What do you expect* for this matrix of rank three?

square = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
print("rank:", np.linalg.matrix_rank(square))
print(factorize.nonnegative_rank_bound(square))

# %%
# It is four. One proof uses the zeros (exercise 2), another is a semidefinite program like the one
# above. Give P, Q and M the additional condition to be non-negative, entry by entry, and call the
# optimum :math:`\nu(M)`. If M has a factorization with k non-negative terms, then :math:`k \ge
# \nu^2 / |M|_F^2` [FP2015]_. The trace norm in place of :math:`\nu` gives a bound on the ordinary
# rank:

for name, nonnegative in (("trace norm", False), ("with non-negative entries", True)):
    norm = sdpdr.solve(methods.nmf_dnn(square, nonnegative=nonnegative)).value
    print(f"{name:26s} {norm:8.4f}   k ≥ {norm**2 / np.sum(square**2):.4f}")

# %%
# The two lines say that four terms are needed, and three dimensions at least.
#
# Symmetric factors
# -----------------
# In unfolding, :math:`K = YY^\top` with any Y, and the question which K are possible has a simple
# answer: :math:`K \succeq 0`. If :math:`Y \ge 0` is required, as for memberships in clusters, the
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
# For A = ring(1.8) there is a matrix M with :math:`\langle M, B B^\top \rangle \ge 0` for all
# :math:`B \ge 0`, but :math:`\langle M, A \rangle = -0.2`. So A has no such factor. (M is found
# from the *comparison matrix*, which is A with a minus before its entries off the diagonal:
# :doc:`/methods/completely_positive`.) For ring(2.0) a factor with five columns is the proof. For
# some matrices neither is found: to decide the question is NP-hard. *The method of this course ends
# here*: it needs linear conditions and a cone with a simple test of membership. Beyond that, a
# bound from below, a point from above, and the gap between them remain.

# %%
# Exercises
# ---------
# **Exercise 1.** *10 minutes.* Show that for a matrix M of rank k, :math:`|M|_*^2 \le k\, |M|_F^2`.
# So the trace norm bounds the rank from below. For which matrices is the bound tight?
#
# .. dropdown:: Hint
#
#    Cauchy and Schwarz, for the vector of singular values and the vector of ones.
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
# **Exercise 2.** *15 minutes.* Prove with the zeros of ``square`` that four terms are needed: find
# four entries equal to one such that no two of them can lie in one term :math:`w h^\top`.
#
# .. dropdown:: Hint
#
#    Two ones share a term only if two other entries are positive, too.
#
# .. dropdown:: Solution
#
#    If the entries (a, b) and (c, d) are positive in one term, then so are (a, d) and (c, b). So
#    choose four ones such that for any two of them, one of these crossing entries is zero: a
#    *fooling set*. Each needs a term of its own.
#
#    .. code-block:: python
#
#       ones = [(0, 0), (1, 2), (2, 1), (3, 3)]
#       assert all(square[entry] == 1.0 for entry in ones)
#       crossing = [
#           square[a, d] * square[c, b]
#           for a, b in ones for c, d in ones if (a, b) < (c, d)
#       ]
#       assert len(crossing) == 6 and max(crossing) == 0.0

# %%
# **Exercise 3.** *20 minutes.* How many known entries does the completion need? Try shares from 0.2
# to 0.8, with several draws of the known entries. Then show that a row without any known entry
# cannot be recovered.
#
# .. dropdown:: Hint
#
#    Count the degrees of freedom first: entries of both factors, minus what can be chosen freely.
#
# .. dropdown:: Solution
#
#    A table of rank two has 2 (24 + 20 − 2) degrees of freedom: all entries of both factors, minus
#    those of an invertible matrix of order two between them. That is 17.5 % of the entries, and
#    with fewer no method can succeed. This program needs many more: in the draws below it recovers
#    the table from 50 to 70 % of its entries on. It depends on which entries are known, and not
#    only on how many. A row without known entries is completed with zeros, since every other choice
#    makes a factor longer.
#
#    .. code-block:: python
#
#       def missed(known):
#           a, b = np.nonzero(known)
#           program = minimize(0.5 * Z.trace()) + (Z[a, rows + b] == table[a, b])
#           return sdpdr.solve(program)["Z"][:rows, rows:] - table
#
#       assert 2 * (rows + columns - 2) == 0.175 * table.size
#       recovered = {}
#       for share in (0.2, 0.5, 0.6, 0.7, 0.8):
#           errors_of = []
#           for number in (1, 2, 3):
#               order = np.random.default_rng(number).permutation(table.size).reshape(table.shape)
#               known = order < share * table.size
#               errors_of.append(np.abs(missed(known)[~known]).max())
#           recovered[share] = int(np.sum(np.array(errors_of) < 1e-3))
#           print(f"{share:.0%} known: {recovered[share]} of 3 recovered")
#       assert recovered[0.2] == 0 and recovered[0.8] >= 2
#       hidden = seen.copy()
#       hidden[0] = False
#       assert np.allclose(missed(hidden)[0], -table[0], atol=1e-3)

# %%
# **Exercise 4.** *10 minutes.* The lower bound of ``nmf_bound`` must not depend on the factors.
# Give it factors that are much worse, and compare.
#
# .. dropdown:: Hint
#
#    Take constant factors, for example.
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
