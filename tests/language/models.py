"""Models with one parameter, for what changes with it."""

import numpy as np

from sdpdr import graphs, maximize, minimize, psd, scalar

RNG = np.random.default_rng(0)
GRAPH = graphs.knn(RNG.standard_normal((14, 3)), 4, connect="mst")
FORMS = np.einsum("ka,kb->kab", *2 * [RNG.standard_normal((12, 4))])
WEIGHTS = np.abs(RNG.standard_normal((9, 9)))


def unfolding(p):
    K = psd("K", 14)
    return (
        maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(GRAPH.edges) <= p * GRAPH.sqdist)
    )


def penalized(p):
    K = psd("K", 14)
    return unfolding(1.0) + p * abs(K[0, [3, 5]] - [1.0, 2.0])


def coefficient(p):
    K = psd("K", 9)
    return minimize(K.inner(WEIGHTS)) + (p * K[0, 1] + K[2, 3] >= 1.0) + (K.diagonal() <= 4.0)


def linear(p):
    x = scalar("x", 3, nonnegative=True)
    return maximize(x @ [1.0, 2.0, 3.0]) + (x.sum() <= p) + (x <= 2.0)
