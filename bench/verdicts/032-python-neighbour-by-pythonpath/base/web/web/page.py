from core.price import double


def page(n):
    return f'{double(n)} EUR'
