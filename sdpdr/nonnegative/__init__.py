"""Non-negative matrices and their factors, without semidefinite programs."""

from sdpdr.nonnegative.inputs import nonnegative_matrix, number_of_components

__all__ = ["nonnegative_matrix", "number_of_components"]
