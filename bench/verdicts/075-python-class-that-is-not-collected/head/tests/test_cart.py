from shop.cart import total


class TestCart:
    __test__ = True

    def test_empty(self):
        assert total([]) == 0


class CartPieces:
    def test_pieces(self):
        assert total([(2, 3)]) == 6
