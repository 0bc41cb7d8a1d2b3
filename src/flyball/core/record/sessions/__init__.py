"""Transcripts that hosts keep, read line by line into the same entries for all of them."""
