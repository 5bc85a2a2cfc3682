"""Factorizations that take several programs, with what is proved about them."""

__all__: list[str] = []
