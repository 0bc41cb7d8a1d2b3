"""The pure core: values in, values out. `machine.advance` and `decision.decide` are its two verbs."""
