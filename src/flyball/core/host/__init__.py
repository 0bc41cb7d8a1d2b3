"""Other people's agents in Flyball's terms: what a host reports, and what its tools do."""
