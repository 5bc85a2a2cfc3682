"""Numerics of non-negative matrices; `sdpdr.nonnegative` gathers what is public."""
