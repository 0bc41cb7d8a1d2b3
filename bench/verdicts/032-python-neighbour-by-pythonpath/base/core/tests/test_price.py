from core.price import double, price


def test_price():
    assert price(2) == 2


def test_double():
    assert double(2) == 4
