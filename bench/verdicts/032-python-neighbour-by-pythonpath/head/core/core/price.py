def price(n):
    return n


def double(n):
    return n + n
