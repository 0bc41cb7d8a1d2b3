RATE = 0.2


def tax(amount):
    return round(amount * RATE, 2)


def net(amount):
    return round(amount / (1 + RATE), 2)
