"""
Unfolding (MVU) lays out handwritten digits
===========================================

An image of 8 × 8 pixels is a point in 64 dimensions. Images of the same digit form a bent sheet of
few dimensions, which unfolding lays out flat.
"""

# %%
# We take the twos, join each image to its four nearest.

import sdpdr
from sdpdr import graphs, methods, plot

images, labels = sdpdr.datasets.digits()
X = images[labels == 2]
graph = graphs.knn(X, n_neighbors=4)
solution = sdpdr.solve(methods.mvu(graph))
print(solution)

# %%
# Images change little from place to place and much across the page: slant, the roundness of the
# head, the length of the foot. Nobody told the method about any of them.

page = plot.embedding(
    solution.embedding(2), images=X.reshape(-1, 8, 8), title="images of a digit, unfolded"
)

# %%
# The spectrum says how much the plane leaves out.

spectrum = plot.spectrum(solution.spectrum())
