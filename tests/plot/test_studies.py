"""Figures of studies draw what they are given, on ordinary and on odd input."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from sdpdr import plot
from sdpdr.errors import ShapeError
from sdpdr.lab.plot.studies import look_of, sizes_apart

KINDS = [("solved", "✓", "#7fb2de"), ("crashed", "✗", "#a01508")]
STEPS = {"a": ([1.0, 2.0, 10.0], [0.5, 1.0, 1.0]), "b": ([1.0, 4.0, 10.0], [0.5, 0.8, 0.8])}


def test_a_profile_is_a_step_function_of_what_is_given():
    figure = plot.performance_profile(STEPS)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    for line, (x, y) in zip(axes.lines, STEPS.values(), strict=True):
        assert line.get_drawstyle() == "steps-post"
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([x, y]))
    assert axes.get_xscale() == "log"
    figure.canvas.draw()


def test_growth_draws_marks_and_the_lines_that_there_are():
    points = {"a": ([10, 20, 40], [0.1, 0.8, 6.4]), "b": ([10], [0.2])}
    figure = plot.growth(points, {"a": ([10, 40], [0.1, 6.4])})
    (axes,) = figure.axes
    marks = [line for line in axes.lines if line.get_marker() != "None"]
    lines = [line for line in axes.lines if line.get_marker() == "None"]
    assert [len(line.get_xdata()) for line in marks] == [3, 1]
    assert len(lines) == 1
    assert lines[0].get_color() == marks[0].get_color() != marks[1].get_color()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["40", "20", "10"]
    figure.canvas.draw()


def test_a_map_has_the_sign_and_the_colour_of_each_kind():
    figure = plot.outcome_map(["x", "y"], ["scs", "csdp"], [[0, 1], [0, 0]], KINDS)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["✓", "✗", "✓", "✓"]
    mesh = axes.collections[0]
    colours = [to_hex(colour) for colour in mesh.to_rgba(mesh.get_array()).reshape(-1, 4)]
    assert colours == [KINDS[0][2], KINDS[1][2], KINDS[0][2], KINDS[0][2]]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["✓  solved", "✗  crashed"]


def test_odd_input_is_drawn(recwarn):
    odd = [
        plot.performance_profile({}),
        plot.performance_profile({f"contestant {k}": STEPS["a"] for k in range(25)}),
        plot.growth({}),
        plot.growth({"n" * 200: ([5], [1e-7])}),
        plot.outcome_map(["n" * 200], ["m" * 200], [[1]], KINDS),
    ]
    for figure in odd:
        figure.canvas.draw()
    assert not list(recwarn)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot.performance_profile({"a": ([1.0], [0.5, 0.6])}),
        lambda: plot.growth({"a": ([[1.0]], [[0.5]])}),
        lambda: plot.outcome_map(["x"], ["a", "b"], [[0]], KINDS),
        lambda: plot.outcome_map([], [], [], KINDS),
    ],
)
def test_shapes_that_do_not_agree_are_refused(draw):
    with pytest.raises(ShapeError):
        draw()


def test_fifty_contestants_look_different():
    assert len({str(look_of(k)) for k in range(50)}) == 50


def test_labels_of_sizes_have_room():
    for sizes in ([20, 40, 80], range(1, 300), [7, 7, 7], np.geomspace(3, 1e5, 40), []):
        kept = sizes_apart(sizes)
        assert set(kept) <= set(map(float, sizes))
        assert len(kept) <= 10
        assert kept[:1] == [max(map(float, sizes))] if len(sizes) else not kept
