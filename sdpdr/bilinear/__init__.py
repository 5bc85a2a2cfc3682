"""Maps M -> A^T M B of matrices, which keep rows and columns apart."""

__all__: list[str] = []
