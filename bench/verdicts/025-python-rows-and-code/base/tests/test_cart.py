import pytest

from shop.cart import total
from shop.cases import ROWS


@pytest.mark.parametrize('items, wanted', ROWS)
def test_total(items, wanted):
    assert total(items) == wanted
