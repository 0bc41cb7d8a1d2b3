from shop.cart import total


def test_empty(expected):
    assert total([]) == expected["empty"]


def test_pieces(expected):
    assert total([(2, 3)]) == expected["pieces"]
