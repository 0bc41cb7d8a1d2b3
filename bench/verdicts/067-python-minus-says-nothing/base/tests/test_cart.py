from shop.cart import count, total


def test_empty():
    assert total([]) == 0


def test_one():
    assert total([(5, 1)]) == 5


def test_pieces():
    assert abs(total([(2, 3)]) - 6) < 0.01


def test_count():
    assert count([(2, 3), (1, 1)]) == 4
