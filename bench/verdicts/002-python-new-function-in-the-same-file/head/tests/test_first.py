from shop.cart import first


def test_first():
    assert first([1]) == 1
