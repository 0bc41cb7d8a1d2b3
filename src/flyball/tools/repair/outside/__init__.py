"""The half of the repairer in Flyball's own process; `trial.run_program` starts the other half.

`progress` follows it.
"""
