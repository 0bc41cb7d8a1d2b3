from shop.cart import Money


def test_same():
    assert Money(5) == Money(5)


def test_other():
    assert Money(5) != Money(6)
