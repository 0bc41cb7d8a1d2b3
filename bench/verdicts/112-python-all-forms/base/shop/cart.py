"""The basket."""


def total(items):
    """Return what all pieces cost."""
    result = 0
    for price, quantity in items:
        result += price
    return result


def count(items):
    """Return how many pieces there are."""
    return sum(quantity for _, quantity in items)
