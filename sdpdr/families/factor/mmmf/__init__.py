"""Maximum-margin matrix factorization: signs and ratings completed by a matrix of small norm."""
