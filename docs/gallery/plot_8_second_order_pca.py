"""
Second-order PCA (SOPCA) has bases of pictures that are small matrices
======================================================================

Second-order PCA multiplies a picture by one basis from the left and by another from the right. It
expresses pictures as sums of outer products, and a bound shows how good the bases are.
"""

# %%
# The data are digits of 8 × 8 pixels, with three columns in each basis. The relaxation is convex;
# rounding its two matrices to bases loses something, and the gap bounds the loss.

import numpy as np
from sklearn.datasets import load_digits

import sdpdr
from sdpdr import plot

images = load_digits().images
pca = sdpdr.SOPCA(n_components=3).fit(images)
print(pca.relaxation_)
print(f"the bases keep {pca.objective_:.0f}, none more than {pca.upper_bound_:.0f}")

# %%
# Every approximation is a linear combination of these nine pictures.

products = plot.bases(pca.rows_, pca.columns_)
title = products.suptitle("nine products of a row pattern and a column pattern")

# %%
# Eigenvalues of both matrices: two are one, and some are fractions. If three were one and
# the others zero, the bases would be optimal.

for name, values in zip(("rows", "columns"), pca.relaxation_.spectra(), strict=True):
    print(f"{name:8s}", values.round(3))

# %%
# Other methods, by the same objective and the same bound, and by the energy that
# they keep, which GLRAM maximises.

for method in ("convex", "alternating", "glram", "2dsvd"):
    other = sdpdr.SOPCA(n_components=3, method=method).fit(images)
    below = 1.0 - other.objective_ / pca.upper_bound_
    print(f"{method:12s} {100 * below:5.2f} % below the bound, energy {other.energy_ratio_:.4f}")

# %%
# A digit and its approximations with more and more components.

sizes = (1, 2, 3, 4, 6, 8)
near = [images[5]]
for k in sizes:
    model = sdpdr.SOPCA(n_components=k, method="alternating").fit(images)
    near.append(model.inverse_transform(model.transform(images[5:6]))[0])
errors = [np.linalg.norm(picture - images[5]) / np.linalg.norm(images[5]) for picture in near[1:]]
for k, error in zip(sizes, errors, strict=True):
    print(f"k = {k}: {100 * error:.1f} % of the picture is missing")
