"""
The overlap program (nmf_overlap) beats singular values as a bound on NMF
=========================================================================

How much of a matrix can two non-negative components explain? One semidefinite program bounds it,
for matrices too large for branch and bound. The baseline is the bound that singular values give,
which no factorization need attain.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for seed in range(6):
    rng = np.random.default_rng(seed)
    X = rng.random((8, 6)) * (rng.random((8, 6)) < 0.3)
    proved = sdpdr.nmf_bound(X, k=2, method="overlap")
    parts = [bound / proved.norm for bound in proved.parts.values()]
    print(f"matrix {seed}:", {name: round(b, 4) for name, b in zip(proved.parts, parts)})
    axis.plot(seed, parts[0], "_", color="grey", markersize=16)
    axis.plot(seed, parts[1], "_", color="C0", markersize=16)
    axis.plot(seed, proved.upper / proved.norm, "o", color="C1")
axis.set(xlabel="matrix", ylabel="share of the norm")
axis.set_title("singular values, overlap, and an error that was reached", fontsize=10)
