"""The runs of a project: its journal, their list, their story and their files."""
