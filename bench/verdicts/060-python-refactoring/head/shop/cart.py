def total(items):
    return sum(price * quantity for price, quantity in items)


def count(items):
    return sum(quantity for _, quantity in items)
