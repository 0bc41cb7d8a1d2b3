from shop.words import word


def test_pens():
    assert word('pens') == 'Stifte'


def test_ink():
    assert word('ink') == 'Tinte'
