import re
import unittest

import pytest

from shop.cart import total


def bill(items):
    return f"Sum: {total(items)}"


def test_in():
    assert "6" in bill([(2, 3)])


def test_among():
    assert total([(2, 3)]) in (6, 7)


def test_more():
    assert total([(2, 3)]) > 5


def test_less():
    assert -total([(2, 3)]) < -5


def test_near():
    assert abs(total([(2, 3)]) - 6) < 0.01


def test_starts():
    assert str(total([(2, 3)])).startswith("6")


def test_match():
    assert re.match(r"Sum: (6|7)", bill([(2, 3)]))


def test_raises():
    with pytest.raises(ValueError, match="negative"):
        total([(-1, 1)])


class Test(unittest.TestCase):
    def test_in(self):
        self.assertIn("6", bill([(2, 3)]))

    def test_regex(self):
        self.assertRegex(bill([(2, 3)]), "5|6")

    def test_greater(self):
        self.assertGreater(total([(2, 3)]), 5)

    def test_near(self):
        self.assertAlmostEqual(total([(2, 3)]), 6, delta=0.1)
