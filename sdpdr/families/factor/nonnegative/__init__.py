"""Non-negative matrices and their factors, without semidefinite programs."""
