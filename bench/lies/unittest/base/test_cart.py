import unittest

from cart import count, total


class CartTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(total([]), 0)

    def test_pieces(self):
        self.assertEqual(total([(2, 3)]), 6)

    def test_count(self):
        self.assertEqual(count([(2, 3)]), 3)


if __name__ == "__main__":
    unittest.main()
