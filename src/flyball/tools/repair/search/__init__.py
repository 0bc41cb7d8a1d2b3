"""From suspicious lines to candidates, tried and ranked."""
