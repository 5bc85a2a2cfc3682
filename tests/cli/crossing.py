"""Products of parameters, of which a few are enough most of the time."""

from itertools import product

import pytest


def slow(*values):
    """A case that is run with the slow ones."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def each_once(*axes):
    """All combinations; all are slow but as few as have each value of each axis among them."""
    fast = {tuple(k % len(axis) for axis in axes) for k in range(max(map(len, axes)))}
    return [
        (pytest.param if at in fast else slow)(*(axis[k] for axis, k in zip(axes, at, strict=True)))
        for at in product(*(range(len(axis)) for axis in axes))
    ]
