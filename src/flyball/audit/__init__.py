"""Audit the work of agents: find their transcripts, read each once, judge it, and report."""
