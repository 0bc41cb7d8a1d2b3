"""Leaves: the judge's word in advance, which hooks answer from where no governor is there."""
