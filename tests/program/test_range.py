"""Numbers beyond the range that is computed with: typed errors, wherever they come from."""

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.base.arrays import is_admissible, is_written_admissibly
from sdpdr.errors import CardError, DataError, FileFormatError, ModelError, SdpdrError
from sdpdr.lab.cli import main
from sdpdr.lab.library.card import Card
from sdpdr.lab.tables.files import read_table
from sdpdr.linalg import Diagonal, InnerProduct, SvecMap, Trace, VectorMap, svec
from sdpdr.linalg.magnitudes import row_extents
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable, read_sdpa, write_sdpa
from sdpdr.program.sizes import require_admissible

FAR = ["-1e300", "1e-320", "1e400", "1.1e100"]
NEAR = ["1e-100", "-1e100", "0.0e-400", "0", "-0.0", "3e-30"]


@pytest.mark.parametrize("word", FAR)
def test_numbers_beyond_the_range_are_no_numbers_of_a_file(word):
    assert not is_written_admissibly(word)


@pytest.mark.parametrize("word", NEAR)
def test_numbers_within_the_range_are_admitted(word):
    assert is_written_admissibly(word)
    assert is_admissible(float(word))


TINY = "1\n1\n2\n{c}\n0 1 1 1 {cost}\n1 1 1 1 {entry}\n1 1 2 2 1.0\n"


@pytest.mark.parametrize("word", FAR)
@pytest.mark.parametrize(("key", "line"), [("c", 4), ("cost", 5), ("entry", 6)])
def test_a_file_of_sdpa_with_a_number_beyond_the_range_is_refused_by_its_line(
    tmp_path, word, key, line
):
    path = tmp_path / "far.dat-s"
    numbers = {"c": "1", "cost": "1", "entry": "1"} | {key: word}
    path.write_text(TINY.format(**numbers))
    with pytest.raises(FileFormatError, match=rf"far.dat-s, line {line}: .* 1e-100 to 1e\+100"):
        read_sdpa(path)
    path.write_text(TINY.format(**({"c": "1", "cost": "1", "entry": "1"} | {key: "1e-30"})))
    assert read_sdpa(path).n_rows == 1


