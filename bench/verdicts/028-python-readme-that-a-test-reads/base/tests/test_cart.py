from shop.cart import count, total


def test_empty():
    assert total([]) == 0


def test_three_pens():
    import re
    from pathlib import Path
    wanted = int(re.search(r'cost (\d+)', Path('README.md').read_text())[1])
    assert total([(2, 3)]) == wanted
