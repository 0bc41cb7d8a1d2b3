"""Transfer the files of a run between the machines of a cluster."""
