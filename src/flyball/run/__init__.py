"""What a run is and how it moves: `machine.advance` and `decision.decide`, pure."""
