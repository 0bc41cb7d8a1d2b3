"""Running our own program beside the tests of a project, and what was learnt so."""
