"""The picture of an iteration draws what the history says."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from sdpdr import plot
from sdpdr.errors import DataError

HISTORY = [
    {"iteration": k, "start": k // 3, "objective": -1.0 - k, "share": 10.0**-k, "status": "SOLVED"}
    for k in range(6)
]


def test_objective_and_excess_are_drawn_over_the_programs():
    figure = plot.rounds(HISTORY, bound=-9.0, tol=1e-6, title="rank 2")
    assert isinstance(figure, Figure)
    upper, lower = figure.axes
    drawn = np.concatenate([line.get_ydata() for line in upper.lines])
    assert {-1.0, -6.0, -9.0} <= set(drawn)
    assert lower.get_yscale() == "log"
    assert upper.get_title(loc="left") == "rank 2"
    figure.canvas.draw()


def test_a_new_start_has_a_line_of_its_own():
    one = plot.rounds([{**entry, "start": 0} for entry in HISTORY])
    two = plot.rounds(HISTORY)
    assert len(two.axes[0].lines) > len(one.axes[0].lines)


def test_odd_histories_are_drawn():
    failed = {**HISTORY[0], "objective": np.nan, "share": np.nan, "status": "FAILED"}
    odd = (HISTORY[:1], [HISTORY[0], {**failed, "iteration": 1}], [{**HISTORY[0], "share": 0.0}])
    for history in odd:
        figure = plot.rounds(history)
        figure.canvas.draw()
        assert len(figure.axes[0].lines[0].get_xdata()) == len(history)


def test_an_empty_history_is_refused():
    with pytest.raises(DataError, match="empty"):
        plot.rounds([])
