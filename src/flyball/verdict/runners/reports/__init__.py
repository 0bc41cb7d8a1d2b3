"""Reading what runners leave behind: reports for machines first, lines for people last."""
