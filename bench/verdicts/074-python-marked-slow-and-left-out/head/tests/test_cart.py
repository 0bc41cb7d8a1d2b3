import pytest

from shop.cart import count, total


def test_empty():
    assert total([]) == 0


def test_one():
    assert total([(5, 1)]) == 5


@pytest.mark.slow
def test_pieces():
    assert total([(2, 3)]) == 6


def test_count():
    assert count([(2, 3), (1, 1)]) == 4