@pytest.mark.parametrize("number", [1e300, 1e-320])
def test_what_cannot_be_read_is_not_written(tmp_path, number):
    rows = (Rows("a", "==", {"X": number * Trace(2)}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    with pytest.raises(ModelError, match="a file may hold"):
        write_sdpa(sdp, tmp_path / "far.dat-s")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", FAR)
def test_a_table_with_a_number_beyond_the_range_is_refused_by_its_line(tmp_path, word):
    path = tmp_path / "far.csv"
    path.write_text(f"x,y\n1,2\n\n3,{word}\n0,nan\n")
    frame = read_table(path)
    with pytest.raises(FileFormatError, match=r"far.csv, line 4: column 'y' holds '.*; expected 0"):
        frame.numbers(["x", "y"])
    assert frame.floats("x").tolist() == [1.0, 3.0, 0.0]


def test_arrays_in_files(tmp_path):
    path = tmp_path / "far.npy"
    np.save(path, np.array([[1.0, 2.0], [1e300, 0.0]]))
    with pytest.raises(FileFormatError, match="far.npy, row 2: column '1'"):
        read_table(path).numbers(["1", "2"])


def test_the_command_line_says_so(tmp_path, capsys):
    path = tmp_path / "far.csv"
    path.write_text("".join(f"{k},{k * k}\n" for k in range(12)) + "1e300,1\n")
    assert main(["embed", str(path), "--n-neighbors", "3"]) not in (0, 1)
    assert "line 13" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["1e300", "1e-400"])
def test_a_card_with_a_number_out_of_range_names_its_line(tmp_path, word):
    path = tmp_path / "far.toml"
    path.write_text(f"[about]\ntitle = 'a'\n[expect]\nvalue = {word}\n")
    with pytest.raises((FileFormatError, CardError), match=rf"far.toml, line 4: .*'{word}'"):
        Card.load(path)


# -- programs ------------------------------------------------------------------------------------


def program(where, number):
    """A small program of every kind of map, with one number where it is asked for."""
    n = dict.fromkeys(("cost", "row", "side", "form", "vector", "lmi", "constant", "whole"), 1.0)
    n[where] = number
    with np.errstate(invalid="ignore"):
        return _program(n)


def _program(n):
    X, z = PsdVariable("X", 2), VectorVariable("z", 2)
    rows = (
        Rows("trace", "==", {"X": n["row"] * Trace(2)}, np.array([n["side"]])),
        Rows("forms", "<=", {"X": n["form"] * Diagonal(2)}, np.ones(2)),
        Rows("scalars", "==", {"z": VectorMap(n["vector"] * np.eye(2))}, np.ones(2)),
    )
    identity = np.reshape(svec(np.eye(2)), (-1, 1))
    lmi = Lmi("lmi", 2, {"X": SvecMap(2, n["lmi"] * np.eye(3))}, n["constant"] * identity.ravel())
    return SDP((X, z), {"X": InnerProduct(n["cost"] * np.eye(2))}, rows, (lmi,), n["whole"])


PLACES = ["cost", "row", "side", "form", "vector", "lmi", "constant", "whole"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [1e300, 1e-320, np.nan])
@pytest.mark.parametrize("where", PLACES)
def test_a_program_with_a_number_out_of_range_is_refused(where, number):
    with pytest.raises(ModelError, match="must be"):
        sdpdr.solve(program(where, number))


def test_no_answer_to_a_program_out_of_range_is_verified_or_diagnosed():
    """Products of such numbers underflow, and all equations seem to hold."""
    given = Point({"X": np.eye(2)}, {"trace": np.zeros(1)})
    for number in (1e-200, 1e200):
        rows = (Rows("trace", "==", {"X": Trace(2)}, np.array([number])),)
        sdp, x = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows), cp.Variable(name="x")
        problem = cp.Problem(cp.Minimize(x), [cp.exp(x) <= 1.0, number * x >= 1.0])
        for refuses in (
            lambda sdp=sdp: sdpdr.verify(sdp, given),
            lambda sdp=sdp: sdpdr.diagnose(sdp),
            lambda problem=problem: sdpdr.verify(problem),
            lambda problem=problem: sdpdr.solve(problem),
        ):
            with pytest.raises(ModelError, match=r"1e[-+]200; it must be 0, or a number"):
                refuses()


@pytest.mark.parametrize("number", [-1e-100, 1e100])
@pytest.mark.parametrize("where", PLACES)
def test_programs_within_the_range_pass(where, number):
    assert require_admissible(program(where, number))


def test_entries_beside_larger_ones_may_be_as_small_as_they_like():
    cost = np.array([[1.0, 1e-320], [1e-320, 1.0]])
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(cost)}, (), (), 0.0)
    assert require_admissible(sdp) is sdp


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_nothing_is_squared_on_the_way(scale):
    for linear_map in (Trace(3), Diagonal(3), SvecMap(3, np.eye(6)), VectorMap(np.eye(3))):
        np.testing.assert_allclose(row_extents(scale * linear_map), scale)


@pytest.mark.parametrize("length", [1e155, 1e-170])
def test_models_of_lengths_far_away(length):
    with pytest.raises(SdpdrError, match="1e-100"):
        sdpdr.solve(methods.mvu(graphs.path([length, length])))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("unit", [1e160, 1e-160])
def test_estimators_of_points_far_away(unit):
    X = np.random.default_rng(0).standard_normal((12, 3))
    with pytest.raises(DataError):
        sdpdr.MVU(n_neighbors=4).fit(unit * X)


@pytest.mark.parametrize("curvature", [np.zeros(2), np.full(2, np.nan), np.ones(3)])
def test_a_curvature_that_is_none_is_a_model_error(curvature):
    with pytest.raises(ModelError, match="curvature"):
        VectorVariable("z", 2, curvature=curvature)
