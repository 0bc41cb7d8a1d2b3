"""What a diff makes of a file: `revise.revise`, which keeps marked regions and merges drift."""
