"""
Unfolding (MVU) lays out handwritten digits
===========================================

An image of 8 × 8 pixels is a point in 64 dimensions. Images of the same digit form a bent sheet of
few dimensions, which unfolding lays out flat.
"""

# %%
# The data are the twos, each joined to its four nearest images.

import sdpdr
from sdpdr import graphs, methods, plot

images, labels = sdpdr.datasets.digits()
X = images[labels == 2]
graph = graphs.knn(X, n_neighbors=4)
solution = sdpdr.solve(methods.mvu(graph))
print(solution)

# %%
# Close images look alike, and distant ones differ in slant, in the roundness of the head, or in the
# length of the foot. The method found these features without labels.

page = plot.embedding(
    solution.embedding(2), images=X.reshape(-1, 8, 8), title="images of a digit, unfolded"
)

# %%
# The spectrum shows how much variance is outside the plane.

spectrum = plot.spectrum(solution.spectrum())
