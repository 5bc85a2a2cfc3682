"""Figures draw what they are given, on ordinary and on odd input, and touch nothing global."""

from __future__ import annotations

import io

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure

from sdpdr import datasets, graphs, plot
from sdpdr.errors import DataError, ShapeError
from sdpdr.lab.plot.style import CLASSES, FAINT, PALE, colour_points

RNG = np.random.default_rng(0)
Y = RNG.standard_normal((30, 2))
CHAIN = np.column_stack([np.arange(29), np.arange(1, 30)])
HISTORY = tuple(
    {
        "iteration": k,
        "value": 1.0 - 0.1**k,
        "bound": None if k < 3 else 1.0,
        "infeasibility": 0.1**k,
        "stationarity": 0.0,
    }
    for k in range(6)
)

FIGURES = {
    "embedding": lambda: plot.embedding(Y),
    "one component": lambda: plot.embedding(Y[:, :1], Y[:, 0]),
    "one point": lambda: plot.embedding(Y[:1]),
    "coincident points": lambda: plot.embedding(np.zeros((4, 2)), edges=[[0, 1]]),
    "unknown colours": lambda: plot.embedding(Y, np.where(Y[:, 0] > 0, np.nan, Y[:, 1])),
    "many classes": lambda: plot.embedding(Y, [f"class {i}" for i in range(30)]),
    "edges": lambda: plot.embedding(Y, Y[:, 0], edges=CHAIN, label="x", title="title"),
    "images": lambda: plot.embedding(Y, np.arange(30) % 3, images=RNG.random((30, 4, 5))),
    "blank images": lambda: plot.embedding(Y[:3], images=np.zeros((3, 2, 2))),
    "several": lambda: plot.embeddings({"a": Y, "b": Y[:, :1], "c": Y, "d": 9 * Y}, Y[:, 0]),
    "several classes": lambda: plot.embeddings(
        {"a": Y, "b": -Y}, np.arange(30) % 2, notes={"b": "mirrored"}, edges=CHAIN, label="parity"
    ),
    "changes": lambda: plot.edge_changes(Y, CHAIN, RNG.standard_normal(29), title="title"),
    "no changes": lambda: plot.edge_changes(Y, CHAIN, np.zeros(29)),
    "no edges": lambda: plot.edge_changes(Y, np.empty((0, 2), int), []),
    "choice of k": lambda: plot.choice_of_k(graphs.choose_k(Y), title="title"),
    "cloud": lambda: plot.cloud(*datasets.swiss_roll(40)),
    "spectrum": lambda: plot.spectrum([3.0, 1.0, 1e-20, -1e-12]),
    "one eigenvalue": lambda: plot.spectrum([1.0]),
    "weights": lambda: plot.dual_weights(Y, CHAIN, RNG.random(29)),
    "no weights": lambda: plot.dual_weights(Y, CHAIN, np.zeros(29)),
    "convergence": lambda: plot.convergence(HISTORY),
    "one iteration": lambda: plot.convergence(HISTORY[:1]),
    "sparsity": lambda: plot.sparsity(graphs.path([1.0, 2.0]).laplacian()),
    "large sparsity": lambda: plot.sparsity(
        sp.random_array((700, 700), density=0.01, random_state=0)
    ),
    "empty sparsity": lambda: plot.sparsity(np.zeros((2, 2))),
    "runs": lambda: plot.runs(["a", "b", "c"], [1e-9, 0.1, np.inf], [0.1, 3.0, 8.0], 1e-6),
    "no run ended": lambda: plot.runs(["a"], [np.nan], [0.0], 1e-6),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_without_touching_global_settings(name):
    before = dict(matplotlib.rcParams)
    figure = FIGURES[name]()
    assert isinstance(figure, Figure)
    with np.errstate(all="raise"):
        figure.savefig(buffer := io.BytesIO(), format="png", dpi=40)
    assert buffer.getvalue().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before
    heights = [axes.get_window_extent().height for axes in figure.axes]
    assert min(heights) > 5.0, "a part of the figure found no room"


def test_an_embedding_keeps_proportions():
    axes = FIGURES["edges"]().axes[0]
    assert axes.get_aspect() == 1.0
    np.testing.assert_allclose(axes.collections[-1].get_offsets(), Y)
    assert len(axes.collections[0].get_segments()) == len(CHAIN)


def test_images_do_not_overlap():
    figure = plot.embedding(Y, images=RNG.random((30, 4, 4)))
    corners = np.array([image.get_extent() for image in figure.axes[0].get_images()])
    assert len(corners) > 10
    centres = np.column_stack([corners[:, :2].mean(axis=1), corners[:, 2:].mean(axis=1)])
    side = corners[0, 1] - corners[0, 0]
    apart = np.abs(centres[:, None] - centres[None]).max(axis=2) + 9.0 * np.eye(len(centres))
    assert apart.min() >= side * (1 - 1e-12)


@pytest.mark.parametrize("shape", [(4, 12), (12, 4)])
def test_images_keep_their_shape_and_stay_inside(shape):
    figure = plot.embedding(Y, images=RNG.random((30, *shape)))
    axes = figure.axes[0]
    left, right, bottom, top = np.array([image.get_extent() for image in axes.get_images()]).T
    np.testing.assert_allclose((right - left) / (top - bottom), shape[1] / shape[0])
    assert left.min() >= axes.get_xlim()[0]
    assert right.max() <= axes.get_xlim()[1]
    assert bottom.min() >= axes.get_ylim()[0]
    assert top.max() <= axes.get_ylim()[1]


def test_fewer_points_have_larger_images():
    sides = []
    for n in (10, 300):
        image = (
            plot.embedding(np.random.default_rng(1).random((n, 2)), images=np.ones((n, 3, 3)))
            .axes[0]
            .get_images()[0]
        )
        left, right, *_ = image.get_extent()
        sides.append(right - left)
    assert sides[0] > 1.3 * sides[1]


def test_several_embeddings_have_one_panel_each_of_one_shape():
    figure = plot.embeddings({"a": Y, "b": Y * [3.0, 1.0], "c": Y[:, :1]}, columns=2)
    panels = [axes for axes in figure.axes if axes.collections]
    assert [axes.get_title("left") for axes in panels] == ["a", "b", "c"]
    ratios = [np.ptp(axes.get_ylim()) / np.ptp(axes.get_xlim()) for axes in panels]
    np.testing.assert_allclose(ratios, ratios[0])
    assert {axes.get_aspect() for axes in panels} == {1.0}
    for axes in panels:
        offsets = axes.collections[0].get_offsets()
        assert (offsets[:, 0] >= axes.get_xlim()[0]).all()
        assert (offsets[:, 1] <= axes.get_ylim()[1]).all()


def test_stretched_and_shrunk_edges_differ_and_the_changed_lie_on_top():
    lines = plot.edge_changes(Y, CHAIN[:3], [0.5, -0.5, 0.0]).axes[0].collections[0]
    np.testing.assert_allclose(lines.get_segments()[0], Y[CHAIN[2]])
    assert (np.diff(lines.get_linewidths()) >= 0).all()
    none, one, other = lines.get_colors()
    assert len({tuple(none), tuple(one), tuple(other)}) == 3


def test_a_choice_of_k_is_ringed_and_its_ground_shaded():
    choice = graphs.choose_k(datasets.swiss_roll(100)[0])
    axes = plot.choice_of_k(choice).axes[0]
    curve, ring = axes.lines
    np.testing.assert_allclose(curve.get_ydata(), choice.scores["error of means"])
    assert ring.get_xdata() == [choice.n_neighbors]
    assert {"disconnected", f"k = {choice.n_neighbors}"} <= {t.get_text() for t in axes.texts}


@pytest.mark.parametrize("classes", [["b", "a", "b"], [True, False, True], [2, 1, 2]])
def test_classes_have_colours_and_a_legend(classes):
    colouring = colour_points(classes, 3)
    np.testing.assert_array_equal(colouring.colours, to_rgba_array(CLASSES)[[1, 0, 1]])
    assert colouring.names == tuple(sorted(map(str, set(classes))))
    figure = plot.embedding(Y[:3], classes)
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == [*colouring.names]


@pytest.mark.parametrize(("gap", "kinds"), [("", 2), (None, 10), (np.nan, 2)])
def test_points_without_a_class_have_a_name_and_a_colour_of_their_own(gap, kinds):
    names = [f"c{k}" for k in range(kinds)]
    classes = np.array([gap, *names, gap], dtype=object)
    colouring = colour_points(classes, kinds + 2)
    assert colouring.names == (*names, "not known")
    np.testing.assert_array_equal(colouring.colours[1:-1], to_rgba_array(CLASSES)[:kinds])
    np.testing.assert_array_equal(colouring.colours[[0, -1]], to_rgba_array([PALE, PALE]))
    figure = plot.embedding(Y[: kinds + 2], classes)
    legend = figure.axes[0].get_legend()
    assert [t.get_text() for t in legend.get_texts()] == [*names, "not known"]


def test_quantities_have_a_scale_and_gaps_in_them_are_faint():
    colouring = colour_points([0.0, np.nan, 2.0], 3)
    assert colouring.scale is not None
    assert colouring.scale.get_clim() == (0.0, 2.0)
    np.testing.assert_array_equal(colouring.colours[1], to_rgba_array(FAINT)[0])


def test_shares_of_a_spectrum_add_up():
    figure = plot.spectrum([1.0, 3.0])
    upper, lower = figure.axes
    np.testing.assert_allclose(lower.lines[0].get_ydata(), [0.75, 1.0])
    np.testing.assert_allclose(upper.lines[0].get_ydata(), [0.75, 0.25])
    figure.draw_without_rendering()
    assert min(axes.get_position().height for axes in figure.axes) > 0.3


def test_heavy_edges_are_drawn_wider_and_idle_ones_faint():
    weights = np.linspace(0.0, 1.0, 29)
    idle, loaded = plot.dual_weights(Y, CHAIN, weights).axes[0].collections[:2]
    assert len(idle.get_segments()) == 1
    assert (np.diff(loaded.get_linewidths()) >= 0).all()


def test_convergence_measures_the_distance_from_the_bound():
    lower = plot.convergence(HISTORY).axes[1]
    np.testing.assert_allclose(lower.lines[0].get_ydata(), 0.1 ** np.arange(6), atol=1e-15)


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: plot.embedding(Y, np.ones(3)), ShapeError, "colour has shape"),
        (lambda: plot.embedding(np.ones(3)), ShapeError, "one row each"),
        (lambda: plot.embedding([[np.nan, 1.0]]), DataError, "NaN"),
        (lambda: plot.embedding(Y, edges=[[0, 99]]), ShapeError, "ends at node 99"),
        (lambda: plot.embedding(Y, edges=[0, 1]), ShapeError, "pairs of nodes"),
        (lambda: plot.embedding(Y, images=np.ones((2, 3, 3))), ShapeError, "images have shape"),
        (lambda: plot.embedding(Y, images=np.ones((30, 3, 3, 3))), ShapeError, "images have"),
        (lambda: plot.embeddings({}), DataError, "at least one embedding"),
        (lambda: plot.embeddings({"a": Y, "b": Y[:3]}), ShapeError, "b has 3 points"),
        (lambda: plot.edge_changes(Y, CHAIN, [1.0]), ShapeError, "changes have shape"),
        (lambda: plot.edge_changes(Y, CHAIN, np.full(29, np.nan)), DataError, "NaN"),
        (lambda: plot.cloud(Y), ShapeError, "at least 3 columns"),
        (lambda: plot.spectrum([0.0, -1.0]), DataError, "positive"),
        (lambda: plot.dual_weights(Y, CHAIN, [*np.ones(28), np.inf]), DataError, "infinity"),
        (lambda: plot.convergence(()), DataError, "history is empty"),
        (lambda: plot.rounds([]), DataError, "history is empty"),
        (lambda: plot.bases(np.ones(3), np.ones((3, 1))), ShapeError, "a column for each"),
        (lambda: plot.sparsity(np.ones((2, 3))), ShapeError, "square"),
        (lambda: plot.runs(["a"], [1.0, 2.0], [1.0], 1e-6), ShapeError, "1 names"),
    ],
)
def test_wrong_input_is_named(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


@pytest.mark.parametrize(
    ("panels", "names"), [(1, ["a long name", "another long name", "short"]), (3, "0123456789")]
)
def test_a_legend_of_many_classes_is_no_wider_than_its_figure(panels, names):
    points = np.random.default_rng(0).normal(size=(30, 2))
    colour = np.resize(np.array(list(names)), 30)
    figure = plot.embeddings(dict.fromkeys("abc"[:panels], points), colour, label="kind")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    width, height = figure.get_size_inches() * figure.dpi
    assert min(box.x0, box.y0) >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height
    assert len(legend.get_texts()) == len(names)


ROUNDS = [
    {"iteration": k, "start": k // 3, "objective": -1.0 - k, "share": 10.0**-k, "status": "SOLVED"}
    for k in range(6)
]


def test_objective_and_excess_are_drawn_over_the_programs():
    figure = plot.rounds(ROUNDS, bound=-9.0, tol=1e-6, title="rank 2")
    assert isinstance(figure, Figure)
    upper, lower = figure.axes
    drawn = np.concatenate([line.get_ydata() for line in upper.lines])
    assert {-1.0, -6.0, -9.0} <= set(drawn)
    assert lower.get_yscale() == "log"
    assert upper.get_title(loc="left") == "rank 2"
    figure.canvas.draw()


def test_odd_histories_are_drawn():
    failed = {**ROUNDS[0], "objective": np.nan, "share": np.nan, "status": "FAILED"}
    odd = (ROUNDS[:1], [ROUNDS[0], {**failed, "iteration": 1}], [{**ROUNDS[0], "share": 0.0}])
    for history in odd:
        figure = plot.rounds(history)
        figure.canvas.draw()
        assert len(figure.axes[0].lines[0].get_xdata()) == len(history)


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
