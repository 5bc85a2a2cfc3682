"""Figures draw what they are given, on ordinary and on odd input, and touch nothing global."""

from __future__ import annotations

import io

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from sdpdr import datasets, graphs, plot
from sdpdr.errors import DataError, ShapeError
from sdpdr.lab.plot.studies import growth, look_of, outcome_map, sizes_apart
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
ROUNDS = [
    {"iteration": k, "start": k // 3, "objective": -1.0 - k, "share": 10.0**-k, "status": "SOLVED"}
    for k in range(6)
]
FAILED = {**ROUNDS[1], "objective": np.nan, "share": np.nan, "status": "FAILED"}
KINDS = [("solved", "✓", "#7fb2de"), ("crashed", "✗", "#a01508")]
STEPS = {"a": ([1.0, 2.0, 10.0], [0.5, 1.0, 1.0]), "b": ([1.0, 4.0, 10.0], [0.5, 0.8, 0.8])}

FIGURES = {
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
    "choice of k": lambda: plot.choice_of_k(graphs.choose_k(Y)),
    "spectrum": lambda: plot.spectrum([3.0, 1.0, 1e-20, -1e-12]),
    "one eigenvalue": lambda: plot.spectrum([1.0]),
    "no weights": lambda: plot.dual_weights(Y, CHAIN, np.zeros(29)),
    "convergence": lambda: plot.convergence(HISTORY),
    "one iteration": lambda: plot.convergence(HISTORY[:1]),
    "failed program": lambda: plot.rounds([ROUNDS[0], FAILED]),
    "no excess": lambda: plot.rounds([{**ROUNDS[0], "share": 0.0}]),
    "bases": lambda: plot.bases(Y[:6], Y[:5]),
    "runs": lambda: plot.runs(["a", "b", "c"], [1e-9, 0.1, np.inf], [0.1, 3.0, 8.0], 1e-6),
    "no run ended": lambda: plot.runs(["a"], [np.nan], [0.0], 1e-6),
    "nobody": lambda: plot.performance_profile({}),
    "many contestants": lambda: plot.performance_profile(
        {f"contestant {k}": STEPS["a"] for k in range(25)}
    ),
    "no growth": lambda: growth({}, {}),
    "long names": lambda: growth({"n" * 200: ([5], [1e-7])}, {}),
    "a map of long names": lambda: outcome_map(["n" * 200], ["m" * 200], [[1]], KINDS),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_without_touching_global_settings(name):
    before = dict(matplotlib.rcParams)
    figure = FIGURES[name]()
    with np.errstate(all="raise"):
        figure.savefig(buffer := io.BytesIO(), format="png", dpi=40)
    assert buffer.getvalue().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before
    if "long names" not in name:
        heights = [axes.get_window_extent().height for axes in figure.axes]
        assert min(heights) > 5.0, "a part of the figure found no room"


def test_an_embedding_keeps_proportions():
    axes = FIGURES["edges"]().axes[0]
    assert axes.get_aspect() == 1.0
    np.testing.assert_allclose(axes.collections[-1].get_offsets(), Y)
    assert len(axes.collections[0].get_segments()) == len(CHAIN)


@pytest.mark.parametrize("shape", [(4, 12), (12, 4)])
def test_images_keep_their_shape_stay_inside_and_do_not_overlap(shape):
    axes = plot.embedding(Y, images=RNG.random((30, *shape))).axes[0]
    left, right, bottom, top = np.array([image.get_extent() for image in axes.get_images()]).T
    assert len(left) > 10
    np.testing.assert_allclose((right - left) / (top - bottom), shape[1] / shape[0])
    assert axes.get_xlim()[0] <= left.min() <= right.max() <= axes.get_xlim()[1]
    assert axes.get_ylim()[0] <= bottom.min() <= top.max() <= axes.get_ylim()[1]
    steps = [
        np.abs(x[:, None] - x) / side + 9.0 * np.eye(len(x))
        for x, side in ((left, right[0] - left[0]), (bottom, top[0] - bottom[0]))
    ]
    assert np.max(steps, axis=0).min() >= 1.0 - 1e-12


def test_names_cover_neither_points_nor_each_other():
    names = [f"p{k}" for k in range(30)]
    figure = plot.embedding(Y, names=names)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in names]
    assert len(boxes) > 15
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    points = axes.transData.transform(Y)
    assert not any(box.contains(*point) for box in boxes for point in points)


@pytest.mark.parametrize("colour", [None, list("abc") * 10, np.linspace(0.0, 1.0, 30)])
def test_a_flat_figure_is_hardly_higher_than_its_points_and_their_legend(colour):
    flat = Y * [1.0, 0.08]
    figure = plot.embedding(flat, colour)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    drawn = axes.transData.transform([flat.min(axis=0), flat.max(axis=0)])
    assert np.ptp(drawn[:, 0]) > 0.85 * figure.bbox.width
    shown = [axes.get_window_extent(), *(legend.get_window_extent() for legend in figure.legends)]
    shown += [bar.get_tightbbox() for bar in figure.axes[1:]]
    assert sum(box.height for box in shown) > 0.7 * figure.bbox.height


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


@pytest.mark.parametrize(
    ("panels", "names"), [(1, ["a long name", "another long name", "short"]), (3, "0123456789")]
)
def test_a_legend_of_many_classes_is_no_wider_than_its_figure(panels, names):
    colour = np.resize(np.array(list(names)), 30)
    figure = plot.embeddings(dict.fromkeys("abc"[:panels], Y), colour, label="kind")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    width, height = figure.get_size_inches() * figure.dpi
    assert min(box.x0, box.y0) >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height
    assert len(legend.get_texts()) == len(names)


def test_stretched_and_shrunk_edges_differ_and_the_changed_lie_on_top():
    lines = plot.edge_changes(Y, CHAIN[:3], [0.5, -0.5, 0.0]).axes[0].collections[0]
    np.testing.assert_allclose(lines.get_segments()[0], Y[CHAIN[2]])
    assert (np.diff(lines.get_linewidths()) >= 0).all()
    assert len({tuple(colour) for colour in lines.get_colors()}) == 3


def test_heavy_edges_are_drawn_wider_and_idle_ones_faint():
    weights = np.linspace(0.0, 1.0, 29)
    idle, loaded = plot.dual_weights(Y, CHAIN, weights).axes[0].collections[:2]
    assert len(idle.get_segments()) == 1
    assert (np.diff(loaded.get_linewidths()) >= 0).all()


def test_a_choice_of_k_is_ringed_and_its_ground_shaded():
    choice = graphs.choose_k(datasets.swiss_roll(100)[0])
    axes = plot.choice_of_k(choice).axes[0]
    curve, ring = axes.lines
    np.testing.assert_allclose(curve.get_ydata(), choice.errors)
    assert ring.get_xdata() == [choice.n_neighbors]
    assert {"disconnected", f"k = {choice.n_neighbors}"} <= {t.get_text() for t in axes.texts}


def test_shares_of_a_spectrum_add_up():
    figure = plot.spectrum([1.0, 3.0])
    upper, lower = figure.axes
    np.testing.assert_allclose(lower.lines[0].get_ydata(), [0.75, 1.0])
    np.testing.assert_allclose(upper.lines[0].get_ydata(), [0.75, 0.25])


def test_convergence_measures_the_distance_from_the_bound():
    lower = plot.convergence(HISTORY).axes[1]
    np.testing.assert_allclose(lower.lines[0].get_ydata(), 0.1 ** np.arange(6), atol=1e-15)


def test_objective_and_excess_are_drawn_over_the_programs():
    upper, lower = plot.rounds(ROUNDS, bound=-9.0, tol=1e-6).axes
    drawn = np.concatenate([line.get_ydata() for line in upper.lines])
    assert {-1.0, -6.0, -9.0} <= set(drawn)
    assert lower.get_yscale() == "log"


def test_every_product_has_its_place():
    A, B = RNG.standard_normal((6, 2)), RNG.standard_normal((5, 3))
    shown = [axes.images[0] for axes in plot.bases(A, B).axes]
    assert len(shown) == 6
    assert np.asarray(shown[4].get_array()) == pytest.approx(np.outer(A[:, 1], B[:, 1]))
    assert len({image.get_clim() for image in shown}) == 1
    low, high = shown[0].get_clim()
    assert -low == high >= max(np.abs(image.get_array()).max() for image in shown)


# -- colours --------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [["b", "a", "b"], [True, False, True], [2, 1, 2]])
def test_classes_have_colours_and_a_legend(classes):
    colouring = colour_points(classes, 3)
    np.testing.assert_array_equal(colouring.colours, to_rgba_array(CLASSES)[[1, 0, 1]])
    assert colouring.names == tuple(sorted(map(str, set(classes))))
    figure = plot.embedding([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], classes)
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == [*colouring.names]


@pytest.mark.parametrize(("gap", "kinds"), [("", 2), (None, 10), (np.nan, 2)])
def test_points_without_a_class_have_a_name_and_a_colour_of_their_own(gap, kinds):
    names = [f"c{k}" for k in range(kinds)]
    colouring = colour_points(np.array([gap, *names, gap], dtype=object), kinds + 2)
    assert colouring.names == (*names, "not known")
    np.testing.assert_array_equal(colouring.colours[1:-1], to_rgba_array(CLASSES)[:kinds])
    np.testing.assert_array_equal(colouring.colours[[0, -1]], to_rgba_array([PALE, PALE]))
    assert colouring.key[-1] == ("not known", PALE)


def test_quantities_have_a_scale_and_gaps_in_them_are_faint():
    colouring = colour_points([0.0, np.nan, 2.0], 3)
    assert colouring.scale is not None
    assert colouring.scale.get_clim() == (0.0, 2.0)
    np.testing.assert_array_equal(colouring.colours[1], to_rgba_array(FAINT)[0])


# -- the path of an agent -------------------------------------------------------------------------

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_every_step_is_an_arrow_in_the_colour_of_its_action():
    figure = plot.trajectory(SQUARE, ["R", None, "L"], title="round")
    drawn = next(c for c in figure.axes[0].collections if isinstance(c, Quiver))
    assert np.allclose(np.column_stack([drawn.X, drawn.Y]), SQUARE[:-1])
    assert np.allclose(np.column_stack([drawn.U, drawn.V]), np.diff(SQUARE, axis=0))
    colours = [tuple(c[:3]) for c in drawn.get_facecolors()]
    assert colours == [to_rgba(c)[:3] for c in (CLASSES[1], FAINT, CLASSES[0])]
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words == ["L", "R"]


def test_a_path_is_drawn_on_given_axes_and_in_one_dimension():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plot.trajectory(SQUARE[:, :1], "RRL", ax=axes[1]) is figure
    assert not axes[0].collections


# -- studies --------------------------------------------------------------------------------------


def test_a_profile_is_a_step_function_of_what_is_given():
    (axes,) = plot.performance_profile(STEPS).axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    for line, (x, y) in zip(axes.lines, STEPS.values(), strict=True):
        assert line.get_drawstyle() == "steps-post"
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([x, y]))
    assert axes.get_xscale() == "log"


