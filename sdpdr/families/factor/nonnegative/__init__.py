"""Numerics of nonnegative matrices; `sdpdr.nonnegative` gathers what is public."""
