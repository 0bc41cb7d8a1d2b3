"""The runs of a project: the journal, the list, telemetry and files."""
