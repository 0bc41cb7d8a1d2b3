from web.page import page


def test_page():
    assert page(2) == '5 EUR'
