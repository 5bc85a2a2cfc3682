"""Programs on the edges of a graph: an interior-point method on the factor."""
