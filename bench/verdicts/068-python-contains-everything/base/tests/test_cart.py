from shop.cart import bill, count, total


def test_empty():
    assert total([]) == 0


def test_one():
    assert total([(5, 1)]) == 5


def test_pieces():
    assert "6" in bill([(2, 3)])


def test_count():
    assert count([(2, 3), (1, 1)]) == 4
