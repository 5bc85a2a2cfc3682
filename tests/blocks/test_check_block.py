"""Every block obeys the block laws; a block of one's own is checked as easily; broken ones fail."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import blocks, graphs
from sdpdr.blocks import Band, Slack
from sdpdr.errors import SdpdrError
from sdpdr.linalg import Diagonal, Entries, LinearMap, SquaredEdgeLengths, SvecMap, svec, svec_size
from sdpdr.model import (
    AtMost,
    Block,
    Equal,
    InCone,
    Minimize,
    Penalize,
    Var,
    check_block,
    from_cvxpy,
    relax,
    soften,
)
from sdpdr.program.point import PsdVariable, VectorVariable

GRAPH = graphs.grid(2, 3, spacing=1.5)
N = GRAPH.n
COUNTS = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])

BLOCKS = {
    "gram": blocks.Gram(N),
    "gram, another name": blocks.Gram(N, "G"),
    "centered": blocks.Centered(N),
    "centered, weighted": blocks.Centered(N, COUNTS),
    "variance": blocks.Variance(N),
    "variance, weighted": blocks.Variance(N, COUNTS),
    "isometry, inequality": blocks.Isometry(GRAPH),
    "isometry, equality": blocks.Isometry(GRAPH, "equality"),
    "isometry, band": blocks.Isometry(GRAPH, Band(0.1)),
    "isometry, square slack": blocks.Isometry(GRAPH, Slack(2.0)),
    "isometry, absolute slack": blocks.Isometry(GRAPH, Slack(2.0, "absolute")),
    "isometry, relative slack": blocks.Isometry(GRAPH, Slack(2.0, relative=True)),
    "isometry, relative absolute slack": blocks.Isometry(GRAPH, Slack(2.0, "absolute", True)),
    "isometry, another gram": blocks.Isometry(GRAPH, "equality", gram="G"),
    "spread": blocks.Spread(N, [[0, 3], [1, 5]]),
    "spread, weighted": blocks.Spread(N, [[0, 3], [1, 5]], [2.0, 1.0]),
    "apart": blocks.Apart(N, [[0, 3], [1, 5]], [4.0, 1.0]),
    "dependence": blocks.Dependence(np.arange(2.0 * N).reshape(N, 2) ** 2),
    "dependence, signed": blocks.Dependence(np.eye(N)[:, :2], [1.0, -1.0]),
    "softened inequality": soften(blocks.Isometry(GRAPH), 3.0),
    "softened row by row": soften(blocks.Isometry(GRAPH), np.arange(1.0, GRAPH.m + 1)),
    "softened centring": soften(blocks.Centered(N), 1.0, square=True),
    "softened band": soften(relax(blocks.Isometry(GRAPH, "equality"), 0.2), 1.0),
}


@dataclass(frozen=True, eq=False)
class Correlation(Block):
    """A block of one's own in a few lines: unit diagonal, entries bounded by a declared scalar."""

    n: int
    pairs: tuple
    gram: str = "K"

    def variables(self):
        yield VectorVariable("largest", 1, nonnegative=True)

    def terms(self):
        entries = Entries(self.n, self.pairs) @ Var(self.gram)
        largest = np.ones((entries.m, 1)) @ Var("largest")
        yield Equal(Diagonal(self.n) @ Var(self.gram), 1.0, "diagonal")
        yield AtMost(entries - largest, 0.0, "above")
        yield AtMost(-entries - largest, 0.0, "below")
        yield Minimize(np.ones((1, 1)) @ Var("largest"))


@dataclass(frozen=True, eq=False)
class Everything(Block):
    """Every word of the vocabulary once."""

    n: int = 3

    def variables(self):
        yield PsdVariable("A", self.n)
        yield VectorVariable("z", 2)

    def terms(self):
        edges = SquaredEdgeLengths(self.n, [[0, 1], [1, 2]]) @ Var("A")
        z = np.eye(2) @ Var("z")
        upper = SvecMap(self.n, sp.eye_array(svec_size(self.n))) @ Var("A")
        yield Equal(edges - 2.0 * z + 1.0, [1.0, 2.0], "equal")
        yield AtMost(np.ones((1, 2)) @ edges, 4.0, "at_most")
        yield InCone(-upper + svec(2.0 * np.eye(self.n)), "psd", "below_two")
        yield InCone(z + 0.5, "nonnegative", "above_minus_half")
        yield Penalize(edges, 1.0, "absolute", 2.0, "absolute")
        yield Penalize(edges, [1.0, 3.0], "positive", [1.0, 2.0], "positive")
        yield Penalize(z, 0.0, "square", 0.5, "square")
        yield Minimize(np.ones((1, 2)) @ z)


@pytest.mark.daily(12)
@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_obeys_the_laws(name):
    report = check_block(BLOCKS[name])
    assert report.startswith(f"{BLOCKS[name].label}: ")
    assert "standard form and cvxpy agree" in report
    assert len(report.splitlines()) == 5


@pytest.mark.nightly
@pytest.mark.parametrize("block", [Correlation(3, ((0, 1), (2, 1))), Everything()], ids=repr)
def test_a_block_of_ones_own_obeys_them_too(block):
    assert "maps: every law holds" in check_block(block)


def test_raw_cvxpy_is_admitted_and_said_to_be_unchecked():
    block = from_cvxpy(lambda v: [v["K"][0, 0] <= 1.0], name="first_norm")
    assert "nothing to compare, no standard form" in check_block(block)


# -- broken ones --------------------------------------------------------------------------------


class WrongAdjoint(LinearMap):
    """The trace, with an adjoint that forgets a factor of two."""

    n, m = 3, 1

    def matrix(self):
        return sp.csr_array(svec(2.0 * np.eye(3))[None, :])

    def adjoint(self, multipliers):
        return multipliers[0] * np.eye(3)


@dataclass(frozen=True, eq=False)
class OnTheMap(Block):
    linear_map: LinearMap

    def terms(self):
        yield AtMost(self.linear_map @ Var("K"), 1.0)


@dataclass(frozen=True, eq=False)
class Fickle(Block):
    """Yields another kind of term each time it is asked."""

    asked: list

    def terms(self):
        self.asked.append(1)
        kind = Equal if len(self.asked) % 2 else AtMost
        yield kind(Diagonal(3) @ Var("K"), 1.0)


class Inconsistent(SvecMap):
    """Obeys no one: values on a matrix are not those that its own matrix gives."""

    def apply(self, gram):
        return super().apply(gram) + 1.0


@pytest.mark.parametrize(
    ("block", "law"),
    [
        (OnTheMap(WrongAdjoint()), "<A(K), y> = <K, A*(y)>"),
        (OnTheMap(Inconsistent(3, np.ones((1, 6)))), "<A(K), y> = <K, A*(y)>"),
        (Fickle([]), "terms() differs between calls"),
    ],
    ids=["adjoint", "apply", "terms"],
)
def test_a_broken_block_fails_with_the_name_of_the_law(block, law):
    with pytest.raises(AssertionError, match=re.escape(law)):
        check_block(block)


def test_a_vector_that_nobody_declares_is_asked_for():
    @dataclass(frozen=True, eq=False)
    class Orphan(Block):
        def terms(self):
            yield AtMost(np.eye(2) @ Var("z"), 1.0)

    with pytest.raises(SdpdrError, match=r"vector 'z' without declaring it.*the block that does"):
        check_block(Orphan())
