"""The basket."""


def total(items):
    """Return what all pieces cost."""
    result = 0
    for price, quantity in items:
        if price < 0:
            raise ValueError(f"a negative price: {price}")
        result += price * quantity
    return result


def count(items):
    """Return how many pieces there are."""
    return sum(quantity for _, quantity in items)
