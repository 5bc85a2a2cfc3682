from .cases import CASES
def test_x():
    assert CASES
