"""What people do with a run's cards: look, take back, put again, merge, replay."""
