def a():
    x = 10
    return x


def b():
    x = 10
    return x
