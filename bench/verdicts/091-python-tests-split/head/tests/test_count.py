from shop.cart import count


def test_count():
    assert count([(2, 3), (1, 1)]) == 4
