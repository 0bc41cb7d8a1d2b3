"""Install our hooks into the settings of other agents, and remove them byte for byte."""
