"""Read what runners leave behind: machine-readable reports first, lines for people last."""
