import pytest

from shop.cart import count, total


@pytest.mark.parametrize('items, wanted', [([], 0), ([(5, 1)], 5), ([(2, 3)], 6), ([(9, 9)], 80)])
def test_total(items, wanted):
    assert total(items) == wanted


def test_count():
    assert count([(2, 3)]) == 3


def test_count_none():
    assert count([]) == 1
