"""Labels spread over a graph with similar and dissimilar neighbours."""

__all__: list[str] = []
