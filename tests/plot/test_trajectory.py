"""The picture of a path: an arrow for each step, in the colour of its action."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from sdpdr import plot
from sdpdr.errors import DataError, ShapeError
from sdpdr.lab.plot.style import CLASSES, FAINT

Y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def arrows(figure):
    return next(c for c in figure.axes[0].collections if isinstance(c, Quiver))


def test_every_step_is_an_arrow_in_the_colour_of_its_action():
    figure = plot.trajectory(Y, ["R", None, "L"], title="round")
    drawn = arrows(figure)
    assert np.allclose(np.column_stack([drawn.X, drawn.Y]), Y[:-1])
    assert np.allclose(np.column_stack([drawn.U, drawn.V]), np.diff(Y, axis=0))
    colours = [tuple(c[:3]) for c in drawn.get_facecolors()]
    assert colours == [to_rgba(c)[:3] for c in (CLASSES[1], FAINT, CLASSES[0])]
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words == ["L", "R"]


def test_sequences_are_not_joined():
    assert arrows(plot.trajectory(Y, "RL", [2, 2])).N == 2


def test_it_draws_on_axes_that_are_given_and_in_one_dimension():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plot.trajectory(Y[:, :1], "RRL", ax=axes[1]) is figure
    assert not axes[0].collections
    figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("actions", "lengths", "error", "words"),
    [
        ("RR", None, ShapeError, "2 actions for 3 steps"),
        ("RRR", [2, 2], ShapeError, "3 actions for 2 steps"),
        ("RRR", [2, 3], DataError, "add up to 5"),
    ],
)
def test_wrong_input_is_refused(actions, lengths, error, words):
    with pytest.raises(error, match=words):
        plot.trajectory(Y, actions, lengths)


def test_more_actions_than_colours_are_refused():
    with pytest.raises(DataError, match="at most ten"):
        plot.trajectory(np.random.default_rng(0).random((12, 2)), list(range(11)))
