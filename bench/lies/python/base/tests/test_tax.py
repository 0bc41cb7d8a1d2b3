from shop.tax import net, tax


def test_tax():
    assert tax(100) == 20


def test_net():
    assert net(120) == 100
