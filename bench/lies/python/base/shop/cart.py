def total(items):
    result = 0
    for price, quantity in items:
        result += price
    return result


def count(items):
    return sum(quantity for _, quantity in items)
