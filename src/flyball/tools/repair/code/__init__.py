"""A Python file as a tree (`source.Source`), as places to change (`site.Site`), and a `candidate`.

It stands on `inside` alone; `outside`, `locate`, `templates` and `search` stand on it, in that
order.
"""
