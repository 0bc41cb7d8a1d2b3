"""Auditing what agents did: their transcripts found, read once, judged, and told."""
