"""The pure core: values in, values out. Its two entry points are `machine.advance` and
`decision.decide`.
"""
