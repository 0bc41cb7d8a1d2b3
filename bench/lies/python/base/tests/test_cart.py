import pytest

from shop.cart import count, total


def test_empty():
    assert total([]) == 0


def test_one():
    assert total([(5, 1)]) == 5


def test_pieces():
    assert total([(2, 3)]) == 6


@pytest.mark.parametrize("items, wanted", [([], 0), ([(1, 2)], 2), ([(1, 2), (1, 1)], 3)])
def test_count(items, wanted):
    assert count(items) == wanted
