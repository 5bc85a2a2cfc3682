"""An interior-point method on dense matrices, for small programs.

`scaling` has the cones and the scaling of points in them, `normal` the linear system of a step,
`method` the iteration, and `solver` is what the package knows.
"""
