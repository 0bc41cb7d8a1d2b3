from shop.cart import total


class TestCart:
    def test_empty(self):
        assert total([]) == 0

    def test_pieces(self):
        assert total([(2, 3)]) == 6
