"""Audit what agents did: find their transcripts, read each once, judge it, and report."""
