"""What estimators share whose Gram matrix has no centre of its own."""

from __future__ import annotations

import numpy as np

from sdpdr.estimators.gram import GramEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.spectral import factor_spectrum, gram_spectrum
from sdpdr.program import Factor, Solution


class KernelEmbedding(GramEmbedding):
    """Base of embeddings from a Gram matrix that is not centred: centred kernel components."""

    # The landmark form writes points as means of landmarks, which these programs do not allow for.
    landmarks = None

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        counts = np.asarray(graph.counts, dtype=float)
        share = counts / counts.sum()
        gram = solution.gram()
        if isinstance(gram, Factor):
            values, vectors = factor_spectrum(gram.factor - share @ gram.factor)
        else:
            centring = np.eye(graph.n) - share
            values, vectors = gram_spectrum(centring @ np.asarray(gram) @ centring.T)
        d = min(self.n_components, values.size)
        nodes = np.zeros((graph.n, self.n_components))
        nodes[:, :d] = vectors[:, :d] * np.sqrt(np.maximum(values[:d], 0.0))
        placed = graph.index >= 0
        self.embedding_[placed] = nodes[graph.index[placed]]
        self.eigenvalues_ = values
