from pathlib import Path

from shop.cart import total


def test_empty():
    assert total([]) == 0


def test_three_pens():
    left, _, right = Path('data/pens.case').read_text().partition('=')
    assert total([tuple(map(int, left.split()))]) == int(right)
