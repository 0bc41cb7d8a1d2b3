import math


def total(prices):
    """Add up what is in the cart."""
    result = 0
    for price in prices:
        result += price
    return result


def discount(amount, rate):
    """Take a share off."""
    if rate > 1:
        raise ValueError("rate")
    return amount * (1 - rate)


def shipping(weight):
    return math.ceil(weight) * 2
