"""The outer products of two bases."""

import numpy as np
import pytest

from sdpdr import plot
from sdpdr.errors import ShapeError


def test_every_product_has_its_place():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 2)), rng.standard_normal((5, 3))
    figure = plot.bases(A, B, title="two and three")
    shown = [axes.images[0] for axes in figure.axes]
    assert len(shown) == 6
    assert np.asarray(shown[4].get_array()) == pytest.approx(np.outer(A[:, 1], B[:, 1]))
    assert len({image.get_clim() for image in shown}) == 1
    low, high = shown[0].get_clim()
    assert -low == high >= max(np.abs(image.get_array()).max() for image in shown)


@pytest.mark.parametrize(
    "wrong", [(np.ones(3), np.ones((3, 1))), (np.ones((3, 0)), np.ones((2, 1)))]
)
def test_what_is_no_basis_is_refused(wrong):
    with pytest.raises(ShapeError, match="a column for each component"):
        plot.bases(*wrong)
