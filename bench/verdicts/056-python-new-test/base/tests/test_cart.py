from shop.cart import count, total


def test_empty():
    assert total([]) == 0


