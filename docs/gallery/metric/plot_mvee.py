"""
The minimum volume ellipsoid (mvee) follows the boundary, the covariance the bulk
=================================================================================

The smallest ellipsoid that contains all points, with a bound on its volume. The baseline is the
ellipse of the covariance, enlarged until it contains all points: it is larger, and oriented along
the bulk of the points.

In words: :doc:`Minimum volume ellipsoids </methods/mvee>`. In code:
`sdpdr.density.minimum_ellipsoid`, `sdpdr.methods.mvee`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(40, 2)) * [0.3, 0.3] + [1, 0.5], rng.uniform(-1, 1, (15, 2))])
least = sdpdr.density.minimum_ellipsoid(X)
centre, inverse = X.mean(axis=0), np.linalg.inv(np.cov(X.T))
inverse /= np.einsum("ni,ij,nj->n", X - centre, inverse, X - centre).max()
turn = np.linspace(0.0, 2.0 * np.pi, 200)
figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
axis.plot(*X.T, "o", markersize=3, color="grey")
pairs = {"mvee": (least.center, least.shape), "covariance": (centre, inverse)}
for name, (c, D) in pairs.items():
    edge = np.linalg.solve(np.linalg.cholesky(D).T, [np.cos(turn), np.sin(turn)])
    print(f"{name}: area {np.pi / np.sqrt(np.linalg.det(D)):.3f}")
    axis.plot(*(c[:, None] + edge), label=name)
axis.set(aspect="equal", title="two ellipses that hold all points")
legend = axis.legend(frameon=False)
print(f"no ellipse is smaller by more than a factor of 1 + {np.expm1(least.gap):.0e}")
