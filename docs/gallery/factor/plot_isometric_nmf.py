"""
Isometric NMF (IsoNMF) keeps distances, and fits these pictures as well
=======================================================================

Nonnegative factorization writes pictures as sums of parts and ignores distances. Isometric
factorization requires neighbours to keep their distance in the coefficients. The baseline is
scikit-learn's NMF with parts of unit length. The pictures are a digit, rotated.

In words: :doc:`Isometric NMF </methods/isometric_nmf>`. In code: `sdpdr.IsoNMF`,
`sdpdr.methods.isometric_nmf`, `sdpdr.methods.isometric_nmf_lift`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter, rotate
from sklearn.decomposition import NMF

import sdpdr

digits, labels = sdpdr.datasets.digits()
seven = np.kron(digits[labels == 7][0].reshape(8, 8), np.ones((2, 2)))
seven = gaussian_filter(np.pad(seven, 4), 1.5)
turn = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
angles = np.degrees(turn + 0.7 * np.sin(turn))
turned = [rotate(seven, angle, reshape=False, order=1) for angle in angles]
X = np.clip(turned, 0.0, None).reshape(60, -1)
nmf = NMF(8, init="nndsvda", max_iter=4000)
plain = nmf.fit_transform(X) * np.linalg.norm(nmf.components_, axis=1)
iso = sdpdr.IsoNMF(8, n_neighbors=2)
kept = iso.fit_transform(X)
figure, axis = plt.subplots(figsize=(4, 3.6), layout="constrained")
for name, W, error in (("NMF", plain, nmf.reconstruction_err_), ("IsoNMF", kept, None)):
    error = (error or iso.reconstruction_err_) / np.linalg.norm(X)
    after = np.linalg.norm(np.diff(W, axis=0), axis=1)
    print(f"{name}: misses {error:.1%} of the pictures")
    axis.plot(np.linalg.norm(np.diff(X, axis=0), axis=1), after, "o", label=name)
axis.axline((8.0, 8.0), slope=1.0, color="grey", linewidth=1.0)
axis.set(xlabel="distance of two pictures", ylabel="distance of their coefficients")
legend = axis.legend(frameon=False)