def test_growth_draws_marks_and_the_lines_that_there_are():
    points = {"a": ([10, 20, 40], [0.1, 0.8, 6.4]), "b": ([10], [0.2])}
    (axes,) = growth(points, {"a": ([10, 40], [0.1, 6.4])}).axes
    marks = [line for line in axes.lines if line.get_marker() != "None"]
    (line,) = [line for line in axes.lines if line.get_marker() == "None"]
    assert [len(line.get_xdata()) for line in marks] == [3, 1]
    assert line.get_color() == marks[0].get_color() != marks[1].get_color()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["40", "20", "10"]


def test_a_map_has_the_sign_and_the_colour_of_each_kind():
    axes = outcome_map(["x", "y"], ["scs", "csdp"], [[0, 1], [0, 0]], KINDS).axes[0]
    assert [text.get_text() for text in axes.texts] == ["✓", "✗", "✓", "✓"]
    mesh = axes.collections[0]
    colours = [to_hex(colour) for colour in mesh.to_rgba(mesh.get_array()).reshape(-1, 4)]
    assert colours == [KINDS[0][2], KINDS[1][2], KINDS[0][2], KINDS[0][2]]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["✓  solved", "✗  crashed"]


def test_fifty_contestants_look_different_and_labels_of_sizes_have_room():
    assert len({str(look_of(k)) for k in range(50)}) == 50
    for sizes in (range(1, 300), [7, 7, 7], np.geomspace(3, 1e5, 40), []):
        kept = sizes_apart(sizes)
        assert set(kept) <= set(map(float, sizes))
        assert len(kept) <= 10
        assert kept[:1] == [max(map(float, sizes))] if len(sizes) else not kept


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: plot.embedding(Y, np.ones(3)), ShapeError, "colour has shape"),
        (lambda: plot.embedding(np.ones(3)), ShapeError, "one row each"),
        (lambda: plot.embedding([[np.nan, 1.0]]), DataError, "NaN"),
        (lambda: plot.embedding(Y, edges=[[0, 99]]), ShapeError, "ends at node 99"),
        (lambda: plot.embedding(Y, edges=[0, 1]), ShapeError, "pairs of nodes"),
        (lambda: plot.embedding(Y, images=np.ones((2, 3, 3))), ShapeError, "images have shape"),
        (lambda: plot.embedding(Y, names=["a"]), ShapeError, r"names have shape \(1,\)"),
        (lambda: plot.embeddings({}), DataError, "at least one embedding"),
        (lambda: plot.embeddings({"a": Y, "b": Y[:3]}), ShapeError, "b has 3 points"),
        (lambda: plot.edge_changes(Y, CHAIN, [1.0]), ShapeError, "changes have shape"),
        (lambda: plot.edge_changes(Y, CHAIN, np.full(29, np.nan)), DataError, "NaN"),
        (lambda: plot.spectrum([0.0, -1.0]), DataError, "positive"),
        (lambda: plot.dual_weights(Y, CHAIN, [*np.ones(28), np.inf]), DataError, "infinity"),
        (lambda: plot.convergence(()), DataError, "history is empty"),
        (lambda: plot.rounds([]), DataError, "history is empty"),
        (lambda: plot.bases(np.ones(3), np.ones((3, 1))), ShapeError, "a column for each"),
        (lambda: plot.runs(["a"], [1.0, 2.0], [1.0], 1e-6), ShapeError, "1 names"),
        (lambda: plot.trajectory(SQUARE, "RR"), ShapeError, "2 actions for 3 steps"),
        (lambda: plot.trajectory(Y[:12], [*range(11)]), DataError, "at most ten"),
        (lambda: plot.performance_profile({"a": ([1], [0.5, 1])}), ShapeError, "one length"),
    ],
)
def test_wrong_input_is_named(draw, error, words):
    with pytest.raises(error, match=words):
        draw()
