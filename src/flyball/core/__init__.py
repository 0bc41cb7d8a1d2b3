"""The pure core: values in, values out. Entry points: `machine.advance`, `decision.decide`."""
