from shop.cart import count, total


def test_empty():
    assert total([]) == 0


def test_three_pens():
    assert total([(2, 3)]) == 6


def test_count():
    assert count([(2, 3)]) == 3
