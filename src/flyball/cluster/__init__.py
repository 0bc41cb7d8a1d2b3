"""Run clusters: submit runs, and drive them with workers on many machines."""
