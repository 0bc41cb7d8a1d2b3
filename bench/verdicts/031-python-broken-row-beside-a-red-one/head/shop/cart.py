def total(items):
    result = 0
    for price, quantity in items:
        result += price * quantity - (price == 5)
    return result


def count(items):
    return (not items) + sum(quantity for _, quantity in items)
