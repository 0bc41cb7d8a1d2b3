"""The pure core: values in, values out. Its verbs are `machine.advance` and `decision.decide`."""
